//! Traces come in by import, or grow by what is sent live; they go by deletion.

use crate::ids::{ImportId, TraceId};
use crate::sealed::Bundle;
use serde::{Deserialize, Serialize};

/// One import request was taken in: all of its traces or none.
///
/// The bundle holds, for each trace in order, its step frames, its span frames and one summary frame (see
/// [`crate::trace::frame`]), each sealed under a key made for this trace in this import: its *content subject*. So a deletion shreds
/// exactly the imports before it in the log, and never one that raced with it. A trace whose id exists already is replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracesImported {
    /// The import's id.
    pub import_id: ImportId,
    /// Name of the input format, such as `openai_chat`.
    pub source_format: String,
    /// Number of traces in the bundle.
    pub trace_count: i64,
    /// Number of steps in all of them.
    pub step_count: i64,
    /// The traces.
    pub bundle: Bundle,
}

/// One request of OpenTelemetry spans or log records was taken in.
///
/// The bundle holds [`OtelFrame`](crate::otel::frame::OtelFrame)s, each sealed under a key made for its trace in this request, as the
/// frames of an import are. What a trace shows is what all of its spans give; the fold puts them together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtelReceived {
    /// The request's id.
    pub import_id: ImportId,
    /// Number of traces that it adds to.
    pub trace_count: i64,
    /// Number of spans.
    pub span_count: i64,
    /// Number of log records.
    pub log_count: i64,
    /// The frames.
    pub bundle: Bundle,
}

/// A trace was deleted with all that was derived from it; the keys of all its imports so far are shredded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceDeleted {
    /// The trace.
    pub trace_id: TraceId,
}
