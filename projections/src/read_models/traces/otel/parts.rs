//! What requests brought, by trace.

use super::stored::Frame;
use crate::error::ApplyError;
use stash_domain::ids::{Digest, SubjectId, TraceId};
use stash_domain::otel::frame::OtelFrame;
use stash_domain::otel::{OtelLog, OtelSpan, OtelTraceId};
use stash_domain::time::Timestamp;
use std::collections::BTreeMap;

/// A frame as it came out of its bundle.
pub(super) struct Sealed {
    /// When its request was made.
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
}

/// What one frame brings of a trace.
pub(super) struct Part {
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
    pub(super) step_id_key: Digest,
    pub(super) spans: Vec<OtelSpan>,
    pub(super) logs: Vec<OtelLog>,
}

/// What is added to a trace: parts in the order of the log.
pub(super) struct Addition {
    pub(super) trace: TraceId,
    pub(super) otel_id: OtelTraceId,
    pub(super) parts: Vec<Part>,
}

impl Addition {
    /// The subjects under whose keys its parts are sealed.
    pub(super) fn subjects(&self) -> impl Iterator<Item = SubjectId> {
        self.parts.iter().map(|part| part.frame.subject)
    }
}

/// A frame opened.
pub(super) struct Found {
    trace: TraceId,
    otel_id: OtelTraceId,
    part: Part,
}

/// Opens frames.
pub(super) fn open(frames: Vec<Sealed>) -> Result<Vec<Found>, ApplyError> {
    let open = |Sealed { at, frame }: Sealed| {
        let opened = OtelFrame::decode(&frame.content).map_err(|error| ApplyError::poison("frame_damaged", error))?;
        let OtelFrame { trace_id, otel_id, step_id_key, spans, logs } = opened;
        Ok(Found { trace: trace_id, otel_id, part: Part { at, frame, step_id_key, spans, logs } })
    };
    frames.into_iter().map(open).collect()
}

/// Puts together what belongs to one trace.
pub(super) fn by_trace(opened: Vec<Found>) -> Vec<Addition> {
    let mut traces: BTreeMap<TraceId, Addition> = BTreeMap::new();
    for Found { trace, otel_id, part } in opened {
        let addition = traces.entry(trace).or_insert_with(|| Addition { trace, otel_id, parts: Vec::new() });
        addition.parts.push(part);
    }
    traces.into_values().collect()
}
