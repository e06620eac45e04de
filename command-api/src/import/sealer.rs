//! From pieces to sealed frames: trace ids, keys, step ids, digests, titles.

use super::judgments::Judgments;
use super::pieces::{Batch, Piece, span_bytes, step_bytes};
use super::titles::Titles;
use super::trace_ids::{Noted, TraceIds};
use super::{ImportError, Importer, TakesBatches};
use stash_domain::events::JudgmentsImported;
use stash_domain::ids::{ImportId, OwnerId, SubjectId, TraceId, content_subject};
use stash_domain::limits::FRAME_BYTES_TARGET;
use stash_domain::sealed::Bundle;
use stash_domain::trace::frame::{Frame, SpansFrame, StepsFrame, StoredStep};
use stash_domain::trace::tally::Tally;
use stash_domain::trace::title::TitleSource;
use stash_domain::trace::{Span, Step, TraceHead};
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
use stash_infra::subject_keys::SubjectKey;
use std::collections::HashMap;

/// What became of the traces.
pub struct Sealed {
    /// The frames.
    pub bundle: Bundle,
    /// What was judged of them, if anything was.
    pub(super) judgments: Option<JudgmentsImported>,
    /// The traces.
    pub(super) traces: Noted,
}

/// Seals one import.
pub struct Sealer {
    importer: Importer,
    owner: OwnerId,
    import: ImportId,
    writer: BundleWriter,
    judgments: Judgments,
    open: Option<Open>,
    traces: TraceIds,
    /// Titles by the place of their trace.
    titles: Titles,
    /// Traces that have begun.
    begun: usize,
}

/// The trace being sealed.
struct Open {
    id: TraceId,
    key: SubjectKey,
    head: TraceHead,
    tally: Tally,
    steps: Vec<StoredStep>,
    steps_bytes: usize,
    spans: Vec<Span>,
    spans_bytes: usize,
    span_count: u32,
}

impl Sealer {
    /// Starts an import.
    pub(super) fn new(importer: Importer, owner: OwnerId, import: ImportId, traces: TraceIds, titles: Titles) -> Self {
        let writer = BundleWriter::new(importer.store.clone(), owner, Purpose::TRACE_FRAMES);
        let judgments = Judgments::new(importer.store.clone(), owner);
        Self { importer, owner, import, writer, judgments, open: None, traces, titles, begun: 0 }
    }

    /// Takes a batch: first makes the keys of all traces that begin in it, then seals.
    async fn seal(&mut self, batch: Batch) -> Result<(), ImportError> {
        let begun = self.traces.note(&batch);
        let keys = self.keys_of(&begun).await?;
        let mut begun = begun.into_iter();
        for piece in batch {
            match piece {
                Piece::Begin(head) => {
                    let id = begun.next().ok_or(ImportError::Stopped)?;
                    self.open = Some(self.begin(id, head, &keys)?);
                    self.begun += 1;
                }
                Piece::Step(step) => self.step(step).await?,
                Piece::Span(span) => self.span(span).await?,
                Piece::Judgment(judgment) => {
                    let open = self.open.as_ref().ok_or(ImportError::Stopped)?;
                    self.judgments.push(open.id, &open.key, judgment).await?;
                }
                Piece::End => self.end().await?,
            }
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// [`ImportError::Bundle`].
    pub async fn finish(self) -> Result<Sealed, ImportError> {
        let judgments = self.judgments.finish(self.import).await?;
        Ok(Sealed { bundle: self.writer.finish().await?, judgments, traces: self.traces.finish() })
    }

    async fn keys_of(&self, begun: &[TraceId]) -> Result<HashMap<SubjectId, SubjectKey>, ImportError> {
        let mut subjects: Vec<SubjectId> =
            begun.iter().flat_map(|trace| [SubjectId::from(*trace), content_subject(self.import, *trace)]).collect();
        subjects.sort_unstable();
        subjects.dedup();
        let keys = self.importer.keys.ensure(self.owner, &subjects).await?;
        Ok(keys.into_iter().map(|key| (key.subject(), key)).collect())
    }

    fn begin(
        &self,
        id: TraceId,
        mut head: TraceHead,
        keys: &HashMap<SubjectId, SubjectKey>,
    ) -> Result<Open, ImportError> {
        let identity = keys.get(&SubjectId::from(id)).ok_or(ImportError::Stopped)?;
        let key = keys.get(&content_subject(self.import, id)).ok_or(ImportError::Stopped)?;
        Ok(Open {
            id,
            key: key.clone(),
            tally: Tally::new(id, identity.step_id_key(), head.title.take()),
            head,
            steps: Vec::new(),
            steps_bytes: 0,
            spans: Vec::new(),
            spans_bytes: 0,
            span_count: 0,
        })
    }

    async fn step(&mut self, step: Step) -> Result<(), ImportError> {
        let open = self.open.as_mut().ok_or(ImportError::Stopped)?;
        open.steps_bytes += step_bytes(&step);
        let stored = open.tally.take(step);
        self.judgments.step(stored.id);
        open.steps.push(stored);
        if open.steps_bytes >= FRAME_BYTES_TARGET {
            self.flush_steps().await?;
        }
        Ok(())
    }

    async fn span(&mut self, span: Span) -> Result<(), ImportError> {
        let open = self.open.as_mut().ok_or(ImportError::Stopped)?;
        open.span_count += 1;
        open.spans_bytes += span_bytes(&span);
        open.spans.push(span);
        if open.spans_bytes >= FRAME_BYTES_TARGET {
            self.flush_spans().await?;
        }
        Ok(())
    }

    async fn end(&mut self) -> Result<(), ImportError> {
        self.flush_steps().await?;
        self.flush_spans().await?;
        let open = self.open.take().ok_or(ImportError::Stopped)?;
        self.judgments.end(open.id, &open.key).await?;
        let mut summary = open.tally.summary(open.head, open.span_count);
        if let Some(title) = self.titles.remove(&self.begun.saturating_sub(1)) {
            summary.title = title;
            summary.title_source = TitleSource::Generated.name().to_owned();
        }
        push(&mut self.writer, &open.key, Frame::Summary(summary)).await
    }

    async fn flush_steps(&mut self) -> Result<(), ImportError> {
        let open = self.open.as_mut().ok_or(ImportError::Stopped)?;
        if open.steps.is_empty() {
            return Ok(());
        }
        open.steps_bytes = 0;
        let steps = std::mem::take(&mut open.steps);
        let before = open.tally.steps().saturating_sub(u32::try_from(steps.len()).unwrap_or(u32::MAX));
        let frame = StepsFrame { trace_id: open.id, first_index: before, steps };
        push(&mut self.writer, &open.key, Frame::Steps(frame)).await
    }

    async fn flush_spans(&mut self) -> Result<(), ImportError> {
        let open = self.open.as_mut().ok_or(ImportError::Stopped)?;
        if open.spans.is_empty() {
            return Ok(());
        }
        open.spans_bytes = 0;
        let spans = std::mem::take(&mut open.spans);
        let before = open.span_count - u32::try_from(spans.len()).unwrap_or(open.span_count);
        let frame = SpansFrame { trace_id: open.id, first_index: before, spans };
        push(&mut self.writer, &open.key, Frame::Spans(frame)).await
    }
}

impl TakesBatches for Sealer {
    async fn take(&mut self, batch: Batch) -> Result<(), ImportError> {
        self.seal(batch).await
    }
}

async fn push(writer: &mut BundleWriter, key: &SubjectKey, frame: Frame) -> Result<(), ImportError> {
    let plain = frame.encode().map_err(|error| ImportError::Frame(error.to_string()))?;
    Ok(writer.push(key, plain).await?)
}
