//! In which order pairs are seen, and how fast the model learns at each step.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};
use stash_model::rng::Rng;

/// Batches whose pairs are sorted by length together: long enough to leave little padding, short enough that a pair's
/// place in the order stays nearly random.
const WINDOW_BATCHES: usize = 8;

/// In which order an epoch sees the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Shuffled by the seed, sorted by length within windows, and the batches of a window shuffled again.
    Shuffled,
    /// As the file has them, in every epoch.
    File,
}

/// The batches of one epoch: every index of `lengths` once, `batch_pairs` to a batch.
pub fn epoch_batches(lengths: &[usize], batch_pairs: usize, order: Order, seed: u64, epoch: u32) -> Vec<Vec<usize>> {
    if order == Order::File {
        let indices: Vec<usize> = (0..lengths.len()).collect();
        return indices.chunks(batch_pairs).map(<[usize]>::to_vec).collect();
    }
    let mut rng = Rng::for_part(seed, &format!("order of epoch {epoch}"));
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    rng.shuffle(&mut order);
    let mut batches = Vec::with_capacity(order.len().div_ceil(batch_pairs));
    for window in order.chunks_mut(batch_pairs * WINDOW_BATCHES) {
        window.sort_by_key(|index| lengths[*index]);
        let mut cut: Vec<Vec<usize>> = window.chunks(batch_pairs).map(<[usize]>::to_vec).collect();
        rng.shuffle(&mut cut);
        batches.append(&mut cut);
    }
    batches
}

/// How many batches [`epoch_batches`] makes of `pairs`.
pub fn batches_per_epoch(pairs: usize, batch_pairs: usize) -> usize {
    // Only the last window can end in the middle of a batch, since the others hold whole ones.
    pairs.div_ceil(batch_pairs)
}

/// How the learning rate goes on after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Down to 0 in a line.
    Linear,
    /// Down to 0 along half a wave of the cosine.
    Cosine,
    /// It stays.
    Constant,
}

/// The learning rate of a step (from 0) as a share of the highest: a line up over the first `warmup` of the steps, then what
/// the schedule says. The step after the last would reach 0, if it falls.
pub fn rate(step: usize, steps: usize, warmup: f64, schedule: Schedule) -> f64 {
    let rising = (warmup * steps as f64).ceil() as usize;
    if step < rising {
        return (step + 1) as f64 / rising as f64;
    }
    let left = (steps - step) as f64 / (steps - rising).max(1) as f64;
    match schedule {
        Schedule::Linear => left,
        Schedule::Cosine => (1.0 - (PI * left).cos()) / 2.0,
        Schedule::Constant => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_epoch_sees_every_pair_once(
            lengths in proptest::collection::vec(1usize..500, 1..300), batch in 1usize..20, seed: u64, epoch in 0u32..3,
            as_in_file: bool,
        ) {
            let order = if as_in_file { Order::File } else { Order::Shuffled };
            let batches = epoch_batches(&lengths, batch, order, seed, epoch);
            prop_assert!(batches.iter().all(|b| !b.is_empty() && b.len() <= batch));
            prop_assert_eq!(batches.len(), batches_per_epoch(lengths.len(), batch));
            let mut seen: Vec<usize> = batches.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            prop_assert_eq!(batches, epoch_batches(&lengths, batch, order, seed, epoch));
        }

        #[test]
        fn the_rate_stays_in_bounds(steps in 1usize..500, warmup in 0.0f64..1.0) {
            for schedule in [Schedule::Linear, Schedule::Cosine, Schedule::Constant] {
                let rates: Vec<f64> = (0..steps).map(|step| rate(step, steps, warmup, schedule)).collect();
                prop_assert!(rates.iter().all(|r| *r > 0.0 && *r <= 1.0), "{:?} {:?}", schedule, rates);
            }
        }
    }

    #[test]
    fn the_rate_rises_then_does_as_its_schedule() {
        let rates = |schedule| (0..10).map(|step| rate(step, 10, 0.2, schedule)).collect::<Vec<f64>>();
        let (linear, cosine, constant) = (rates(Schedule::Linear), rates(Schedule::Cosine), rates(Schedule::Constant));
        for rates in [&linear, &cosine, &constant] {
            assert_eq!(rates[..3], [0.5, 1.0, 1.0]);
        }
        assert!((linear[9] - 0.125).abs() < 1e-12 && (linear[6] - 0.5).abs() < 1e-12);
        assert!((cosine[6] - 0.5).abs() < 1e-12 && cosine[3] > linear[3] && cosine[9] < linear[9]);
        assert_eq!(constant[2..], [1.0; 8]);
    }
}
