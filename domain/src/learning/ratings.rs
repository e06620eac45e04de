//! What people's ratings say about a target, once all of them are heard.

use crate::ids::{AnnotationId, OwnerId, StepId, TraceId};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

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
    /// Whether an import brought it and nobody here has changed it since.
    pub imported: bool,
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
///
/// Judgments that an import brought are of authors of their own, not of the person who imported them: each has a voice, and none
/// where a person here has rated the same target.
pub fn resolve(ratings: impl IntoIterator<Item = Rating>) -> BTreeMap<TargetKey, Liking> {
    let says = |rating: &Rating| !rating.label_error && matches!(rating.rating, 1 | -1);
    let ratings: Vec<Rating> = ratings.into_iter().filter(says).collect();
    let rated_here: BTreeSet<TargetKey> =
        ratings.iter().filter(|rating| !rating.imported).map(|rating| rating.target).collect();
    let mut newest: BTreeMap<(TargetKey, Uuid), Rating> = BTreeMap::new();
    for rating in ratings {
        if rating.imported && rated_here.contains(&rating.target) {
            continue;
        }
        let author = if rating.imported { rating.annotation_id.0 } else { rating.author_id.0 };
        let kept = newest.entry((rating.target, author)).or_insert(rating);
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

    fn rating(author: u128, rating: i32, at: i64) -> Rating {
        Rating {
            annotation_id: AnnotationId(Uuid::from_u128(author * 1000 + at.unsigned_abs() as u128)),
            target: TargetKey { trace_id: TraceId(Uuid::from_u128(1)), step_id: None },
            author_id: OwnerId(Uuid::from_u128(author)),
            imported: false,
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
    fn judgments_of_an_import_have_a_voice_each_and_none_beside_a_person() {
        let imported = |rating, id: i64| Rating { imported: true, at: Timestamp(1), ..self::rating(1, rating, id) };
        let three = [imported(1, 1), imported(-1, 2), imported(-1, 3)];
        assert_eq!(liking(&three), Some(Liking::Negative));
        let own = rating(1, 1, 0);
        assert_eq!(liking(&[three[0], three[1], three[2], own]), Some(Liking::Positive));
        let flagged = Rating { label_error: true, ..own };
        assert_eq!(liking(&[three[0], three[1], three[2], flagged]), Some(Liking::Negative));
    }

    #[test]
    fn flagged_labels_are_left_out() {
        let flagged = Rating { label_error: true, ..rating(2, -1, 1) };
        assert_eq!(liking(&[rating(1, 1, 1), flagged]), Some(Liking::Positive));
        assert_eq!(liking(&[flagged]), None);
    }
}
