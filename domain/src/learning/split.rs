//! Which pairs train and which evaluate.
//!
//! The split is by trace, so that neighbouring actions, which share most of their text, stay together: traces in the seed's
//! order, a tenth of them held out. A pair is on a side only with all its traces there; pairs across are left out and counted.
//!
//! Most pairs stand between two traces, and a tenth of the traces drawn one by one seldom holds both traces of any pair. So a
//! trace is held together with one it has a pair with:
//! 1. walk the traces in the seed's order, until a tenth is held;
//! 2. a trace that is not held is taken with the partner that costs training the fewest pairs (itself, for a pair within the
//!    trace; one held already costs nothing more), ties by the seed's order;
//! 3. one whose cheapest partner would leave less than half of all pairs to train is passed over;
//! 4. where that passed over all of them, the walk is made again and asks for the least that is trained on ([`PAIRS_MIN`]).
//!
//! Invariants:
//! - no trace is on both sides, and at most one trace more than a tenth (rounded, at least one) is held;
//! - whenever a pair has no trace in common with two others, both sides have pairs: in the second walk a trace of it can be taken
//!   with its partner, since the others are left, and every step leaves enough;
//! - else all pairs train and there is no evaluation: never one on the training set, and never too few to train on for one.

use super::PAIRS_MIN;
use super::frame::Split;
use crate::ids::TraceId;
use crate::seeded::Seeded;
use std::collections::{BTreeMap, BTreeSet};

/// The traces of a pair: two equal ones for a pair within a trace.
pub type PairTraces = (TraceId, TraceId);

/// One tenth is held out.
const HELD_OUT: usize = 10;

/// The side of each pair.
pub fn split(pairs: &[PairTraces], seed: i64) -> Vec<Split> {
    let traces: BTreeSet<TraceId> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut order: Vec<TraceId> = traces.into_iter().collect();
    Seeded::new(seed, "split").shuffle(&mut order);
    let walk = |train_min| Walk::new(pairs, &order, train_min).held();
    let mut held = walk(pairs.len().div_ceil(2).max(PAIRS_MIN));
    if held.is_empty() {
        held = walk(PAIRS_MIN);
    }
    pairs
        .iter()
        .map(|(a, b)| match (held.contains(a), held.contains(b)) {
            (true, true) => Split::Eval,
            (false, false) => Split::Train,
            _ => Split::Excluded,
        })
        .collect()
}

/// Traces to hold out for this many that carry pairs.
fn target(traces: usize) -> usize {
    ((traces + HELD_OUT / 2) / HELD_OUT).max(1)
}

/// What a trace not yet held has to do with pairs.
#[derive(Default)]
struct Node {
    /// Pairs with each partner, itself included; held partners stay.
    partners: BTreeMap<TraceId, usize>,
    /// Pairs with partners that are not held.
    open: usize,
    /// Place in the seed's order.
    rank: usize,
}

/// One walk. Pairs that touch no held trace are *open*: they train if the walk ends here.
struct Walk<'p> {
    order: &'p [TraceId],
    nodes: BTreeMap<TraceId, Node>,
    held: BTreeSet<TraceId>,
    open: usize,
    train_min: usize,
}

impl<'p> Walk<'p> {
    fn new(pairs: &[PairTraces], order: &'p [TraceId], train_min: usize) -> Self {
        let node = |(rank, trace): (usize, &TraceId)| (*trace, Node { rank, ..Node::default() });
        let mut nodes: BTreeMap<TraceId, Node> = order.iter().enumerate().map(node).collect();
        for (a, b) in pairs {
            let both = BTreeSet::from([(*a, *b), (*b, *a)]);
            for (trace, partner) in both {
                let node = nodes.entry(trace).or_default();
                *node.partners.entry(partner).or_default() += 1;
                node.open += 1;
            }
        }
        Self { order, nodes, held: BTreeSet::new(), open: pairs.len(), train_min }
    }

    /// The traces to hold out; none where no step leaves enough to train.
    fn held(mut self) -> BTreeSet<TraceId> {
        let target = target(self.order.len());
        for trace in self.order {
            if self.held.len() >= target {
                break;
            }
            if !self.held.contains(trace)
                && let Some((cost, partner)) = self.cheapest(*trace)
                && self.open.saturating_sub(cost) >= self.train_min
            {
                self.hold(*trace);
                self.hold(partner);
            }
        }
        self.held
    }

    /// The partner with which holding a trace costs training the fewest pairs, and how many that is.
    fn cheapest(&self, trace: TraceId) -> Option<(usize, TraceId)> {
        let own = self.nodes.get(&trace)?;
        let costs = own.partners.iter().filter_map(|(partner, common)| {
            let other = self.nodes.get(partner)?;
            let alone = *partner == trace || self.held.contains(partner);
            let further = if alone { 0 } else { other.open.saturating_sub(*common) };
            Some((own.open + further, other.rank, *partner))
        });
        costs.min().map(|(cost, _, partner)| (cost, partner))
    }

    fn hold(&mut self, trace: TraceId) {
        if !self.held.insert(trace) {
            return;
        }
        let Some(node) = self.nodes.get_mut(&trace) else { return };
        self.open = self.open.saturating_sub(std::mem::take(&mut node.open));
        let partners: Vec<(TraceId, usize)> =
            node.partners.iter().map(|(partner, common)| (*partner, *common)).collect();
        for (partner, common) in partners {
            if !self.held.contains(&partner)
                && let Some(other) = self.nodes.get_mut(&partner)
            {
                other.open = other.open.saturating_sub(common);
            }
        }
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
