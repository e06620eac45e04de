//! In which order pairs are seen, and how fast the model learns at each step.

use stash_model::rng::Rng;

/// Batches whose pairs are sorted by length together: long enough to leave little padding, short enough that a pair's
/// place in the order stays nearly random.
const WINDOW_BATCHES: usize = 8;

/// The batches of one epoch: every index of `lengths` once, `batch_pairs` to a batch. Pairs are shuffled by the seed,
/// sorted by length within windows, and the batches of a window shuffled again.
pub fn epoch_batches(lengths: &[usize], batch_pairs: usize, seed: u64, epoch: u32) -> Vec<Vec<usize>> {
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

/// The learning rate of a step (from 0) as a share of the highest: a line up over the first `warmup` of the steps, then a
/// line down to 0, which the step after the last would reach.
pub fn rate(step: usize, steps: usize, warmup: f64) -> f64 {
    let rising = (warmup * steps as f64).ceil() as usize;
    if step < rising {
        return (step + 1) as f64 / rising as f64;
    }
    (steps - step) as f64 / (steps - rising).max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_epoch_sees_every_pair_once(
            lengths in proptest::collection::vec(1usize..500, 1..300), batch in 1usize..20, seed: u64, epoch in 0u32..3,
        ) {
            let batches = epoch_batches(&lengths, batch, seed, epoch);
            prop_assert!(batches.iter().all(|b| !b.is_empty() && b.len() <= batch));
            prop_assert_eq!(batches.len(), batches_per_epoch(lengths.len(), batch));
            let mut seen: Vec<usize> = batches.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            prop_assert_eq!(batches, epoch_batches(&lengths, batch, seed, epoch));
        }

        #[test]
        fn the_rate_stays_in_bounds(steps in 1usize..500, warmup in 0.0f64..1.0) {
            let rates: Vec<f64> = (0..steps).map(|step| rate(step, steps, warmup)).collect();
            prop_assert!(rates.iter().all(|r| *r > 0.0 && *r <= 1.0), "{:?}", rates);
        }
    }

    #[test]
    fn the_rate_rises_then_falls() {
        let rates: Vec<f64> = (0..10).map(|step| rate(step, 10, 0.2)).collect();
        assert_eq!(rates[..3], [0.5, 1.0, 1.0]);
        assert!((rates[9] - 0.125).abs() < 1e-12);
    }
}
