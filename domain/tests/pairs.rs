//! Pairs from ratings: their order, their fairness, and what never makes one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use proptest::prelude::*;
use stash_domain::ids::{Digest, StepId, TraceId};
use stash_domain::learning::pairs::{Pair, Rated, from_ratings};
use stash_domain::learning::ratings::{Liking, TargetKey};
use stash_domain::trace::ActionType;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A response of a trace with a context and a first user message, by small numbers.
fn response(number: u32, trace: u128, context: u8, user: u8, positive: bool) -> Rated {
    Rated {
        key: TargetKey {
            trace_id: TraceId(Uuid::from_u128(trace)),
            step_id: Some(StepId(Uuid::from_u128(u128::from(number)))),
        },
        action_type: Some(ActionType::Response),
        context: Some(Digest::of(&[context])),
        first_user: Some(Digest::of(&[user])),
        digest: Digest::of(&number.to_be_bytes()),
        liking: if positive { Liking::Positive } else { Liking::Negative },
    }
}

fn whole(trace: u128, user: u8, positive: bool) -> Rated {
    Rated {
        key: TargetKey { trace_id: TraceId(Uuid::from_u128(trace)), step_id: None },
        action_type: None,
        context: None,
        first_user: Some(Digest::of(&[user])),
        digest: Digest::of(&trace.to_be_bytes()),
        liking: if positive { Liking::Positive } else { Liking::Negative },
    }
}

fn tier(candidates: &[Rated], pair: Pair) -> u8 {
    let (one, two) = (&candidates[pair.chosen], &candidates[pair.rejected]);
    if one.context.is_some() && one.context == two.context {
        1
    } else if one.key.trace_id == two.key.trace_id {
        2
    } else if one.first_user.is_some() && one.first_user == two.first_user {
        3
    } else {
        4
    }
}

#[test]
fn closer_comparisons_come_first() {
    let candidates = [
        response(0, 1, 1, 1, true),
        response(1, 2, 1, 2, false),
        response(2, 1, 2, 1, false),
        response(3, 3, 3, 1, false),
        response(4, 4, 4, 4, false),
    ];
    let found: Vec<(usize, usize)> =
        from_ratings(&candidates, 10, 0).iter().map(|pair| (pair.chosen, pair.rejected)).collect();
    assert_eq!(found, [(0, 1), (0, 2), (0, 3), (0, 4)]);
}

#[test]
fn kinds_are_never_mixed() {
    let mut call = response(1, 1, 1, 1, false);
    call.action_type = Some(ActionType::ToolCall);
    let candidates = [response(0, 1, 1, 1, true), call, whole(1, 1, true)];
    assert_eq!(from_ratings(&candidates, 10, 0), []);
}

#[test]
fn equal_texts_make_no_pair() {
    let mut same = response(1, 2, 1, 1, false);
    same.digest = response(0, 1, 1, 1, true).digest;
    assert_eq!(from_ratings(&[response(0, 1, 1, 1, true), same], 10, 0), []);
}

#[test]
fn every_target_has_its_turn_before_any_gets_a_second() {
    // 20 good and 20 bad traces without anything in common: 20 pairs can give each target exactly one.
    let candidates: Vec<Rated> = (0..40).map(|n| whole(n, u8::try_from(n).unwrap(), n % 2 == 0)).collect();
    for seed in 0..20 {
        let pairs = from_ratings(&candidates, 20, seed);
        let used: BTreeSet<usize> = pairs.iter().flat_map(|pair| [pair.chosen, pair.rejected]).collect();
        assert_eq!((pairs.len(), used.len()), (20, 40), "seed {seed}");
    }
    assert_ne!(from_ratings(&candidates, 20, 0), from_ratings(&candidates, 20, 1));
}

#[test]
fn one_bad_target_serves_every_good_one() {
    let candidates: Vec<Rated> = (0..11).map(|n| whole(n, u8::try_from(n).unwrap(), n > 0)).collect();
    let pairs = from_ratings(&candidates, 10, 0);
    let chosen: BTreeSet<usize> = pairs.iter().map(|pair| pair.chosen).collect();
    assert_eq!((pairs.len(), chosen.len()), (10, 10));
}

#[test]
fn thousands_of_equal_texts_end_in_good_time() {
    let candidates: Vec<Rated> = (0..2_000_u32)
        .map(|n| Rated { digest: Digest::of(b"same"), ..response(n, u128::from(n), 0, 0, n % 2 == 0) })
        .collect();
    assert_eq!(from_ratings(&candidates, 4000, 0), []);
}

fn candidates() -> impl Strategy<Value = Vec<Rated>> {
    let one = (0_u128..6, 0_u8..5, 0_u8..4, 0_u8..3, any::<bool>(), 0_u8..12);
    prop::collection::vec(one, 0..24).prop_map(|parts| {
        let candidates = parts.into_iter().enumerate().map(|(n, (trace, context, user, kind, positive, text))| {
            let number = u32::try_from(n).unwrap();
            let mut candidate = if kind == 0 {
                whole(trace * 100 + u128::from(number), user, positive)
            } else {
                response(number, trace, context, user, positive)
            };
            if kind == 2 {
                candidate.action_type = Some(ActionType::ToolCall);
            }
            candidate.digest = Digest::of(&[text]);
            candidate
        });
        candidates.collect()
    })
}

proptest! {
    #[test]
    fn without_a_limit_exactly_the_allowed_pairs_are_made(candidates in candidates(), seed: i64) {
        let pairs = from_ratings(&candidates, usize::MAX, seed);
        let found: BTreeSet<(usize, usize)> = pairs.iter().map(|pair| (pair.chosen, pair.rejected)).collect();
        prop_assert_eq!(found.len(), pairs.len(), "no pair stands twice");
        let mut allowed = BTreeSet::new();
        for (chosen, good) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.liking == Liking::Positive) {
            for (rejected, bad) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.liking == Liking::Negative) {
                if good.action_type == bad.action_type && good.digest != bad.digest {
                    allowed.insert((chosen, rejected));
                }
            }
        }
        prop_assert_eq!(found, allowed);
        prop_assert!(pairs.iter().map(|pair| tier(&candidates, *pair)).is_sorted());
    }

    #[test]
    fn in_each_tier_nobody_has_a_second_turn_before_everybody_has_had_one(candidates in candidates(), seed: i64) {
        let pairs = from_ratings(&candidates, usize::MAX, seed);
        for number in 1..=4 {
            let of_tier: Vec<&Pair> = pairs.iter().filter(|pair| tier(&candidates, **pair) == number).collect();
            let all: BTreeSet<usize> = of_tier.iter().flat_map(|pair| [pair.chosen, pair.rejected]).collect();
            let mut served = BTreeSet::new();
            for pair in of_tier {
                // A pair of two that were served already is somebody's second turn.
                if served.contains(&pair.chosen) && served.contains(&pair.rejected) {
                    prop_assert_eq!(&served, &all, "tier {}", number);
                }
                served.extend([pair.chosen, pair.rejected]);
            }
        }
    }

    #[test]
    fn a_limit_cuts_the_list(candidates in candidates(), limit in 0_usize..20) {
        let all = from_ratings(&candidates, usize::MAX, 5);
        let some = from_ratings(&candidates, limit, 5);
        prop_assert_eq!(&some[..], &all[..limit.min(all.len())]);
    }
}
