//! Which lines are the conversation: for each root, the way from it to its leaf.
//!
//! 1. A line hangs on its parent. Where a compaction cut the chain, it hangs on the logical parent. If neither is in the file,
//!    on the line of the conversation before it. A circle begins with its first line in the file.
//! 2. A leaf is a line of the person or the agent with none of theirs below it. Of the leaves of a root the last in the file
//!    counts whose way holds an answer of the agent; if none has one, the last. What hangs elsewhere was taken back.
//! 3. If no line has a parent there is no chain, and the order is that of the file.

use super::entry::{Entry, Kind};
use super::index::Index;
use std::collections::BTreeMap;

/// The conversation, as numbers of entries.
pub(super) struct Chain {
    /// The ways of all roots, one after another.
    pub(super) sequence: Vec<usize>,
    /// Whether an entry is among them.
    pub(super) on: Vec<bool>,
    /// What each entry hangs on.
    pub(super) parents: Vec<Option<usize>>,
    /// Whether it is the order of the file.
    pub(super) is_file_order: bool,
}

/// Finds the conversation.
pub(super) fn chain(index: &Index) -> Chain {
    let entries = &index.entries;
    let is_file_order = !entries
        .iter()
        .any(|entry| index.is_main(entry) && entry.uuid.is_some() && entry.parent.or(entry.logical).is_some());
    let mut parents = parents(index);
    cut_circles(&mut parents);
    let sequence = if is_file_order {
        (0..entries.len()).filter(|at| index.is_main(&entries[*at])).collect()
    } else {
        let mut sequence = Vec::new();
        for leaf in leaves(index, &parents).into_values() {
            let begin = sequence.len();
            let way = std::iter::successors(Some(leaf), |at| parents[*at]);
            sequence.extend(way.filter(|at| index.is_main(&entries[*at])));
            sequence[begin..].reverse();
        }
        sequence
    };
    let mut on = vec![false; entries.len()];
    sequence.iter().for_each(|at| on[*at] = true);
    Chain { sequence, on, parents, is_file_order }
}

fn parents(index: &Index) -> Vec<Option<usize>> {
    let mut before = None;
    let mut parents = Vec::with_capacity(index.entries.len());
    for (at, entry) in index.entries.iter().enumerate() {
        let names = [entry.parent, entry.logical];
        let found = names.into_iter().flatten().find_map(|name| index.by_uuid.get(&name).copied());
        let is_main = index.is_main(entry);
        let is_lost = names.iter().any(Option::is_some) && is_main;
        parents.push(found.filter(|parent| *parent != at).or(if is_lost { before } else { None }));
        if is_main {
            before = Some(at);
        }
    }
    parents
}

/// Makes the first line in the file of each circle a root.
fn cut_circles(parents: &mut [Option<usize>]) {
    // The number of the walk that came by first, from 1.
    let mut walks = vec![0; parents.len()];
    for start in 0..parents.len() {
        let (walk, mut at) = (start + 1, start);
        while walks[at] == 0 {
            walks[at] = walk;
            match parents[at] {
                Some(parent) if walks[parent] == walk => {
                    let around = std::iter::successors(parents[parent], |at| parents[*at]);
                    let first = around.take_while(|at| *at != parent).fold(parent, usize::min);
                    parents[first] = None;
                }
                Some(parent) => at = parent,
                None => {}
            }
        }
    }
}

/// Whether the line is one of the person or the agent in the conversation.
fn speaks(index: &Index, entry: &Entry) -> bool {
    matches!(entry.kind, Kind::User | Kind::Assistant) && !entry.dropped && index.is_main(entry)
}

/// The leaf of each root.
fn leaves(index: &Index, parents: &[Option<usize>]) -> BTreeMap<usize, usize> {
    let entries = &index.entries;
    let mut is_covered = vec![false; entries.len()];
    for (at, entry) in entries.iter().enumerate() {
        let mut above = parents[at].filter(|_| speaks(index, entry));
        while let Some(parent) = above.filter(|parent| !is_covered[*parent]) {
            is_covered[parent] = true;
            above = parents[parent];
        }
    }
    let ways = ways(index, parents);
    let mut leaves: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if !speaks(index, entry) || is_covered[at] {
            continue;
        }
        let (root, is_answered) = ways[at];
        match leaves.get(&root) {
            Some(best) if !is_answered && ways[*best].1 => {}
            _ => {
                leaves.insert(root, at);
            }
        }
    }
    leaves
}

/// The root of each entry, and whether the agent answers on the way to it.
fn ways(index: &Index, parents: &[Option<usize>]) -> Vec<(usize, bool)> {
    let mut ways: Vec<Option<(usize, bool)>> = vec![None; parents.len()];
    let mut open = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        let mut above = None;
        while let Some(at) = next {
            above = ways[at];
            if above.is_some() {
                break;
            }
            open.push(at);
            next = parents[at];
        }
        while let Some(at) = open.pop() {
            let entry = &index.entries[at];
            let answers = entry.kind == Kind::Assistant && speaks(index, entry);
            let (root, is_answered) = above.unwrap_or((at, false));
            above = Some((root, is_answered || answers));
            ways[at] = above;
        }
    }
    ways.into_iter().enumerate().map(|(at, way)| way.unwrap_or((at, false))).collect()
}
