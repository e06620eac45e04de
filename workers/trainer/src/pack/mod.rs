//! Pairs as tensors, without computing anything twice or for padding.
//!
//! The two texts of a pair mostly begin alike (the context before the action). A [`Unit`] holds that beginning once,
//! then the rest of the chosen text, then the rest of the rejected one:
//!
//! ```text
//! tokens     s s s s s c c c r r
//! positions  0 1 2 3 4 5 6 7 5 6      a branch goes on where the shared part ends
//! sees       itself and what is before it, but a token of r sees no c
//! ```
//!
//! Scores and gradients are those of the two texts apart (prefix sharing, arXiv 2410.20305). Where little is shared, the
//! wider attention costs more than is saved, and the two texts are units of their own: [`Cost`] decides.
//!
//! A [`Batch`] lays the units' tokens end to end for the projections, and says where each goes in a padded
//! `[units, width]` grid for attention.

mod batch;
mod passes;

pub use batch::Batch;
pub use passes::{Pass, passes};

use stash_model::config::ModelConfig;

use crate::pairs::Pair;

/// One or two texts that are scored together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Shared beginning, then the first text's rest, then the second's.
    pub ids: Vec<u32>,
    /// Tokens of the shared beginning.
    pub shared: usize,
    /// Tokens of the first text's rest.
    pub first: usize,
}

impl Unit {
    /// A pair, chosen first.
    pub fn pair(pair: &Pair) -> Self {
        let shared = pair.chosen.iter().zip(&pair.rejected).take_while(|(a, b)| a == b).count();
        let mut ids = pair.chosen.clone();
        ids.extend_from_slice(&pair.rejected[shared..]);
        Self { ids, shared, first: pair.chosen.len() - shared }
    }

    /// A text by itself; both of its scores are its own.
    pub fn single(ids: &[u32]) -> Self {
        Self { ids: ids.to_vec(), shared: ids.len(), first: 0 }
    }

    /// Tokens to compute.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether it holds one text.
    pub fn is_single(&self) -> bool {
        self.shared == self.len()
    }

    fn second(&self) -> usize {
        self.len() - self.shared - self.first
    }

    /// Where the last tokens of the two texts stand.
    fn ends(&self) -> [usize; 2] {
        let first = (self.shared + self.first).saturating_sub(1);
        let second = if self.second() == 0 { self.shared.saturating_sub(1) } else { self.len() - 1 };
        [first, second]
    }

    fn position(&self, index: usize) -> usize {
        if index < self.shared + self.first { index } else { index - self.first }
    }
}

/// What a layer costs, in multiply-adds.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// The projections, for each token.
    token: f64,
    /// Attention, for each pair of a token and one it may see.
    seen: f64,
}

impl Cost {
    /// The cost of a layer of this model.
    pub fn of(config: &ModelConfig) -> Self {
        let (hidden, head) = (config.hidden_size as f64, config.head_dim as f64);
        let attention = hidden * head * 2.0 * (config.heads + config.kv_heads) as f64;
        let mlp = 3.0 * hidden * config.intermediate_size as f64;
        // Scores and mixing; attention reaches about half the speed of the projections on a CPU.
        Self { token: attention + mlp, seen: 2.0 * 2.0 * head * config.heads as f64 }
    }

    /// A unit of two texts: its mask keeps every cell of the square.
    fn masked(&self, tokens: usize) -> f64 {
        let n = tokens as f64;
        n * self.token + n * n * self.seen
    }

    /// A unit of one text: half of the square is skipped.
    fn causal(&self, tokens: usize) -> f64 {
        let n = tokens as f64;
        n * self.token + n * n * self.seen / 2.0
    }
}

/// A pair ready to be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Example {
    /// Both texts behind their shared beginning.
    Packed(Unit),
    /// Each text by itself, chosen first.
    Apart([Unit; 2]),
}

impl Example {
    /// The cheaper of the two.
    pub fn new(pair: &Pair, cost: &Cost) -> Self {
        let packed = Unit::pair(pair);
        let apart = cost.causal(pair.chosen.len()) + cost.causal(pair.rejected.len());
        if cost.masked(packed.len()) < apart {
            Self::Packed(packed)
        } else {
            Self::Apart([Unit::single(&pair.chosen), Unit::single(&pair.rejected)])
        }
    }

    /// Tokens to compute.
    pub fn tokens(&self) -> usize {
        match self {
            Self::Packed(unit) => unit.len(),
            Self::Apart([chosen, rejected]) => chosen.len() + rejected.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_contexts_are_shared_and_little_in_common_is_not() {
        // Two layers of the small base, roughly.
        let cost = Cost { token: 110_000.0, seen: 512.0 };
        let text = |context: u32, rest: u32, of: u32| (0..context).chain((0..rest).map(|i| i + of)).collect::<Vec<_>>();
        let pair = |context, rest| Pair { chosen: text(context, rest, 10_000), rejected: text(context, rest, 20_000) };
        assert_eq!(Example::new(&pair(400, 50), &cost).tokens(), 500);
        assert!(matches!(Example::new(&pair(400, 50), &cost), Example::Packed(_)));
        assert!(matches!(Example::new(&pair(3, 500), &cost), Example::Apart(_)));
        assert!(matches!(Example::new(&pair(0, 10), &cost), Example::Apart(_)));
    }

    #[test]
    fn every_pair_is_in_one_bounded_pass() {
        let unit = |n: usize| Unit::single(&vec![1; n]);
        let examples: Vec<Example> = (1..40)
            .map(|n| if n % 3 == 0 { Example::Packed(unit(n)) } else { Example::Apart([unit(n), unit(2 * n)]) })
            .collect();
        let passes = passes(&examples.iter().collect::<Vec<_>>(), 100);
        for pass in &passes {
            let longest = pass.units.iter().map(|unit| unit.len()).max().unwrap();
            assert!(longest * pass.units.len() <= 100 || pass.units.len() <= 2);
        }
        let units: usize = passes.iter().map(|pass| pass.units.len()).sum();
        assert_eq!(units, examples.iter().map(|e| if matches!(e, Example::Packed(_)) { 1 } else { 2 }).sum::<usize>());
    }
}
