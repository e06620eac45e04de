//! Rates or comments on a trace or one of its steps.

use crate::events::AnnotationCreated;
use crate::ids::{AnnotationId, CommandId, OwnerId, StepId, SubjectId, TraceId, made_by};
use crate::record::{Append, Expected, StreamId};
use crate::sealed::Sealed;

/// The annotation that a command makes.
pub fn id(command: CommandId) -> AnnotationId {
    made_by(command, "annotation", 0).into()
}

/// An annotation that keeps all [rules](crate::annotation::Rules).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its trace.
    pub trace_id: TraceId,
    /// Its step; none for the whole trace.
    pub step_id: Option<StepId>,
    /// Its rating.
    pub rating: Option<i32>,
    /// Who writes it.
    pub author_id: OwnerId,
    /// Subject whose key seals the text.
    pub subject_id: SubjectId,
    /// The text, sealed.
    pub text: Option<Sealed>,
}

/// The events.
pub fn decide(command: CommandId, checked: Checked) -> Vec<Append> {
    let annotation_id = id(command);
    let event = AnnotationCreated {
        annotation_id,
        trace_id: checked.trace_id,
        step_id: checked.step_id,
        rating: checked.rating,
        author_id: checked.author_id,
        subject_id: checked.subject_id,
        text: checked.text,
    };
    vec![Append { stream: StreamId::Annotation(annotation_id), expected: Expected::Any, events: vec![event.into()] }]
}
