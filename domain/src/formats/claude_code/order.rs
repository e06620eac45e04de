//! The order of the steps: the chain, and what belongs to it but hangs off it.
//!
//! 1. Calls made in parallel fork the chain. Further lines of a message on the chain come after its last line there (and after
//!    the results behind that which stand before them in the file). Then come results of its calls, after all of the message
//!    that stands before them in the file. Both by time.
//! 2. A prompt given while the agent was at work comes in by time, or by its place in the file if it has none. It is left out
//!    if it hangs on something that was taken back.

use super::chain::Chain;
use super::entry::{Entry, Kind};
use super::index::Index;
use super::names::Name;
use std::collections::{BTreeMap, BTreeSet};

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The entry of this number.
    Entry(usize),
    /// The waiting prompt of this number.
    Waiting(usize),
}

/// Something that comes in before the entry at a place of the sequence.
struct Inserted {
    slot: usize,
    /// Lines of messages, then results, then prompts.
    phase: u8,
    time: Option<i64>,
    item: Item,
    /// Place in the file.
    order: usize,
}

/// Puts everything in order.
pub(super) fn order(index: &Index, chain: &Chain) -> Vec<Item> {
    let mut inserted = if chain.is_file_order { Vec::new() } else { forks(index, chain) };
    prompts(index, chain, &mut inserted);
    inserted.sort_by_key(|one| (one.slot, one.phase, one.time, one.order));
    let mut inserted = inserted.into_iter().peekable();
    let mut items = Vec::new();
    for slot in 0..=chain.sequence.len() {
        while let Some(one) = inserted.next_if(|one| one.slot <= slot) {
            items.push(one.item);
        }
        items.extend(chain.sequence.get(slot).map(|at| Item::Entry(*at)));
    }
    items
}

/// Lines and results that belong to messages on the chain.
fn forks(index: &Index, chain: &Chain) -> Vec<Inserted> {
    let entries = &index.entries;
    let is_off =
        |at: usize, entry: &Entry| !chain.on[at] && index.is_main(entry) && !entry.dropped && entry.uuid.is_some();
    // Behind each line of each message on the chain: its slot, by the number of the line.
    let mut ends: BTreeMap<Name, BTreeMap<usize, usize>> = BTreeMap::new();
    // The message of each call, on the chain or beside it, and the slot behind it.
    let mut calls: BTreeMap<Name, (Option<Name>, usize)> = BTreeMap::new();
    let mut answered: BTreeSet<Name> = BTreeSet::new();
    for (slot, at) in chain.sequence.iter().enumerate() {
        let entry = &entries[*at];
        if entry.dropped {
            continue;
        }
        answered.extend(entry.answers.iter().copied());
        calls.extend(entry.calls.iter().map(|call| (*call, (entry.message, slot + 1))));
        if let Some(message) = entry.message {
            ends.entry(message).or_default().insert(*at, slot + 1);
        }
    }
    let mut inserted = Vec::new();
    let mut behind: BTreeMap<Name, usize> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(message) = entry.message.filter(|_| is_off(at, entry)) else { continue };
        let Some((_, last)) = ends.get(&message).and_then(BTreeMap::last_key_value) else { continue };
        // Lines come in the order of the file, so that the end of their message only moves on.
        let end = behind.entry(message).or_insert(*last);
        while chain.sequence.get(*end).is_some_and(|next| *next < at && is_result(&entries[*next])) {
            *end += 1;
        }
        let slot = *end;
        for call in &entry.calls {
            calls.entry(*call).or_insert((Some(message), slot));
        }
        inserted.push(Inserted { slot, phase: 0, time: entry.time, item: Item::Entry(at), order: at });
    }
    // A result comes behind its call and whatever of the call's message stands before it in the file.
    let behind_call = |at: usize, call: &Name| {
        let (message, slot) = calls.get(call)?;
        let ends = message.and_then(|message| ends.get(&message));
        let end = ends.and_then(|ends| ends.range(..at).next_back()).map_or(0, |(_, end)| *end);
        Some(end.max(*slot))
    };
    for (at, entry) in entries.iter().enumerate() {
        if entry.kind != Kind::User || !is_off(at, entry) || entry.answers.iter().any(|call| answered.contains(call)) {
            continue;
        }
        if let Some(slot) = entry.answers.iter().filter_map(|call| behind_call(at, call)).max() {
            answered.extend(entry.answers.iter().copied());
            inserted.push(Inserted { slot, phase: 1, time: entry.time, item: Item::Entry(at), order: at });
        }
    }
    inserted
}

/// Whether a line only answers calls, or says nothing at all.
fn is_result(entry: &Entry) -> bool {
    entry.kind == Kind::Link || entry.kind == Kind::User && !entry.answers.is_empty() && !entry.says
}

/// Prompts that are not on the chain.
fn prompts(index: &Index, chain: &Chain, inserted: &mut Vec<Inserted>) {
    // The latest time and the greatest number so far: both only grow, so that a place can be searched for.
    let (mut times, mut numbers) = (Vec::new(), Vec::new());
    let (mut time, mut number) = (i64::MIN, 0);
    for at in &chain.sequence {
        time = time.max(index.entries[*at].time.unwrap_or(time));
        number = number.max(*at);
        times.push(time);
        numbers.push(number);
    }
    let slot = |time: Option<i64>, before: usize| match time {
        Some(time) if !chain.is_file_order => times.partition_point(|other| *other <= time),
        _ => numbers.partition_point(|other| *other < before),
    };
    let hangs = hang_on_chain(index, chain);
    for (at, entry) in index.entries.iter().enumerate() {
        if chain.on[at] || entry.dropped || !index.is_main(entry) {
            continue;
        }
        let is_prompt = match entry.kind {
            Kind::Queued | Kind::Command => entry.uuid.is_none() || hangs[at],
            Kind::User | Kind::Assistant => entry.uuid.is_none(),
            Kind::Link => false,
        };
        if is_prompt {
            let by_time = matches!(entry.kind, Kind::Queued | Kind::Command);
            let slot = slot(entry.time.filter(|_| by_time), at);
            inserted.push(Inserted { slot, phase: 2, time: entry.time, item: Item::Entry(at), order: at });
        }
    }
    for (number, waiting) in index.waiting.iter().enumerate() {
        let (before, time) = (waiting.entries_before, waiting.time);
        let item = Item::Waiting(number);
        inserted.push(Inserted { slot: slot(time, before), phase: 2, time, item, order: before });
    }
}

/// Of each entry, whether the first line at or above it that somebody said is on the chain, or there is none: then nothing
/// above it was taken back.
fn hang_on_chain(index: &Index, chain: &Chain) -> Vec<bool> {
    let said = |at: usize| {
        let entry = &index.entries[at];
        matches!(entry.kind, Kind::User | Kind::Assistant) && !entry.dropped
    };
    let mut known: Vec<Option<bool>> = vec![None; index.entries.len()];
    let mut open = Vec::new();
    for start in 0..known.len() {
        let mut next = Some(start);
        let mut verdict = true;
        while let Some(at) = next {
            open.push(at);
            if let Some(before) = known[at] {
                verdict = before;
                break;
            }
            if chain.on[at] || said(at) {
                verdict = chain.on[at];
                break;
            }
            next = chain.parents[at];
        }
        open.drain(..).for_each(|at| known[at] = Some(verdict));
    }
    known.into_iter().map(|verdict| verdict.unwrap_or(true)).collect()
}
