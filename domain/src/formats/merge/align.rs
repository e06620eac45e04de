//! Aligns a rewritten history with the thread that it was made from.

use super::mark::{Mark, MarkKind};
use std::collections::HashMap;

/// Places of one turn in the thread that are considered, the last ones. It bounds the work on texts repeated many times.
const PLACES_MAX: usize = 8;

/// Turns of the thread that are considered, from its end: at least this many, and four times the call's.
const WINDOW_MIN: usize = 1_024;

/// For each turn, where it stands in the thread, if it does: the longest choice in which all are in order.
pub(super) fn align(turns: &[Mark], thread: &[Mark]) -> Vec<Option<usize>> {
    let window = turns.len().saturating_mul(4).max(WINDOW_MIN).min(thread.len());
    let first = thread.len() - window;
    let mut places: HashMap<u128, Vec<usize>> = HashMap::new();
    for (at, mark) in thread.iter().enumerate().skip(first) {
        places.entry(mark.digest).or_default().push(at);
        if mark.call_id != 0 {
            places.entry(by_id(mark)).or_default().push(at);
        }
    }
    // Patience: `ends[n]` is the pair that ends the best chain of n + 1 pairs, the one that ends earliest in the thread.
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    let place_of = |pairs: &[(usize, usize, Option<usize>)], pair: usize| pairs.get(pair).map_or(0, |pair| pair.1);
    for (turn, mark) in turns.iter().enumerate() {
        let keys = [Some(mark.digest), (mark.call_id != 0).then(|| by_id(mark))];
        let mut found: Vec<usize> = keys
            .into_iter()
            .flatten()
            .filter_map(|key| places.get(&key))
            .flat_map(|places| places.iter().rev().take(PLACES_MAX))
            .copied()
            .filter(|at| thread.get(*at).is_some_and(|other| other.same(mark)))
            .collect();
        // Later places first, so that no chain takes two places for one turn.
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        for at in found {
            let length = ends.partition_point(|end| place_of(&pairs, *end) < at);
            let before = length.checked_sub(1).and_then(|n| ends.get(n)).copied();
            pairs.push((turn, at, before));
            match ends.get_mut(length) {
                Some(end) => *end = pairs.len() - 1,
                None => ends.push(pairs.len() - 1),
            }
        }
    }
    let mut aligned = vec![None; turns.len()];
    let mut next = ends.last().copied();
    while let Some((turn, at, before)) = next.and_then(|pair| pairs.get(pair)) {
        if let Some(slot) = aligned.get_mut(*turn) {
            *slot = Some(*at);
        }
        next = *before;
    }
    aligned
}

fn by_id(mark: &Mark) -> u128 {
    let kind = match mark.kind {
        MarkKind::Call => 1,
        MarkKind::Result => 2,
        _ => 3,
    };
    u128::from(mark.call_id) << 2 | kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Role, Step};

    fn marks(texts: &str) -> Vec<Mark> {
        let step = |content: char| Step {
            role: Role::User,
            content: content.to_string(),
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        };
        texts.chars().map(|text| Mark::of(&step(text))).collect()
    }

    #[test]
    fn the_longest_common_order_is_found() {
        let found = |turns, thread| align(&marks(turns), &marks(thread));
        assert_eq!(found("abc", "abc"), [Some(0), Some(1), Some(2)]);
        assert_eq!(found("sde", "abcde"), [None, Some(3), Some(4)]);
        assert_eq!(found("yxyz", "yxy"), [Some(0), Some(1), Some(2), None]);
        assert_eq!(found("eabc", "abce"), [None, Some(0), Some(1), Some(2)]);
        assert_eq!(found("x", ""), [None]);
    }
}
