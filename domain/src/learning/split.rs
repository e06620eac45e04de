//! Which pairs train and which evaluate.
//!
//! The split is by trace, so that neighbouring actions, which share most of their text, stay together: traces in the seed's
//! order, a tenth of them held out. A pair is on a side only with all its traces there; pairs across are left out and counted.
//! Where that leaves nothing to train on or nothing to evaluate, all pairs train and there is no evaluation: never one on the
//! training set.

use super::frame::Split;
use crate::ids::TraceId;
use crate::seeded::Seeded;
use std::collections::BTreeSet;

/// The traces of a pair: two equal ones for a pair within a trace.
pub type PairTraces = (TraceId, TraceId);

/// One tenth is held out.
const HELD_OUT: usize = 10;

/// The side of each pair.
pub fn split(pairs: &[PairTraces], seed: i64) -> Vec<Split> {
    let traces: BTreeSet<TraceId> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut traces: Vec<TraceId> = traces.into_iter().collect();
    let all_train = || vec![Split::Train; pairs.len()];
    if traces.len() < 2 {
        return all_train();
    }
    Seeded::new(seed, "split").shuffle(&mut traces);
    let held = (traces.len() + HELD_OUT / 2) / HELD_OUT;
    let held: BTreeSet<TraceId> = traces.into_iter().take(held.max(1)).collect();
    let sides: Vec<Split> = pairs
        .iter()
        .map(|(a, b)| match (held.contains(a), held.contains(b)) {
            (true, true) => Split::Eval,
            (false, false) => Split::Train,
            _ => Split::Excluded,
        })
        .collect();
    if sides.contains(&Split::Eval) && sides.contains(&Split::Train) { sides } else { all_train() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn trace(n: u8) -> TraceId {
        TraceId(Uuid::from_u128(n.into()))
    }

    #[test]
    fn one_trace_only_trains() {
        assert_eq!(split(&[(trace(1), trace(1)), (trace(1), trace(1))], 0), vec![Split::Train; 2]);
    }

    #[test]
    fn two_independent_traces_give_one_side_each() {
        let sides = split(&[(trace(1), trace(1)), (trace(2), trace(2))], 0);
        assert!(sides.contains(&Split::Train) && sides.contains(&Split::Eval));
    }

    #[test]
    fn traces_that_only_stand_against_each_other_cannot_be_split() {
        assert_eq!(split(&[(trace(1), trace(2)), (trace(2), trace(1))], 0), vec![Split::Train; 2]);
    }

    proptest! {
        #[test]
        fn no_trace_is_on_both_sides(pairs in prop::collection::vec((0_u8..30, 0_u8..30), 0..80), seed: i64) {
            let pairs: Vec<PairTraces> = pairs.into_iter().map(|(a, b)| (trace(a), trace(b))).collect();
            let sides = split(&pairs, seed);
            let on = |side: Split| -> BTreeSet<TraceId> {
                pairs.iter().zip(&sides).filter(|(_, s)| **s == side).flat_map(|((a, b), _)| [*a, *b]).collect()
            };
            prop_assert!(on(Split::Train).is_disjoint(&on(Split::Eval)));
            if !sides.contains(&Split::Eval) {
                prop_assert!(sides.iter().all(|side| *side == Split::Train));
            }
        }
    }
}
