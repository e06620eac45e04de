//! Gives a trace the title that a person wrote, or takes it back.

use crate::events::TraceTitled;
use crate::ids::{SubjectId, TraceId};
use crate::record::{Append, Expected, StreamId};
use crate::sealed::Sealed;
use crate::trace::title::TitleSource;

/// The events; `title` is a sealed [`TitleFrame`](crate::titling::TitleFrame). The last write stands, and all of them stay in the
/// history.
pub fn decide(trace_id: TraceId, subject_id: SubjectId, title: Sealed) -> Vec<Append> {
    let event = TraceTitled {
        trace_id,
        title_source: TitleSource::Edited.name().to_owned(),
        subject_id,
        title,
        model: None,
        input_tokens: 0,
        output_tokens: 0,
        cost_micros: None,
    };
    vec![Append { stream: StreamId::Trace(trace_id), expected: Expected::Any, events: vec![event.into()] }]
}
