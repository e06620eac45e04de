//! Deletes a trace and, with its keys, all that was derived from it.

use crate::events::TraceDeleted;
use crate::ids::TraceId;
use crate::record::{Append, Expected, StreamId};

/// The events. A trace that is deleted twice at the same moment is deleted once.
pub fn decide(trace_id: TraceId) -> Vec<Append> {
    let event = TraceDeleted { trace_id };
    vec![Append { stream: StreamId::Trace(trace_id), expected: Expected::Any, events: vec![event.into()] }]
}
