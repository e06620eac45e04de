//! Ratings and comments. Each event of change holds the whole new state, so that the newest one alone gives it.

use crate::ids::{AnnotationId, OwnerId, StepId, SubjectId, TraceId};
use crate::sealed::Sealed;
use serde::{Deserialize, Serialize};

/// A person rated or commented on a trace or one of its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnotationCreated {
    /// The annotation.
    pub annotation_id: AnnotationId,
    /// Its trace.
    pub trace_id: TraceId,
    /// Its step; none means the whole trace.
    pub step_id: Option<StepId>,
    /// 1 or -1, or none.
    pub rating: Option<i32>,
    /// Who wrote it.
    pub author_id: OwnerId,
    /// Subject whose key seals the text: the trace's content subject at that time.
    pub subject_id: SubjectId,
    /// [`crate::annotation::AnnotationText`], sealed; none when there is no text at all.
    pub text: Option<Sealed>,
}

/// An annotation has this state now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnotationChanged {
    /// The annotation.
    pub annotation_id: AnnotationId,
    /// Its trace.
    pub trace_id: TraceId,
    /// 1 or -1, or none.
    pub rating: Option<i32>,
    /// Whether someone flagged the label as wrong; it then trains nothing.
    pub label_error: bool,
    /// Subject whose key seals the text: the trace's content subject at that time.
    pub subject_id: SubjectId,
    /// The text, sealed; none when there is none.
    pub text: Option<Sealed>,
}

/// An annotation was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnotationDeleted {
    /// The annotation.
    pub annotation_id: AnnotationId,
    /// Its trace.
    pub trace_id: TraceId,
}
