//! Whether a model is as sure as it is right.
//!
//! Under the Bradley–Terry model the chance that the side with the higher score is the better one is `σ(|difference|)`. Held-out
//! pairs are put into bins of that chance, and how often the higher side was indeed the chosen one is set beside it
//! (Guo et al., "On Calibration of Modern Neural Networks", 2017, for a binary choice).

use super::metrics::{ScoredPair, wilson};
use crate::learning::frame::Split;

/// Bins of equal width between a chance of a half and 1.
pub const BINS: usize = 5;

/// Pairs of about the same chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where the bin begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Held-out pairs in it.
    pub pairs: u64,
    /// Mean chance that the model gives.
    pub expected: f64,
    /// Share that came out so; a tie counts half.
    pub found: f64,
    /// Its 95 % Wilson interval.
    pub interval: [f64; 2],
}

/// How a model's chances compare with what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Bins that have pairs, from unsure to sure.
    pub bins: Vec<Bin>,
    /// Mean distance of `expected` and `found`, weighted by pairs.
    pub error: f64,
    /// Mean Bradley–Terry loss; `ln 2` is that of a model that knows nothing.
    pub loss: f64,
}

/// Of the held-out pairs; none without any.
pub fn of(pairs: &[ScoredPair]) -> Option<Calibration> {
    let margins: Vec<f64> =
        pairs.iter().filter(|pair| pair.split == Split::Eval).map(|pair| pair.chosen - pair.rejected).collect();
    if margins.is_empty() {
        return None;
    }
    let count = margins.len() as f64;
    let width = 0.5 / BINS as f64;
    let mut bins = Vec::with_capacity(BINS);
    for index in 0..BINS {
        let held: Vec<f64> = margins.iter().copied().filter(|margin| bin_of(*margin) == index).collect();
        if held.is_empty() {
            continue;
        }
        let in_bin = held.len() as f64;
        let found = held.iter().map(|margin| right(*margin)).sum::<f64>() / in_bin;
        bins.push(Bin {
            from: 0.5 + width * index as f64,
            to: 0.5 + width * (index + 1) as f64,
            pairs: held.len() as u64,
            expected: held.iter().map(|margin| chance(*margin)).sum::<f64>() / in_bin,
            found,
            interval: wilson(found, held.len() as u64),
        });
    }
    let error = bins.iter().map(|bin| (bin.expected - bin.found).abs() * bin.pairs as f64).sum::<f64>() / count;
    let loss = margins.iter().map(|margin| softplus(-margin)).sum::<f64>() / count;
    Some(Calibration { bins, error, loss })
}

/// Chance of the side with the higher score. A margin that is no number knows nothing.
fn chance(margin: f64) -> f64 {
    if margin.is_nan() { 0.5 } else { 1.0 / (1.0 + (-margin.abs()).exp()) }
}

fn bin_of(margin: f64) -> usize {
    (0..BINS).filter(|index| chance(margin) >= 0.5 + 0.5 / BINS as f64 * *index as f64).count().saturating_sub(1)
}

fn right(margin: f64) -> f64 {
    match margin.partial_cmp(&0.0) {
        Some(std::cmp::Ordering::Greater) => 1.0,
        Some(std::cmp::Ordering::Equal) => 0.5,
        _ => 0.0,
    }
}

/// `ln(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::frame::Granularity;

    fn pair(margin: f64, split: Split) -> ScoredPair {
        ScoredPair { chosen: margin, rejected: 0.0, granularity: Granularity::Trace, action_type: None, split }
    }

    #[test]
    fn chances_stand_beside_what_came_out() {
        // A margin of ln 3 is a chance of 3/4, in the third of five bins.
        let margin = 3.0_f64.ln();
        let pairs: Vec<ScoredPair> =
            [margin, margin, margin, -margin].map(|margin| pair(margin, Split::Eval)).into_iter().collect();
        let calibration = of(&pairs).unwrap();
        assert_eq!(calibration.bins.len(), 1);
        let bin = calibration.bins[0];
        assert!((bin.from - 0.7).abs() < 1e-9 && (bin.to - 0.8).abs() < 1e-9, "{bin:?}");
        assert_eq!((bin.pairs, bin.found), (4, 0.75));
        assert!((bin.expected - 0.75).abs() < 1e-12 && calibration.error < 1e-12);
        let loss = (3.0 * (4.0_f64 / 3.0).ln() + 4.0_f64.ln()) / 4.0;
        assert!((calibration.loss - loss).abs() < 1e-12, "{calibration:?}");
    }

    #[test]
    fn only_held_out_pairs_count_and_extremes_have_their_bins() {
        assert_eq!(of(&[pair(1.0, Split::Train), pair(1.0, Split::Excluded)]), None);
        let pairs = [pair(0.0, Split::Eval), pair(1e300, Split::Eval), pair(f64::NAN, Split::Eval)];
        let calibration = of(&pairs).unwrap();
        assert_eq!(calibration.bins.iter().map(|bin| bin.pairs).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(calibration.bins[1].expected, 1.0);
        let nothing = of(&[pair(0.0, Split::Eval)]).unwrap();
        assert!((nothing.loss - std::f64::consts::LN_2).abs() < 1e-12);
    }
}
