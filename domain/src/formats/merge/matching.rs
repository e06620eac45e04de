//! Which thread a call goes on with, and which of its turns stand there already.
//!
//! 1. The thread that shares the longest beginning with the input. If the input holds all of it, the call goes on with it. If it
//!    departs from it, an agent's own history was rewritten where later turns are known again; else it is a branch.
//! 2. Else a thread whose end the input begins with.
//! 3. Else the thread with the open call whose result the input begins with.
//! 4. Else a thread of the agent that the input is a rewritten form of: it holds something that only the thread's past can be.
//! 5. Else all of the input is new.

use super::align::align;
use super::mark::{Mark, MarkKind};
use super::state::MergeState;
use super::threads::Thread;

/// Threads of an agent that are tried in step 4, the ones used last.
const REWRITTEN_MAX: usize = 4;

/// Places at which step 2 looks for the beginning of the input in one thread.
const OVERLAPS_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The call's new turns follow this thread.
    Continue(u32),
    /// The thread is from now on what the call was given.
    Rewrite(u32),
    /// A thread of its own.
    Fork,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) target: Target,
    /// For each turn of the input, the mark that it stands under already; turns beyond the end are new.
    pub(super) known: Vec<Option<Mark>>,
    /// Threads that became part of the target.
    pub(super) joined: Vec<u32>,
    /// Whether the agent was given a part of its history only.
    pub(super) delta: bool,
    /// The thread that would have gone on, had a tool span given a result.
    pub(super) missed: Option<u32>,
}

impl Plan {
    fn new(target: Target, known: impl IntoIterator<Item = Mark>) -> Self {
        Self { target, known: known.into_iter().map(Some).collect(), joined: Vec::new(), delta: false, missed: None }
    }
}

/// Length of the beginning that a thread and turns share.
pub(super) fn shared(thread: &[Mark], turns: &[Mark]) -> usize {
    let alike = |(old, new): &(&Mark, &Mark)| old.same(new) || old.yields_to(new) || new.yields_to(old);
    thread.iter().zip(turns).take_while(alike).count()
}

/// Plans for a call of an agent, of this start, with these turns of input.
pub(super) fn plan(state: &MergeState, agent: u64, start_ns: u64, turns: &[Mark]) -> Plan {
    let threads = &state.threads;
    let newest = threads.newest_of(agent);
    if turns.is_empty() {
        let target = newest.map_or(Target::Fork, |thread| Target::Continue(thread.number));
        return Plan::new(target, []);
    }
    let rank = |thread: &Thread| (shared(&thread.marks, turns), thread.agent == agent, thread.used);
    let best = threads.list.iter().max_by_key(|thread| rank(thread));
    if let Some(thread) = best {
        let length = shared(&thread.marks, turns);
        if length > 0 {
            return with_beginning(state, agent, thread, length, turns);
        }
    }
    if let Some((thread, length)) = with_end(state, agent, turns) {
        let known = thread.marks.iter().skip(thread.marks.len() - length).copied();
        return Plan::new(Target::Continue(thread.number), known);
    }
    let fresh = Plan { delta: newest.is_some(), ..Plan::new(Target::Fork, []) };
    if let Some(first) = turns.first().filter(|first| first.kind == MarkKind::Result) {
        let by_id = state.tools.open.iter().rev().find(|open| open.is(first.call_id)).map(|open| open.thread);
        let here = newest
            .map(|thread| thread.number)
            .filter(|number| state.tools.open.iter().any(|open| open.thread == *number));
        let thread = by_id.filter(|number| threads.get(*number).is_some()).or(here);
        if let Some(number) = thread {
            return Plan { target: Target::Continue(number), ..fresh };
        }
    }
    let mut own: Vec<&Thread> = threads.list.iter().filter(|thread| thread.agent == agent).collect();
    own.sort_by_key(|thread| std::cmp::Reverse(thread.used));
    for thread in own.into_iter().take(REWRITTEN_MAX) {
        let known = marks_of(align(turns, &thread.marks), &thread.marks);
        let past = |mark: &Mark| match mark.kind {
            MarkKind::Text => true,
            MarkKind::Call | MarkKind::Result => mark.call_id != 0,
            MarkKind::User | MarkKind::System => false,
        };
        if known.iter().flatten().any(past) {
            return Plan { known, ..Plan::new(Target::Rewrite(thread.number), []) };
        }
    }
    match newest {
        Some(thread) if state.tools.has_results(thread.number, start_ns) => {
            Plan { target: Target::Continue(thread.number), ..fresh }
        }
        _ => Plan { missed: newest.map(|thread| thread.number), ..fresh },
    }
}

/// The thread shares a beginning with the turns.
fn with_beginning(state: &MergeState, agent: u64, thread: &Thread, length: usize, turns: &[Mark]) -> Plan {
    let beginning = || thread.marks.iter().take(length).copied();
    if length == thread.marks.len() {
        return with_all_of(state, agent, thread, turns);
    }
    if length == turns.len() {
        // The loop of an agent that repeats its prompt only, a new turn of one that is given new turns only, or a second answer.
        let next = thread.marks.get(length).map_or(0, |mark| mark.step);
        if state.tools.open.iter().any(|open| open.thread == thread.number && open.step >= next) {
            return Plan::new(Target::Continue(thread.number), beginning());
        }
        if thread.agent == agent && state.deltas.contains(&agent) {
            return Plan { delta: true, ..Plan::new(Target::Fork, []) };
        }
        return Plan::new(Target::Fork, beginning());
    }
    let own = |other: &&Thread| other.agent == agent && shared(&other.marks, turns) > 0;
    let own =
        if thread.agent == agent { Some(thread) } else { state.threads.list.iter().filter(own).max_by_key(|t| t.used) };
    if let Some(own) = own {
        let length = shared(&own.marks, turns);
        let (turns_left, thread_left) = (turns.get(length..).unwrap_or(&[]), own.marks.get(length..).unwrap_or(&[]));
        let known = marks_of(align(turns_left, thread_left), thread_left);
        if known.iter().any(Option::is_some) {
            let mut plan = Plan::new(Target::Rewrite(own.number), own.marks.iter().take(length).copied());
            plan.known.extend(known);
            return plan;
        }
    }
    Plan::new(Target::Fork, beginning())
}

/// The turns hold all of the thread; what follows may hold all of others, that were begun by parts of the history.
fn with_all_of(state: &MergeState, agent: u64, thread: &Thread, turns: &[Mark]) -> Plan {
    let mut plan = Plan::new(Target::Continue(thread.number), thread.marks.iter().copied());
    loop {
        let left = turns.get(plan.known.len()..).unwrap_or(&[]);
        let next = state.threads.list.iter().find(|other| {
            let fresh = other.number != thread.number && !plan.joined.contains(&other.number);
            let whole = !other.marks.is_empty() && shared(&other.marks, left) == other.marks.len();
            fresh && whole && other.agent == agent
        });
        let Some(next) = next else { return plan };
        plan.known.extend(next.marks.iter().copied().map(Some));
        plan.joined.push(next.number);
        plan.target = Target::Rewrite(thread.number);
    }
}

/// The thread whose end is the longest beginning of the turns. Another agent's must share two turns: one may be chance.
fn with_end<'s>(state: &'s MergeState, agent: u64, turns: &[Mark]) -> Option<(&'s Thread, usize)> {
    let found = |thread: &'s Thread| {
        let first = thread.marks.len().saturating_sub(turns.len());
        let mut starts = (first..thread.marks.len())
            .filter(|at| thread.marks.get(*at).zip(turns.first()).is_some_and(|(old, new)| old.same(new)))
            .take(OVERLAPS_MAX);
        let end = starts.find(|at| {
            let end = thread.marks.get(*at..).unwrap_or(&[]);
            shared(end, turns) == end.len()
        })?;
        let length = thread.marks.len() - end;
        (thread.agent == agent || length > 1).then_some((thread, length))
    };
    let rank = |(thread, length): &(&Thread, usize)| (thread.agent == agent, *length, thread.used);
    state.threads.list.iter().filter_map(found).max_by_key(rank)
}

fn marks_of(aligned: Vec<Option<usize>>, thread: &[Mark]) -> Vec<Option<Mark>> {
    aligned.into_iter().map(|at| at.and_then(|at| thread.get(at)).copied()).collect()
}
