//! Traces come in by import and go by deletion.

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

/// A trace was deleted with all that was derived from it; the keys of all its imports so far are shredded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceDeleted {
    /// The trace.
    pub trace_id: TraceId,
}
