//! Preference pairs from explicit ratings.
//!
//! Candidates are a good target against a bad one of the same kind. The closer two targets are, the more a pair teaches about
//! the action rather than about its surroundings, so candidates come in tiers: same prior context, same trace, same first user
//! message, the rest. Within a tier the turn goes round: in each round every target of the larger side gets a partner of the
//! smaller side, and the next round moves the partners on by one, so that nobody has a second pair before everybody (of the
//! larger side) has had a first. The orders within are the seed's.

use super::ratings::{Liking, TargetKey};
use crate::ids::Digest;
use crate::seeded::Seeded;
use crate::trace::ActionType;
use std::collections::BTreeMap;

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

/// What targets of a group share.
type GroupKey = (Option<ActionType>, Option<Vec<u8>>);

/// The pairs, at most `max_pairs`, best tier first.
///
/// Time: the pairs made, and those passed over because they belong to a better tier.
pub fn from_ratings(targets: &[Rated], max_pairs: usize, seed: i64) -> Vec<Pair> {
    let mut seeded = Seeded::new(seed, "pairs");
    let mut pairs = Vec::new();
    for tier in TIERS {
        let groups = groups(targets, tier, &mut seeded);
        round_robin(targets, tier, &groups, max_pairs, &mut pairs);
    }
    pairs
}

/// A group's good and bad targets, each in the seed's order.
struct Group {
    good: Vec<usize>,
    bad: Vec<usize>,
}

fn groups(targets: &[Rated], tier: Tier, seeded: &mut Seeded) -> Vec<Group> {
    let mut groups: BTreeMap<GroupKey, Group> = BTreeMap::new();
    for (index, target) in targets.iter().enumerate() {
        let Some(shared) = shared(target, tier) else { continue };
        let group = groups
            .entry((target.action_type, shared))
            .or_insert_with(|| Group { good: Vec::new(), bad: Vec::new() });
        match target.liking {
            Liking::Positive => group.good.push(index),
            Liking::Negative => group.bad.push(index),
        }
    }
    let mut groups: Vec<Group> =
        groups.into_values().filter(|group| !group.good.is_empty() && !group.bad.is_empty()).collect();
    for group in &mut groups {
        seeded.shuffle(&mut group.good);
        seeded.shuffle(&mut group.bad);
    }
    seeded.shuffle(&mut groups);
    groups
}

/// What a target shares with the others of its group in a tier; the outer none: it is in no group.
fn shared(target: &Rated, tier: Tier) -> Option<Option<Vec<u8>>> {
    match tier {
        Tier::Context => target.context.map(|digest| Some(digest.0.to_vec())),
        Tier::Trace => Some(Some(target.key.trace_id.0.as_bytes().to_vec())),
        Tier::FirstUser => target.first_user.map(|digest| Some(digest.0.to_vec())),
        Tier::Rest => Some(None),
    }
}

/// The best tier of a pair.
fn tier_of(a: &Rated, b: &Rated) -> Tier {
    if a.context.is_some() && a.context == b.context {
        Tier::Context
    } else if a.key.trace_id == b.key.trace_id {
        Tier::Trace
    } else if a.first_user.is_some() && a.first_user == b.first_user {
        Tier::FirstUser
    } else {
        Tier::Rest
    }
}

fn round_robin(targets: &[Rated], tier: Tier, groups: &[Group], max_pairs: usize, pairs: &mut Vec<Pair>) {
    let rounds = groups.iter().map(|group| group.good.len().min(group.bad.len())).max().unwrap_or(0);
    for round in 0..rounds {
        for group in groups.iter().filter(|group| round < group.good.len().min(group.bad.len())) {
            let good_is_larger = group.good.len() >= group.bad.len();
            let (larger, smaller) =
                if good_is_larger { (&group.good, &group.bad) } else { (&group.bad, &group.good) };
            for (place, &one) in larger.iter().enumerate() {
                if pairs.len() >= max_pairs {
                    return;
                }
                let other = smaller[(place + round) % smaller.len()];
                let (chosen, rejected) = if good_is_larger { (one, other) } else { (other, one) };
                let (a, b) = (&targets[chosen], &targets[rejected]);
                if a.digest != b.digest && tier_of(a, b) == tier {
                    pairs.push(Pair { chosen, rejected });
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
