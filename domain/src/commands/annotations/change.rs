//! Changes an annotation's rating, comment or label-error flag.

use crate::annotation::AnnotationText;
use crate::events::AnnotationChanged;
use crate::ids::{AnnotationId, SubjectId, TraceId};
use crate::record::{Append, Expected, StreamId};
use crate::sealed::Sealed;

/// What a request changes: `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The rating.
    pub rating: Option<Option<i64>>,
    /// The comment.
    pub comment: Option<Option<String>>,
    /// The flag.
    pub label_error: Option<bool>,
    /// The note of the flag.
    pub label_error_note: Option<Option<String>>,
}

/// An annotation's changeable part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The rating.
    pub rating: Option<i64>,
    /// Whether the label is flagged as wrong.
    pub label_error: bool,
    /// The text.
    pub text: AnnotationText,
}

/// The state after a change. A flag that is taken back takes its note along.
pub fn merge(before: State, changes: Changes) -> State {
    let label_error = changes.label_error.unwrap_or(before.label_error);
    let note = match changes.label_error_note {
        Some(note) => note,
        None if label_error => before.text.label_error_note,
        None => None,
    };
    State {
        rating: changes.rating.unwrap_or(before.rating),
        label_error,
        text: AnnotationText {
            comment: changes.comment.unwrap_or(before.text.comment),
            label_error_note: note,
            ..before.text
        },
    }
}

/// A change that keeps all [rules](crate::annotation::Rules).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The annotation.
    pub annotation_id: AnnotationId,
    /// Its trace.
    pub trace_id: TraceId,
    /// The new rating.
    pub rating: Option<i32>,
    /// The new flag.
    pub label_error: bool,
    /// Subject whose key seals the text.
    pub subject_id: SubjectId,
    /// The new text, sealed.
    pub text: Option<Sealed>,
}

/// The events; the version is named only if the request named it.
pub fn decide(checked: Checked, expected: Expected) -> Vec<Append> {
    let stream = StreamId::Annotation(checked.annotation_id);
    let event = AnnotationChanged {
        annotation_id: checked.annotation_id,
        trace_id: checked.trace_id,
        rating: checked.rating,
        label_error: checked.label_error,
        subject_id: checked.subject_id,
        text: checked.text,
    };
    vec![Append { stream, expected, events: vec![event.into()] }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_fields_stay_and_null_clears() {
        let before = State {
            rating: Some(1),
            text: AnnotationText { comment: Some("a".to_owned()), ..Default::default() },
            ..State::default()
        };
        let after = merge(before.clone(), Changes { rating: Some(None), ..Changes::default() });
        assert_eq!((after.rating, after.text.comment.as_deref()), (None, Some("a")));
        assert_eq!(merge(before.clone(), Changes::default()), before);
    }

    #[test]
    fn a_flag_taken_back_takes_its_note_along() {
        let flagged = merge(
            State { rating: Some(1), ..State::default() },
            Changes { label_error: Some(true), label_error_note: Some(Some("typo".to_owned())), ..Changes::default() },
        );
        assert_eq!(flagged.text.label_error_note.as_deref(), Some("typo"));
        let back = merge(flagged, Changes { label_error: Some(false), ..Changes::default() });
        assert_eq!(back.text.label_error_note, None);
    }
}
