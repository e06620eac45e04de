//! What was judged of the traces where they were recorded: from pieces to sealed frames, beside those of the traces.

use super::ImportError;
use super::pieces::judgment_bytes;
use stash_domain::annotation::{AnnotationSource, JudgmentsFrame, StoredJudgment};
use stash_domain::events::JudgmentsImported;
use stash_domain::formats::Judgment;
use stash_domain::ids::{ImportId, OwnerId, StepId, TraceId, annotation_of_judgment};
use stash_domain::limits::FRAME_BYTES_TARGET;
use stash_infra::artifacts::ArtifactStore;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
use stash_infra::subject_keys::SubjectKey;
use std::sync::Arc;

/// Steps of a trace that a judgment may be about: 16 MB of ids. A judgment of a later one is about the trace.
const STEPS_MAX: usize = 1_000_000;

/// Seals the judgments of one import.
pub(super) struct Judgments {
    owner: OwnerId,
    writer: BundleWriter,
    count: i64,
    steps: Vec<StepId>,
    open: Vec<StoredJudgment>,
    open_bytes: usize,
}

impl Judgments {
    /// None yet.
    pub(super) fn new(store: Arc<dyn ArtifactStore>, owner: OwnerId) -> Self {
        let writer = BundleWriter::new(store, owner, Purpose::JUDGMENT_FRAMES);
        Self { owner, writer, count: 0, steps: Vec::new(), open: Vec::new(), open_bytes: 0 }
    }

    /// Notes the next step of the open trace.
    pub(super) fn step(&mut self, id: StepId) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(id);
        }
    }

    /// Takes a judgment of the open trace.
    pub(super) async fn push(
        &mut self,
        trace: TraceId,
        key: &SubjectKey,
        judgment: Judgment,
    ) -> Result<(), ImportError> {
        self.open_bytes += judgment_bytes(&judgment);
        let source = judgment.source.name();
        let step_id = judgment.step_index.and_then(|index| self.steps.get(usize::try_from(index).ok()?).copied());
        self.open.push(StoredJudgment {
            annotation_id: annotation_of_judgment(self.owner, trace, source, &judgment.key),
            step_id,
            rating: judgment.rating,
            comment: judgment.comment,
            source: AnnotationSource {
                name: source.to_owned(),
                id: judgment.key,
                judged: judgment.name,
                origin: judgment.origin,
            },
        });
        if self.open_bytes >= FRAME_BYTES_TARGET { self.flush(trace, key).await } else { Ok(()) }
    }

    /// The open trace is complete.
    pub(super) async fn end(&mut self, trace: TraceId, key: &SubjectKey) -> Result<(), ImportError> {
        self.steps.clear();
        self.flush(trace, key).await
    }

    async fn flush(&mut self, trace_id: TraceId, key: &SubjectKey) -> Result<(), ImportError> {
        self.open_bytes = 0;
        let judgments = std::mem::take(&mut self.open);
        if judgments.is_empty() {
            return Ok(());
        }
        self.count = self.count.saturating_add(i64::try_from(judgments.len()).unwrap_or(i64::MAX));
        let frame = JudgmentsFrame { trace_id, judgments };
        let plain = frame.encode().map_err(|error| ImportError::Frame(error.to_string()))?;
        Ok(self.writer.push(key, plain).await?)
    }

    /// The event, if anything was judged.
    pub(super) async fn finish(self, import_id: ImportId) -> Result<Option<JudgmentsImported>, ImportError> {
        if self.count == 0 {
            return Ok(None);
        }
        let bundle = self.writer.finish().await?;
        Ok(Some(JudgmentsImported { import_id, judgment_count: self.count, bundle }))
    }
}
