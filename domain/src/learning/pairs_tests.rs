use super::*;
use crate::ids::{StepId, TraceId};
use proptest::prelude::*;
use std::collections::HashMap;
use uuid::Uuid;

fn target(index: u128, trace: u128, good: bool, context: u8, first_user: u8) -> Rated {
    Rated {
        key: TargetKey { trace_id: TraceId(Uuid::from_u128(trace)), step_id: Some(StepId(Uuid::from_u128(index))) },
        action_type: Some(ActionType::Response),
        liking: if good { Liking::Positive } else { Liking::Negative },
        digest: Digest::of(&index.to_be_bytes()),
        context: Some(Digest::of(&[context])),
        first_user: Some(Digest::of(&[first_user, 1])),
    }
}

/// The best tier of a pair.
fn tier_of(a: &Rated, b: &Rated) -> Tier {
    if a.context.is_some() && a.context == b.context {
        Tier::Context
    } else if a.key.trace_id == b.key.trace_id {
        Tier::Trace
    } else if a.first_user.is_some() && a.first_user == b.first_user {
        Tier::FirstUser
    } else {
        Tier::Rest
    }
}

#[test]
fn closer_pairs_come_first() {
    let targets = [
        target(0, 1, true, 1, 1),
        target(1, 2, false, 1, 9), // same context
        target(2, 1, false, 2, 1), // same trace
        target(3, 3, false, 3, 1), // same first message
        target(4, 4, false, 4, 4), // nothing in common
    ];
    let rejected: Vec<usize> = from_ratings(&targets, 10, 0).into_iter().map(|pair| pair.rejected).collect();
    assert_eq!(rejected, [1, 2, 3, 4]);
}

#[test]
fn traces_never_pair_with_actions_and_equal_texts_make_no_pair() {
    let mut trace = target(1, 2, false, 1, 1);
    trace.action_type = None;
    assert!(from_ratings(&[target(0, 1, true, 1, 1), trace], 10, 0).is_empty());
    let mut same = target(1, 2, false, 1, 1);
    same.digest = target(0, 1, true, 1, 1).digest;
    assert!(from_ratings(&[target(0, 1, true, 1, 1), same], 10, 0).is_empty());
}

proptest! {
    #[test]
    fn every_target_has_its_turn_before_any_has_a_second(good in 1_usize..12, bad in 1_usize..12, seed: i64) {
        let targets: Vec<Rated> =
            (0..good + bad).map(|n| target(n as u128, n as u128, n < good, n as u8, n as u8)).collect();
        // A first round is as many pairs as the larger side has targets.
        let pairs = from_ratings(&targets, good.max(bad), seed);
        let used: BTreeSet<usize> = pairs.iter().flat_map(|pair| [pair.chosen, pair.rejected]).collect();
        prop_assert_eq!(used.len(), good + bad);
        let mut turns: HashMap<usize, usize> = HashMap::new();
        for pair in &pairs {
            *turns.entry(if good >= bad { pair.chosen } else { pair.rejected }).or_default() += 1;
        }
        prop_assert!(turns.values().all(|turns| *turns == 1));
    }

    #[test]
    fn pairs_are_distinct_and_complete(
        raw in prop::collection::vec((0_u128..4, any::<bool>(), 0_u8..3, 0_u8..3), 0..24),
        seed: i64,
        max in 0_usize..400,
    ) {
        let targets: Vec<Rated> =
            raw.iter().enumerate().map(|(n, (trace, good, context, first))| target(n as u128, *trace, *good, *context, *first)).collect();
        let good = targets.iter().filter(|target| target.liking == Liking::Positive).count();
        let pairs = from_ratings(&targets, max, seed);
        let distinct: BTreeSet<(usize, usize)> = pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
        prop_assert_eq!(distinct.len(), pairs.len());
        prop_assert_eq!(pairs.len(), max.min(good * (targets.len() - good)));
        let tiers: Vec<Tier> = pairs.iter().map(|pair| tier_of(&targets[pair.chosen], &targets[pair.rejected])).collect();
        prop_assert!(tiers.is_sorted());
    }
}
