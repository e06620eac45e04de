//! What people's ratings say about a target, once all of them are heard.

use crate::ids::{AnnotationId, OwnerId, StepId, TraceId};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// What is rated: a trace, or one of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetKey {
    /// The trace.
    pub trace_id: TraceId,
    /// The step; none for the whole trace.
    pub step_id: Option<StepId>,
}

/// One rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// Its annotation, which decides between ratings of the same moment.
    pub annotation_id: AnnotationId,
    /// What is rated.
    pub target: TargetKey,
    /// By whom.
    pub author_id: OwnerId,
    /// 1 or -1; anything else says nothing.
    pub rating: i32,
    /// Whether the label was flagged as wrong.
    pub label_error: bool,
    /// When it was last changed.
    pub at: Timestamp,
}

/// The verdict on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liking {
    /// Good.
    Positive,
    /// Bad.
    Negative,
}

/// What each target is worth (rendering rules, "Pairs"): flagged labels are left out; of each author the newest rating of a
/// target counts; where authors disagree the majority wins, and a draw says nothing.
pub fn resolve(ratings: impl IntoIterator<Item = Rating>) -> BTreeMap<TargetKey, Liking> {
    let mut newest: BTreeMap<(TargetKey, OwnerId), Rating> = BTreeMap::new();
    for rating in ratings {
        if rating.label_error || !matches!(rating.rating, 1 | -1) {
            continue;
        }
        let kept = newest.entry((rating.target, rating.author_id)).or_insert(rating);
        if (rating.at, rating.annotation_id) > (kept.at, kept.annotation_id) {
            *kept = rating;
        }
    }
    let mut sums: BTreeMap<TargetKey, i64> = BTreeMap::new();
    for ((target, _), rating) in newest {
        *sums.entry(target).or_default() += i64::from(rating.rating);
    }
    let liking = |sum: i64| match sum {
        0 => None,
        sum if sum > 0 => Some(Liking::Positive),
        _ => Some(Liking::Negative),
    };
    sums.into_iter().filter_map(|(target, sum)| Some((target, liking(sum)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn rating(author: u128, rating: i32, at: i64) -> Rating {
        Rating {
            annotation_id: AnnotationId(Uuid::from_u128(author * 1000 + at.unsigned_abs() as u128)),
            target: TargetKey { trace_id: TraceId(Uuid::from_u128(1)), step_id: None },
            author_id: OwnerId(Uuid::from_u128(author)),
            rating,
            label_error: false,
            at: Timestamp(at),
        }
    }

    fn liking(ratings: &[Rating]) -> Option<Liking> {
        resolve(ratings.iter().copied()).into_values().next()
    }

    #[test]
    fn of_one_author_the_newest_counts() {
        assert_eq!(liking(&[rating(1, 1, 5), rating(1, -1, 9)]), Some(Liking::Negative));
        assert_eq!(liking(&[rating(1, -1, 9), rating(1, 1, 5)]), Some(Liking::Negative));
    }

    #[test]
    fn of_several_authors_the_majority_counts_and_a_draw_says_nothing() {
        assert_eq!(liking(&[rating(1, 1, 1), rating(2, 1, 1), rating(3, -1, 1)]), Some(Liking::Positive));
        assert_eq!(liking(&[rating(1, 1, 1), rating(2, -1, 1)]), None);
    }

    #[test]
    fn flagged_labels_are_left_out() {
        let flagged = Rating { label_error: true, ..rating(2, -1, 1) };
        assert_eq!(liking(&[rating(1, 1, 1), flagged]), Some(Liking::Positive));
        assert_eq!(liking(&[flagged]), None);
    }
}
