//! Open tool calls, and the tool spans that may hold their results.
//!
//! A result belongs to the nearest open call of its id; without an id, to the first open call of its thread with its tool's
//! name, else the first. A tool span belongs to a call by id, else by tool and arguments, first come first served, if it began
//! between the call and what answered it. Its result is used only when the thread goes on, or ends, without one.

use super::mark::{short, signature};
use super::{Rebuild, SourceSpan};
use crate::formats::common::timed::stamp;
use crate::json::Object;
use crate::trace::{Role, Step};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Open calls remembered; the oldest is forgotten, and its late result keeps the id it has. Each result looks through them.
const OPEN_CALLS_MAX: usize = 1_000;

/// Bytes of results kept for open calls between two additions. Beyond, they are dropped, and a later need of one of them asks
/// to build the state again.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// What ids that are made begin with.
const MADE: &str = "stash-call-";

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Open {
    /// Its id in the merged trace.
    pub(super) id: String,
    /// Whether that id was recorded, not made here.
    given: bool,
    /// Another id under which a later call repeated it.
    alias: u64,
    pub(super) tool: String,
    signature: u128,
    pub(super) thread: u32,
    pub(super) step: u32,
    /// Start of the span that made it.
    since_ns: u64,
    /// Start of the last call of its thread that was given no result for it, and that would have taken one from a tool span.
    missed_ns: u64,
}

impl Open {
    /// Whether a recorded id names it.
    pub(super) fn is(&self, call_id: u64) -> bool {
        call_id != 0 && (self.given && short(&self.id) == call_id || self.alias == call_id)
    }
}

impl Open {
    /// What it can be known by.
    fn keys(&self) -> impl Iterator<Item = u128> {
        let id = if self.given { short(&self.id) } else { self.alias };
        [u128::from(id), self.signature].into_iter().filter(|key| *key != 0)
    }
}

/// A tool span whose call has no result yet, or is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) span: String,
    call_id: u64,
    signature: Option<u128>,
    start_ns: u64,
    pub(super) end_ns: u64,
    /// Whether a result was recorded.
    has_result: bool,
    /// The result; none if there is none or it was too large to be kept.
    result: Option<Step>,
    /// Whether its result ended the trace when it was last shown.
    shown: bool,
}

/// A call whose result came without its tool span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Unclaimed {
    call: Open,
    closed_ns: u64,
    result: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub(super) struct Tools {
    pub(super) open: Vec<Open>,
    made: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Tool spans that wait: by call id, start, span.
    by_id: BTreeSet<(u64, u64, u64)>,
    /// The same by tool and arguments.
    by_signature: BTreeSet<(u128, u64, u64)>,
    unclaimed: Vec<Unclaimed>,
    /// When a call of this id, or of this tool and arguments, was last given a tool span: start of the call that went on.
    taken_ns: BTreeMap<u128, u64>,
}

/// A result that no call was given.
pub(super) struct Missing {
    pub(super) step: Step,
    /// The step of the call that it answers.
    call: u32,
    /// Its tool span.
    key: u64,
}

/// What stands at the end of a trace until a call goes on.
pub(super) struct Tail {
    /// Results, each with its tool span, in the order in which those ended.
    pub(super) results: Vec<(String, Step)>,
    /// Tool spans that had a result there before and have none any more.
    pub(super) no_longer: Vec<String>,
}

/// What of it is stored: the indices are made again.
#[derive(Serialize, Deserialize)]
struct Kept {
    open: Vec<Open>,
    made: u64,
    waiting: Vec<Waiting>,
    unclaimed: Vec<Unclaimed>,
    taken_ns: Vec<(u128, u64)>,
}

impl From<Tools> for Kept {
    fn from(tools: Tools) -> Self {
        let (waiting, taken_ns) = (tools.waiting.into_values().collect(), tools.taken_ns.into_iter().collect());
        Self { open: tools.open, made: tools.made, waiting, unclaimed: tools.unclaimed, taken_ns }
    }
}

impl From<Kept> for Tools {
    fn from(kept: Kept) -> Self {
        let mut tools = Self { open: kept.open, made: kept.made, unclaimed: kept.unclaimed, ..Self::default() };
        tools.taken_ns = kept.taken_ns.into_iter().collect();
        kept.waiting.into_iter().for_each(|waiting| tools.wait(waiting));
        tools
    }
}

impl Tools {
    /// Takes a call that became a step; its id.
    pub(super) fn call(&mut self, step: &Step, thread: u32, number: u32, since_ns: u64) -> String {
        let given = step.tool_call_id.clone().filter(|id| !id.is_empty());
        // An id that an earlier import made is not made again for another call.
        if let Some(number) = given.as_deref().and_then(|id| id.strip_prefix(MADE)?.parse().ok()) {
            self.made = self.made.max(number);
        }
        let tool = step.tool_name.clone().unwrap_or_default();
        let signature = signature(&tool, step.tool_input.as_ref());
        let is_given = given.is_some();
        let id = given.unwrap_or_else(|| self.make());
        if self.open.len() >= OPEN_CALLS_MAX {
            self.open.remove(0);
        }
        self.open.push(Open {
            id: id.clone(),
            given: is_given,
            alias: 0,
            tool,
            signature,
            thread,
            step: number,
            since_ns,
            missed_ns: 0,
        });
        id
    }

    /// Notes that a call stands elsewhere with an id, if it had none.
    pub(super) fn alias(&mut self, step: u32, call_id: u64) {
        if let Some(open) = self.open.iter_mut().rev().find(|open| open.step == step && !open.given) {
            open.alias = call_id;
        }
    }

    /// Takes a result that became a step: its id, its tool's name if known, and the tool span that ran, if any.
    pub(super) fn result(
        &mut self,
        step: &Step,
        thread: u32,
        number: u32,
        now_ns: u64,
    ) -> (String, Option<String>, Option<String>) {
        let given = step.tool_call_id.clone().filter(|id| !id.is_empty());
        let call_id = given.as_deref().map_or(0, short);
        let Some(at) = answered_by(&self.open, call_id, step.tool_name.as_deref(), thread) else {
            return (given.unwrap_or_else(|| self.make()), None, None);
        };
        let call = self.open.remove(at);
        let (id, tool) = (call.id.clone(), call.tool.clone());
        match self.span_of(&call, now_ns).and_then(|key| self.take(key)) {
            Some(waiting) => {
                self.taken(&call, &waiting, now_ns);
                (id, Some(tool), Some(waiting.span))
            }
            None => {
                self.unclaimed.push(Unclaimed { call, closed_ns: now_ns, result: number });
                (id, Some(tool), None)
            }
        }
    }

    /// Adds a tool span; the step of its result, if that stands already.
    ///
    /// # Errors
    /// If it would have been used earlier.
    pub(super) fn add(&mut self, span: &SourceSpan) -> Result<Option<u32>, Rebuild> {
        let waiting = Waiting::of(span);
        // It might have been the better choice.
        let taken_ns = waiting.keys().filter_map(|key| self.taken_ns.get(&key)).max();
        if taken_ns.is_some_and(|taken_ns| *taken_ns >= waiting.start_ns) {
            return Err(Rebuild);
        }
        let missed = |open: &Open| {
            (open.is(waiting.call_id) || waiting.may_answer(open, u64::MAX)) && open.missed_ns >= waiting.end_ns
        };
        let calls = self.open.iter().chain(self.unclaimed.iter().map(|closed| &closed.call));
        if waiting.has_result && calls.into_iter().any(missed) {
            return Err(Rebuild);
        }
        // The first that was answered, as it would have taken the span then.
        let fits = |closed: &Unclaimed| {
            closed.call.is(waiting.call_id) && waiting.start_ns <= closed.closed_ns
                || waiting.may_answer(&closed.call, closed.closed_ns)
        };
        let at = self.unclaimed.iter().position(fits);
        if let Some(at) = at {
            let closed = self.unclaimed.remove(at);
            self.taken(&closed.call, &waiting, closed.closed_ns);
            return Ok(Some(closed.result));
        }
        self.wait(waiting);
        Ok(None)
    }

    fn wait(&mut self, waiting: Waiting) {
        let key = short(&waiting.span);
        if waiting.call_id != 0 {
            self.by_id.insert((waiting.call_id, waiting.start_ns, key));
        }
        if let Some(signature) = waiting.signature {
            self.by_signature.insert((signature, waiting.start_ns, key));
        }
        self.waiting.insert(key, waiting);
    }

    /// The tool span that ran a call, if it began by a time; its key.
    fn span_of(&self, call: &Open, until_ns: u64) -> Option<u64> {
        let ids = [if call.given { short(&call.id) } else { 0 }, call.alias];
        let by_id = ids
            .into_iter()
            .filter(|id| *id != 0)
            .find_map(|id| self.by_id.range((id, 0, 0)..=(id, until_ns, u64::MAX)).next().map(|(_, _, key)| *key));
        by_id.or_else(|| {
            let range = (call.signature, call.since_ns, 0)..=(call.signature, u64::MAX, u64::MAX);
            let fits = |key: &u64| self.waiting.get(key).is_some_and(|waiting| waiting.may_answer(call, until_ns));
            self.by_signature.range(range).map(|(_, _, key)| *key).take(OPEN_CALLS_MAX).find(fits)
        })
    }

    fn take(&mut self, key: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&key)?;
        self.by_id.remove(&(waiting.call_id, waiting.start_ns, key));
        if let Some(signature) = waiting.signature {
            self.by_signature.remove(&(signature, waiting.start_ns, key));
        }
        Some(waiting)
    }

    /// Notes that a call was given a tool span.
    fn taken(&mut self, call: &Open, waiting: &Waiting, now_ns: u64) {
        for key in waiting.keys().chain(call.keys()) {
            let taken_ns = self.taken_ns.entry(key).or_insert(0);
            *taken_ns = (*taken_ns).max(now_ns);
        }
    }

    /// Whether any open call of a thread has a result in a tool span that ended by a time.
    pub(super) fn has_results(&self, thread: u32, until_ns: u64) -> bool {
        self.open.iter().filter(|open| open.thread == thread).any(|open| self.ready(open, until_ns).is_some())
    }

    /// Notes that a call which began then would have gone on with this thread, had a tool span given a result.
    pub(super) fn missed(&mut self, thread: u32, until_ns: u64) {
        for open in self.open.iter_mut().filter(|open| open.thread == thread) {
            open.missed_ns = open.missed_ns.max(until_ns);
        }
    }

    /// The tool span of a call that has a result and ended by a time.
    fn ready(&self, open: &Open, until_ns: u64) -> Option<u64> {
        let key = self.span_of(open, until_ns)?;
        self.waiting.get(&key).filter(|waiting| waiting.has_result && waiting.end_ns <= until_ns).map(|_| key)
    }

    /// Results from tool spans for the open calls of a thread that these new turns do not answer, in the order in which they
    /// ended.
    pub(super) fn missing(&mut self, thread: u32, until_ns: u64, turns: &[&Step]) -> Result<Vec<Missing>, Rebuild> {
        if !self.open.iter().any(|open| open.thread == thread) {
            return Ok(Vec::new());
        }
        let mut left = self.open.clone();
        for step in turns {
            let call_id = step.tool_call_id.as_deref().filter(|id| !id.is_empty()).map_or(0, short);
            match (step.role, &step.tool_name) {
                (Role::Tool, tool) => {
                    if let Some(at) = answered_by(&left, call_id, tool.as_deref(), thread) {
                        left.remove(at);
                    }
                }
                (_, Some(tool)) => {
                    let (tool, id) = (tool.clone(), step.tool_call_id.clone().unwrap_or_default());
                    let given = !id.is_empty();
                    let (alias, signature, step, since_ns, missed_ns) = (0, 0, u32::MAX, u64::MAX, 0);
                    left.push(Open { id, given, alias, tool, signature, thread, step, since_ns, missed_ns });
                }
                _ => {}
            }
        }
        let left: BTreeSet<u32> = left.iter().map(|open| open.step).collect();
        let mut found: Vec<(u32, u64)> = Vec::new();
        for open in self.open.iter_mut().filter(|open| open.thread == thread && left.contains(&open.step)) {
            open.missed_ns = open.missed_ns.max(until_ns);
        }
        for open in self.open.iter().filter(|open| open.thread == thread && left.contains(&open.step)) {
            if let Some(key) = self.ready(open, until_ns)
                && !found.iter().any(|(_, other)| *other == key)
            {
                found.push((open.step, key));
            }
        }
        let mut results = Vec::new();
        for (call, key) in found {
            let Some(waiting) = self.waiting.get(&key) else { continue };
            let step = waiting.result.clone().ok_or(Rebuild)?;
            results.push(((waiting.end_ns, waiting.start_ns, key), Missing { step, call, key }));
        }
        results.sort_by_key(|(order, _)| *order);
        Ok(results.into_iter().map(|(_, missing)| missing).collect())
    }

    /// Takes a missing result that becomes a step: its call's id and tool, and its span.
    pub(super) fn fill(&mut self, missing: &Missing, now_ns: u64) -> Option<(String, String, String)> {
        let at = self.open.iter().position(|open| open.step == missing.call)?;
        let waiting = self.take(missing.key)?;
        let call = self.open.remove(at);
        self.taken(&call, &waiting, now_ns);
        Some((call.id, call.tool, waiting.span))
    }

    /// Results of calls that are open at the end, from their tool spans.
    pub(super) fn tail(&mut self) -> Result<Tail, Rebuild> {
        let mut used: BTreeSet<u64> = BTreeSet::new();
        let mut tail = Vec::new();
        for open in &self.open {
            let Some(key) = self.ready(open, u64::MAX).filter(|key| used.insert(*key)) else { continue };
            let Some(waiting) = self.waiting.get(&key) else { continue };
            let step = waiting.result.clone().ok_or(Rebuild)?;
            let tool_name = step.tool_name.clone().or_else(|| Some(open.tool.clone()));
            let step = Step { tool_call_id: Some(open.id.clone()), tool_name, ..step };
            tail.push(((waiting.end_ns, waiting.start_ns, key), (waiting.span.clone(), step)));
        }
        tail.sort_by_key(|(order, _)| *order);
        let mut no_longer = Vec::new();
        let (mut bytes, mut all) = (0_usize, Vec::new());
        for (key, waiting) in &mut self.waiting {
            let shown = used.contains(key);
            if waiting.shown && !shown {
                no_longer.push(waiting.span.clone());
            }
            waiting.shown = shown;
            bytes = bytes.saturating_add(waiting.result.as_ref().map_or(0, |step| step.content.len()));
            all.push(&mut waiting.result);
        }
        if bytes > WAITING_BYTES_MAX {
            all.into_iter().for_each(|result| *result = None);
        }
        Ok(Tail { results: tail.into_iter().map(|(_, result)| result).collect(), no_longer })
    }

    /// An id that depends on nothing but the number of those made before, so that a re-import makes the same.
    fn make(&mut self) -> String {
        self.made = self.made.saturating_add(1);
        format!("{MADE}{}", self.made)
    }
}

/// The open call that a result answers.
fn answered_by(calls: &[Open], call_id: u64, tool: Option<&str>, thread: u32) -> Option<usize> {
    if call_id != 0
        && let Some(at) = calls.iter().rposition(|open| open.is(call_id))
    {
        return Some(at);
    }
    // A result with an id can still answer a call that was recorded without.
    let free = |open: &Open| call_id == 0 || !open.given && open.alias == 0;
    let named = |open: &Open| free(open) && tool == Some(open.tool.as_str());
    let here = |open: &Open| open.thread == thread;
    let find = |rule: &dyn Fn(&Open) -> bool| calls.iter().position(rule);
    find(&|open| here(open) && named(open))
        .or_else(|| find(&|open| here(open) && free(open) && (call_id == 0 || tool.is_none())))
        .or_else(|| find(&|open| named(open)))
        .or_else(|| if call_id == 0 && tool.is_none() { find(&free) } else { None })
}

impl Waiting {
    /// What its call can be known by.
    fn keys(&self) -> impl Iterator<Item = u128> + use<> {
        [u128::from(self.call_id), self.signature.unwrap_or(0)].into_iter().filter(|key| *key != 0)
    }

    fn of(span: &SourceSpan) -> Self {
        let tool = span.tool.as_deref().cloned().unwrap_or_default();
        let signature = tool.name.as_deref().map(|name| signature(name, tool.input.as_ref()));
        let result = tool.result.map(|content| {
            let metadata = tool.is_error.then(|| Object::of("is_error", true));
            let tool_name = tool.name;
            let mut step =
                Step { role: Role::Tool, content, tool_name, tool_input: None, tool_call_id: None, metadata };
            stamp(&mut step, span.end_ns);
            step
        });
        Self {
            span: span.id.clone(),
            call_id: tool.call_id.as_deref().filter(|id| !id.is_empty()).map_or(0, short),
            signature,
            start_ns: span.start_ns,
            end_ns: span.end_ns.max(span.start_ns),
            has_result: result.is_some(),
            result,
            shown: false,
        }
    }

    /// Whether it may have run a call of its tool and arguments that was answered at a time.
    fn may_answer(&self, call: &Open, closed_ns: u64) -> bool {
        self.signature == Some(call.signature)
            && (self.call_id == 0 || !call.given)
            && self.start_ns >= call.since_ns
            && self.start_ns <= closed_ns
    }
}
