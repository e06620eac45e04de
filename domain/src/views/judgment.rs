//! What an import does about a judgment that came with its trace.
//!
//! | before | after |
//! |---|---|
//! | never seen | it is an annotation |
//! | an annotation that nobody here has changed | as it is in the import now |
//! | changed by a person since | the person's; only its step is the import's |
//! | deleted by a person since | stays deleted |
//!
//! A judgment that an import no longer has stays. The deletion of the trace forgets all of this.

use super::annotation::Annotation;
use crate::annotation::{AnnotationText, StoredJudgment};
use crate::ids::{OwnerId, SubjectId, TraceId};
use crate::time::Timestamp;

/// The import that brings a judgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// Whose it is.
    pub owner_id: OwnerId,
    /// The trace.
    pub trace_id: TraceId,
    /// Subject whose key seals the judgment in the log.
    pub subject_id: SubjectId,
    /// When it was made.
    pub recorded_at: Timestamp,
}

/// The annotation after an import; `known` says whether an earlier import brought it.
pub fn fold(row: Option<Annotation>, known: bool, judgment: StoredJudgment, import: Import) -> Option<Annotation> {
    match row {
        None if known => None,
        Some(row) if row.version > 0 => Some(Annotation { step_id: judgment.step_id, ..row }),
        row => Some(imported(row, judgment, import)),
    }
}

fn imported(row: Option<Annotation>, judgment: StoredJudgment, import: Import) -> Annotation {
    let author_name = Some(judgment.source.name.clone());
    let new = Annotation {
        id: judgment.annotation_id,
        trace_id: import.trace_id,
        step_id: judgment.step_id,
        rating: judgment.rating,
        subject_id: import.subject_id,
        text: AnnotationText { comment: judgment.comment, quote: None, label_error_note: None, author_name },
        redacted: false,
        label_error: false,
        author_id: import.owner_id,
        source: Some(judgment.source),
        created_at: import.recorded_at,
        updated_at: import.recorded_at,
        version: 0,
    };
    let Some(before) = row else { return new };
    let new = Annotation { created_at: before.created_at, ..new };
    // The subject too is the newest import's: an erasure has to reach it.
    let unchanged = Annotation { updated_at: before.updated_at, ..new.clone() };
    if (Annotation { subject_id: new.subject_id, ..before }) == unchanged { unchanged } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::AnnotationSource;
    use crate::ids::{AnnotationId, StepId};
    use uuid::Uuid;

    fn judgment(rating: i32, step: u128) -> StoredJudgment {
        StoredJudgment {
            annotation_id: AnnotationId(Uuid::from_u128(1)),
            step_id: Some(StepId(Uuid::from_u128(step))),
            rating: Some(rating),
            comment: None,
            source: AnnotationSource {
                name: "langfuse".to_owned(),
                id: "s1".to_owned(),
                judged: "user-feedback".to_owned(),
                origin: None,
            },
        }
    }

    fn import(at: i64) -> Import {
        let (owner_id, trace_id) = (OwnerId(Uuid::from_u128(2)), TraceId(Uuid::from_u128(3)));
        Import {
            owner_id,
            trace_id,
            subject_id: SubjectId(Uuid::from_u128(at.unsigned_abs().into())),
            recorded_at: Timestamp(at),
        }
    }

    #[test]
    fn a_further_import_updates_and_an_equal_one_changes_nothing_that_is_seen() {
        let first = fold(None, false, judgment(1, 7), import(1)).unwrap();
        assert_eq!((first.rating, first.version, first.author_id), (Some(1), 0, import(1).owner_id));
        let same = fold(Some(first.clone()), true, judgment(1, 7), import(2)).unwrap();
        assert_eq!(same, Annotation { subject_id: import(2).subject_id, ..first.clone() });
        let other = fold(Some(same), true, judgment(-1, 7), import(3)).unwrap();
        assert_eq!((other.rating, other.created_at, other.updated_at), (Some(-1), Timestamp(1), Timestamp(3)));
    }

    #[test]
    fn what_a_person_did_stands() {
        let first = fold(None, false, judgment(1, 7), import(1)).unwrap();
        let flagged = Annotation { label_error: true, version: 1, ..first };
        let after = fold(Some(flagged.clone()), true, judgment(-1, 8), import(2)).unwrap();
        assert_eq!(after, Annotation { step_id: judgment(-1, 8).step_id, ..flagged });
        assert_eq!(fold(None, true, judgment(1, 7), import(2)), None, "deleted");
    }
}
