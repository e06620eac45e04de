//! Ratings and comments. Each event of change holds the whole new state, so that the newest one alone gives it.

use crate::ids::{AnnotationId, ImportId, OwnerId, StepId, SubjectId, TraceId};
use crate::sealed::{Bundle, Sealed};
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

/// What was judged of an import's traces where they were recorded came along. Stands in the import's stream, behind the traces.
///
/// The bundle holds [`JudgmentsFrame`](crate::annotation::JudgmentsFrame)s, each sealed under its trace's content subject of this
/// import. Each judgment is an annotation whose id is the same at every import; [`crate::views::judgment`] says what a further
/// import does about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgmentsImported {
    /// The import.
    pub import_id: ImportId,
    /// Number of judgments in the bundle.
    pub judgment_count: i64,
    /// The judgments.
    pub bundle: Bundle,
}
