//! Preference pairs from explicit ratings.
//!
//! Candidates are a good target against a bad one of the same kind. The closer two targets are, the more a pair teaches about
//! the action rather than about its surroundings, so candidates come in tiers: same prior context, same trace, same first user
//! message, the rest. A tier begins when the one before has no pair left. Within a tier the turn goes round in the seed's order:
//! in round *n* each target with fewer than *n* pairs of this tier gets one, with the partner that has the fewest so far. So
//! nobody has a second turn before everybody has had a first, and only where partners run out does one serve twice.

use super::ratings::{Liking, TargetKey};
use crate::ids::Digest;
use crate::seeded::Seeded;
use crate::trace::ActionType;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A rated target whose text can be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// What it is.
    pub key: TargetKey,
    /// Kind of the action; none for a whole trace.
    pub action_type: Option<ActionType>,
    /// What it is worth.
    pub liking: Liking,
    /// Digest of its text.
    pub digest: Digest,
    /// Digest of the text before the action; none for a whole trace.
    pub context: Option<Digest>,
    /// Digest of the first user message of its trace; none if there is none.
    pub first_user: Option<Digest>,
}

/// A pair, by the places of its sides in the list of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The good one.
    pub chosen: usize,
    /// The bad one.
    pub rejected: usize,
}

/// How close two targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Context,
    Trace,
    FirstUser,
    Rest,
}

const TIERS: [Tier; 4] = [Tier::Context, Tier::Trace, Tier::FirstUser, Tier::Rest];

/// What targets of a group share: their kind, and what the tier asks for.
type GroupKey = (Option<ActionType>, Digest);

/// Combinations looked at over all tiers. A bound on time for inputs in which nearly every combination is barred (thousands of
/// equal texts rated both ways); all others end long before.
pub const COMBINATIONS_MAX: usize = 20_000_000;

/// The pairs, at most `max_pairs`, best tier first.
pub fn from_ratings(targets: &[Rated], max_pairs: usize, seed: i64) -> Vec<Pair> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    Seeded::new(seed, "pairs").shuffle(&mut order);
    let mut maker = Maker {
        targets,
        order,
        pairs_of: vec![0; targets.len()],
        made: HashSet::new(),
        pairs: Vec::new(),
        max_pairs,
        combinations_left: COMBINATIONS_MAX,
    };
    for tier in TIERS {
        maker.round_robin(tier);
    }
    maker.pairs
}

/// What a target shares with the others of its group in a tier; none: it is in no group.
fn shared(target: &Rated, tier: Tier) -> Option<GroupKey> {
    let shared = match tier {
        Tier::Context => target.context?,
        Tier::Trace => Digest::of(target.key.trace_id.0.as_bytes()),
        Tier::FirstUser => target.first_user?,
        Tier::Rest => Digest([0; 32]),
    };
    Some((target.action_type, shared))
}

/// A group's good and bad targets, each as (pairs so far, rank in the seed's order): the partner to take next comes first.
#[derive(Default)]
struct Group {
    good: BTreeSet<(u32, usize)>,
    bad: BTreeSet<(u32, usize)>,
}

struct Maker<'t> {
    targets: &'t [Rated],
    /// The seed's order: the target at each rank.
    order: Vec<usize>,
    /// Pairs that each rank has, over all tiers.
    pairs_of: Vec<u32>,
    made: HashSet<Pair>,
    pairs: Vec<Pair>,
    max_pairs: usize,
    combinations_left: usize,
}

impl Maker<'_> {
    fn target(&self, rank: usize) -> &Rated {
        &self.targets[self.order[rank]]
    }

    fn is_full(&self) -> bool {
        self.pairs.len() >= self.max_pairs || self.combinations_left == 0
    }

    fn groups(&self, tier: Tier) -> BTreeMap<GroupKey, Group> {
        let mut groups: BTreeMap<GroupKey, Group> = BTreeMap::new();
        for rank in 0..self.order.len() {
            let Some(key) = shared(self.target(rank), tier) else { continue };
            let group = groups.entry(key).or_default();
            let side = match self.target(rank).liking {
                Liking::Positive => &mut group.good,
                Liking::Negative => &mut group.bad,
            };
            side.insert((self.pairs_of[rank], rank));
        }
        groups.retain(|_, group| !group.good.is_empty() && !group.bad.is_empty());
        groups
    }

    fn round_robin(&mut self, tier: Tier) {
        let mut groups = self.groups(tier);
        let mut open: Vec<(usize, GroupKey)> = (0..self.order.len())
            .filter_map(|rank| Some((rank, shared(self.target(rank), tier)?)))
            .filter(|(_, key)| groups.contains_key(key))
            .collect();
        let mut in_tier = vec![0_u32; self.order.len()];
        let mut round = 1;
        while !open.is_empty() && !self.is_full() {
            open.retain(|(rank, key)| {
                if in_tier[*rank] >= round || self.is_full() {
                    return true;
                }
                let made = groups.get_mut(key).and_then(|group| self.turn(*rank, group));
                if let Some(ranks) = made {
                    ranks.into_iter().for_each(|rank| in_tier[rank] += 1);
                }
                made.is_some()
            });
            // Straight to the next round in which somebody has a turn.
            let fewest = open.iter().map(|(rank, _)| in_tier[*rank]).min().unwrap_or(0);
            round = fewest.saturating_add(1).max(round.saturating_add(1));
        }
    }

    /// Gives a target its turn: the ranks of the pair made, none if it has no partner left.
    fn turn(&mut self, rank: usize, group: &mut Group) -> Option<[usize; 2]> {
        let is_good = self.target(rank).liking == Liking::Positive;
        let mut found = None;
        for &(_, partner) in if is_good { &group.bad } else { &group.good } {
            self.combinations_left = self.combinations_left.checked_sub(1)?;
            let ranks = if is_good { [rank, partner] } else { [partner, rank] };
            let pair = Pair { chosen: self.order[ranks[0]], rejected: self.order[ranks[1]] };
            let equal = self.targets[pair.chosen].digest == self.targets[pair.rejected].digest;
            if !equal && !self.made.contains(&pair) {
                found = Some((ranks, pair));
                break;
            }
        }
        let (ranks, pair) = found?;
        self.made.insert(pair);
        self.pairs.push(pair);
        for (rank, side) in [(ranks[0], &mut group.good), (ranks[1], &mut group.bad)] {
            side.remove(&(self.pairs_of[rank], rank));
            self.pairs_of[rank] = self.pairs_of[rank].saturating_add(1);
            side.insert((self.pairs_of[rank], rank));
        }
        Some(ranks)
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
