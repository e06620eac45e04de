//! Removes an annotation.

use crate::events::AnnotationDeleted;
use crate::ids::{AnnotationId, TraceId};
use crate::record::{Append, Expected, StreamId};

/// The events; the version is named only if the request named it.
pub fn decide(annotation_id: AnnotationId, trace_id: TraceId, expected: Expected) -> Vec<Append> {
    let event = AnnotationDeleted { annotation_id, trace_id };
    vec![Append { stream: StreamId::Annotation(annotation_id), expected, events: vec![event.into()] }]
}
