//! Seals what a request brought, each trace under a key of its own.

use crate::import::{ImportError, Importer};
use stash_domain::events::OtelReceived;
use stash_domain::frame::BadFrame;
use stash_domain::ids::{
    CommandId, Digest, ImportId, OwnerId, SubjectId, TraceId, content_subject, made_by, trace_id_of,
};
use stash_domain::limits::FRAME_BYTES_TARGET;
use stash_domain::otel::frame::OtelFrame;
use stash_domain::otel::json::Decoded;
use stash_domain::otel::{OtelLog, OtelSpan, OtelTraceId};
use stash_domain::record::{Append, Expected, StreamId};
use stash_infra::bundle::{BundleError, BundleWriter};
use stash_infra::seal::Purpose;
use stash_infra::subject_keys::{KeyError, SubjectKey};
use std::collections::{BTreeMap, HashMap};

/// Bytes of a request whose frames are written where it is handled: about half a millisecond of work.
const ENCODED_HERE_BYTES_MAX: usize = 256 * 1024;

/// What came of one trace.
#[derive(Default)]
struct Group {
    spans: Vec<OtelSpan>,
    logs: Vec<OtelLog>,
}

/// What seals requests.
pub(super) struct Door<'a> {
    pub(super) importer: &'a Importer,
    /// Whether keys are durable once what is appended later is.
    pub(super) one_commit: bool,
}

impl Door<'_> {
    /// Seals spans and log records; what to append. None if there is nothing. `body_bytes`: the size of the request, by which frames
    /// are cut.
    ///
    /// # Errors
    /// [`ImportError`]; at most blobs that nothing points at are left behind.
    pub(super) async fn seal(
        &self,
        owner: OwnerId,
        command: CommandId,
        decoded: Decoded,
        body_bytes: usize,
    ) -> Result<Option<Append>, ImportError> {
        let count = |items: usize| i64::try_from(items).unwrap_or(i64::MAX);
        let (span_count, log_count) = (count(decoded.spans.len()), count(decoded.logs.len()));
        let groups = by_trace(decoded);
        if groups.is_empty() {
            return Ok(None);
        }
        let import_id = ImportId(made_by(command, "import", 0));
        let traces: Vec<(OtelTraceId, TraceId)> =
            groups.keys().map(|otel_id| (*otel_id, trace_id_of(owner, &otel_id.to_string()))).collect();
        let subjects: Vec<SubjectId> =
            traces.iter().flat_map(|(_, trace)| [(*trace).into(), content_subject(import_id, *trace)]).collect();
        let keys: HashMap<SubjectId, SubjectKey> =
            self.keys(owner, &subjects).await?.into_iter().map(|key| (key.subject(), key)).collect();
        let mut writer = BundleWriter::new(self.importer.store.clone(), owner, Purpose::OTEL_FRAMES);
        let frames_at_least = body_bytes.div_ceil(FRAME_BYTES_TARGET).max(1);
        let items = usize::try_from(span_count.saturating_add(log_count)).unwrap_or(usize::MAX);
        let per_frame = items.div_ceil(frames_at_least).max(1);
        let mut frames = Vec::new();
        for ((otel_id, trace_id), group) in traces.into_iter().zip(groups.into_values()) {
            let identity = keys.get(&trace_id.into()).ok_or(ImportError::Stopped)?;
            let key = keys.get(&content_subject(import_id, trace_id)).ok_or(ImportError::Stopped)?;
            let step_id_key = Digest(identity.step_id_key());
            let whole = OtelFrame { trace_id, otel_id, step_id_key, spans: group.spans, logs: group.logs };
            frames.extend(cut(whole, per_frame).into_iter().map(|frame| (key.clone(), frame)));
        }
        for (key, plain) in encode(frames, body_bytes).await? {
            writer.push(&key, plain).await?;
        }
        let bundle = writer.finish().await?;
        let event = OtelReceived { import_id, trace_count: count(subjects.len() / 2), span_count, log_count, bundle };
        Ok(Some(Append { stream: StreamId::Import(import_id), expected: Expected::Any, events: vec![event.into()] }))
    }

    /// The keys of these subjects. Nothing rests on them but the record that is appended next.
    async fn keys(&self, owner: OwnerId, subjects: &[SubjectId]) -> Result<Vec<SubjectKey>, KeyError> {
        match self.one_commit {
            true => self.importer.keys.ensure_with_append(owner, subjects).await,
            false => self.importer.keys.ensure(owner, subjects).await,
        }
    }
}

fn by_trace(decoded: Decoded) -> BTreeMap<OtelTraceId, Group> {
    let mut groups: BTreeMap<OtelTraceId, Group> = BTreeMap::new();
    for span in decoded.spans {
        groups.entry(span.trace_id).or_default().spans.push(span);
    }
    for log in decoded.logs {
        groups.entry(log.trace_id).or_default().logs.push(log);
    }
    groups
}

/// Frames of so many spans or log records each.
fn cut(whole: OtelFrame, per_frame: usize) -> Vec<OtelFrame> {
    let OtelFrame { trace_id, otel_id, step_id_key, mut spans, mut logs } = whole;
    let mut frames = Vec::new();
    while !spans.is_empty() || !logs.is_empty() {
        let rest = spans.split_off(per_frame.min(spans.len()));
        let taken = std::mem::replace(&mut spans, rest);
        let rest = logs.split_off(per_frame.saturating_sub(taken.len()).min(logs.len()));
        let taken_logs = std::mem::replace(&mut logs, rest);
        frames.push(OtelFrame { trace_id, otel_id, step_id_key, spans: taken, logs: taken_logs });
    }
    frames
}

/// Writes frames. Those of a small request right here: an errand to another thread waits for a processor behind whatever else is
/// at work, which takes longer than the writing. Those of a larger one in one errand.
async fn encode(
    frames: Vec<(SubjectKey, OtelFrame)>,
    body_bytes: usize,
) -> Result<Vec<(SubjectKey, Vec<u8>)>, ImportError> {
    let encode = move || frames.into_iter().map(|(key, frame)| Ok((key, frame.encode()?))).collect();
    let encoded: Result<_, BadFrame> = match body_bytes <= ENCODED_HERE_BYTES_MAX {
        true => encode(),
        false => tokio::task::spawn_blocking(encode).await.map_err(|_| ImportError::Bundle(BundleError::Stopped))?,
    };
    encoded.map_err(|error| ImportError::Frame(error.to_string()))
}
