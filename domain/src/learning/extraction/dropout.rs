//! Rubric dropout: each target is judged by two criteria of the four, so that no model can learn to please a fixed list of them
//! (after Rubric Dropout, arXiv 2608.11669, here for preferences made offline).
//!
//! The two are drawn from SHA-256(prompt version ‖ digest of the target's text ‖ seed): uniformly over the six pairs, and the
//! same at every repetition, so that a repeated job asks nothing that was answered before.

use super::criteria::{Criterion, Sample};
use crate::ids::Digest;
use sha2::{Digest as _, Sha256};

/// How many criteria are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dropout {
    /// Half of them: for training.
    #[default]
    Half,
    /// None (`rubric_dropout=0`): for evaluations.
    None,
}

/// Ways to choose two of four, by places in [`Criterion::ALL`].
const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// Bytes from here on are passed over: 252 is the largest multiple of six that a byte holds, so each pair has 42 bytes.
const UNIFORM_BELOW: u8 = 252;

/// The criteria of a target.
pub fn sample(dropout: Dropout, prompt_version: u32, target: Digest, seed: i64) -> Sample {
    match dropout {
        Dropout::None => Sample::all(),
        Dropout::Half => {
            let mut hash = Sha256::new();
            hash.update(prompt_version.to_be_bytes());
            hash.update(target.0);
            hash.update(seed.to_be_bytes());
            let bytes: [u8; 32] = hash.finalize().into();
            // That all 32 bytes are passed over has a chance of 2^-192.
            let drawn = bytes.into_iter().find(|byte| *byte < UNIFORM_BELOW).unwrap_or(0);
            let (first, second) = PAIRS.get(usize::from(drawn) % PAIRS.len()).copied().unwrap_or((0, 1));
            let kept = Criterion::ALL.into_iter().enumerate().filter(|(place, _)| *place == first || *place == second);
            Sample(kept.map(|(_, criterion)| criterion).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn draw(n: u32, seed: i64) -> Sample {
        sample(Dropout::Half, 1, Digest::of(&n.to_be_bytes()), seed)
    }

    #[test]
    fn exactly_two_criteria_are_kept_and_all_pairs_equally_often() {
        let mut counts: BTreeMap<Sample, u32> = BTreeMap::new();
        const DRAWN: u32 = 60_000;
        for n in 0..DRAWN {
            let drawn = draw(n, 0);
            assert_eq!(drawn.criteria().len(), 2);
            assert!(drawn.criteria().is_sorted());
            *counts.entry(drawn).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        // Chi-square with five degrees of freedom: 20.5 is passed once in a thousand, and the draws never change.
        let expected = f64::from(DRAWN) / 6.0;
        let chi: f64 = counts.values().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn a_draw_never_changes_and_follows_version_target_and_seed() {
        // Another value here would make every judge call of a repeated job anew.
        assert_eq!(draw(7, 0).names(), draw(7, 0).names());
        assert_eq!(draw(7, 0).names(), "task completion, appropriate uncertainty");
        let differs = |other: fn(u32) -> Sample| (0..40).any(|n| other(n) != draw(n, 0));
        assert!(differs(|n| draw(n, 1)));
        assert!(differs(|n| sample(Dropout::Half, 2, Digest::of(&n.to_be_bytes()), 0)));
    }

    #[test]
    fn evaluations_keep_all_four() {
        assert_eq!(sample(Dropout::None, 1, Digest::of(b""), 3), Sample::all());
        assert_eq!(Sample::all().criteria().len(), 4);
    }
}
