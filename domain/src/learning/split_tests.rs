use super::*;
use proptest::prelude::*;
use uuid::Uuid;

fn trace(n: u8) -> TraceId {
    TraceId(Uuid::from_u128(n.into()))
}

fn pairs_of(numbers: &[(u8, u8)]) -> Vec<PairTraces> {
    numbers.iter().map(|(a, b)| (trace(*a), trace(*b))).collect()
}

fn count(sides: &[Split], side: Split) -> usize {
    sides.iter().filter(|found| **found == side).count()
}

#[test]
fn one_trace_only_trains() {
    assert_eq!(split(&pairs_of(&[(1, 1), (1, 1)]), 0), vec![Split::Train; 2]);
}

#[test]
fn three_independent_traces_give_both_sides() {
    for seed in 0..20 {
        let sides = split(&pairs_of(&[(1, 1), (2, 2), (3, 3)]), seed);
        assert_eq!((count(&sides, Split::Train), count(&sides, Split::Eval)), (2, 1));
    }
}

#[test]
fn what_would_be_too_little_to_train_on_all_trains() {
    // Two findings; two good traces against two bad ones; a chain of three.
    let grid = [(1, 3), (2, 4), (1, 4), (2, 3)];
    for pairs in [&[(1, 1), (2, 2)][..], &grid, &[(1, 2), (2, 3), (3, 4)]] {
        for seed in 0..20 {
            assert_eq!(split(&pairs_of(pairs), seed), vec![Split::Train; pairs.len()]);
        }
    }
}

#[test]
fn traces_that_only_stand_against_each_other_cannot_be_split() {
    assert_eq!(split(&pairs_of(&[(1, 2), (2, 1)]), 0), vec![Split::Train; 2]);
}

#[test]
fn nothing_is_split_into_nothing() {
    assert!(split(&[], 0).is_empty());
}

#[test]
fn a_trace_that_most_pairs_need_is_not_held_out() {
    // One good trace against a hundred bad ones, and one pair elsewhere: to hold the good one would leave one pair to train.
    let mut numbers: Vec<(u8, u8)> = (1..=100).map(|bad| (0, bad)).collect();
    numbers.push((101, 102));
    for seed in 0..20 {
        let sides = split(&pairs_of(&numbers), seed);
        assert_eq!((count(&sides, Split::Train), count(&sides, Split::Eval)), (100, 1));
    }
}

#[test]
fn pairs_across_traces_are_held_out_by_construction() {
    // 200 traces in 240 pairs, each with nearly equally many: the shape of the recorded trajectories.
    let numbers: Vec<(u8, u8)> = (0_u8..240).map(|n| (n % 200, (n % 200 + 1 + n / 200 * 7) % 200)).collect();
    for seed in 0..20 {
        let sides = split(&pairs_of(&numbers), seed);
        assert!(count(&sides, Split::Eval) >= 10 && count(&sides, Split::Train) >= 180, "seed {seed}: {sides:?}");
    }
}

/// Whether a pair has no trace in common with as many others as are trained on: the only condition for a split.
fn can_be_split(pairs: &[PairTraces]) -> bool {
    let disjoint = |a: &PairTraces, b: &PairTraces| a.0 != b.0 && a.0 != b.1 && a.1 != b.0 && a.1 != b.1;
    pairs.iter().any(|one| pairs.iter().filter(|other| disjoint(one, other)).count() >= PAIRS_MIN)
}

fn any_pairs() -> impl Strategy<Value = Vec<PairTraces>> {
    // Few traces make stars and triangles, which cannot be split; many make room for a tenth.
    (1_u8..60)
        .prop_flat_map(|traces| prop::collection::vec((0..traces, 0..traces), 0..80))
        .prop_map(|numbers| pairs_of(&numbers))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn sides_are_apart_small_enough_and_there_whenever_they_can_be(pairs in any_pairs(), seed: i64) {
        let sides = split(&pairs, seed);
        prop_assert_eq!(&sides, &split(&pairs, seed));
        prop_assert_eq!(sides.len(), pairs.len());
        let on = |side: Split| -> BTreeSet<TraceId> {
            pairs.iter().zip(&sides).filter(|(_, s)| **s == side).flat_map(|((a, b), _)| [*a, *b]).collect()
        };
        let (train, eval) = (on(Split::Train), on(Split::Eval));
        prop_assert!(train.is_disjoint(&eval));
        let traces: BTreeSet<TraceId> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        prop_assert!(eval.len() <= target(traces.len()) + 1);
        prop_assert_eq!(!train.is_empty() && !eval.is_empty(), can_be_split(&pairs));
        prop_assert!(count(&sides, Split::Train) >= pairs.len().min(PAIRS_MIN));
        if eval.is_empty() {
            prop_assert!(sides.iter().all(|side| *side == Split::Train));
        }
    }
}
