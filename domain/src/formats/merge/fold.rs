//! Adds one call to a trace.

use super::mark::{Mark, MarkKind, short};
use super::matching::{Plan, Target, plan, shared};
use super::order::Key;
use super::state::MergeState;
use super::tools::Missing;
use super::{Rebuild, SourceSpan};
use crate::trace::{Role, Step};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Calls remembered that may still run when another begins.
const ACTIVE_MAX: usize = 64;

/// What is added in one go: steps from `base` on, and the steps of each span.
pub(super) struct Fold<'s> {
    pub(super) state: &'s mut MergeState,
    pub(super) base: u32,
    pub(super) steps: Vec<Step>,
    pub(super) indices: BTreeMap<String, Vec<u32>>,
}

/// Where a span stands in the order of calls.
pub(super) fn key_of(span: &SourceSpan) -> Key {
    Key {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        order: span.order.clone(),
        turns: span.input.len(),
        id: span.id.clone(),
    }
}

/// A turn on its way to be a step.
struct Turn {
    step: Step,
    mark: Mark,
    is_answer: bool,
}

impl Fold<'_> {
    /// Adds a call, the next one in order.
    pub(super) fn call(&mut self, mut span: SourceSpan) -> Result<(), Rebuild> {
        drop_unusable_ids(&mut span);
        self.answers_by_role(&mut span);
        let id = short(&span.id);
        let agent = self.state.tree.agent_of(id);
        let turns: Vec<Turn> = [(span.input, false), (span.output, true)]
            .into_iter()
            .flat_map(|(steps, is_answer)| steps.into_iter().map(move |step| (step, is_answer)))
            .filter(|(step, _)| is_something(step))
            .map(|(step, is_answer)| Turn { mark: Mark::of(&step), step, is_answer })
            .collect();
        let marks = |answers: bool| -> Vec<Mark> {
            let spoken = turns.iter().filter(|turn| turn.mark.kind != MarkKind::System);
            spoken.filter(|turn| answers || !turn.is_answer).map(|turn| turn.mark).collect()
        };
        let input = marks(false);
        let parent = span.parent.as_deref().map_or(0, short);
        let recorded_twice = self.recorded_twice(parent, span.start_ns, input.len(), &marks(true));
        let plan = recorded_twice.unwrap_or_else(|| plan(self.state, agent, span.start_ns, &input));
        if let Some(thread) = plan.missed {
            self.state.tools.missed(thread, span.start_ns);
        }
        if plan.delta {
            self.state.deltas.insert(agent);
        }
        let times = (span.start_ns, span.end_ns);
        let added = self.take(plan, agent, turns, times, &span.facts)?;
        if !added.is_empty() {
            self.indices.insert(span.id, added);
        }
        self.state.active.push((parent, span.end_ns));
        if self.state.active.len() > ACTIVE_MAX {
            self.state.active.remove(0);
        }
        self.state.tree.merged(id);
        Ok(())
    }

    /// What speaks under the name of an open call's tool is that tool's result.
    fn answers_by_role(&self, span: &mut SourceSpan) {
        for step in span.input.iter_mut().filter(|step| step.role == Role::User) {
            let Some(metadata) = step.metadata.as_mut() else { continue };
            let Some(tool) = metadata.get("original_role").and_then(Value::as_str).map(str::to_owned) else { continue };
            if self.state.tools.open.iter().any(|open| open.tool == tool) {
                metadata.remove("original_role");
                step.role = Role::Tool;
                step.tool_name = Some(tool);
            }
        }
    }

    /// A call recorded twice: one beside it still ran when it began, and a thread holds all that either of them says.
    fn recorded_twice(&mut self, parent: u64, start_ns: u64, input: usize, all: &[Mark]) -> Option<Plan> {
        self.state.active.retain(|(_, end_ns)| *end_ns > start_ns);
        if all.len() <= input || !self.state.active.iter().any(|(beside, _)| *beside == parent) {
            return None;
        }
        let thread = self.state.threads.list.iter().max_by_key(|thread| (shared(&thread.marks, all), thread.used))?;
        let length = shared(&thread.marks, all);
        let twice = length > input && (length == all.len() || length == thread.marks.len());
        let known = thread.marks.iter().take(length).copied().map(Some).collect();
        twice.then(|| Plan {
            target: Target::Continue(thread.number),
            known,
            joined: Vec::new(),
            delta: false,
            missed: None,
        })
    }

    /// Makes steps of the turns that are new, as planned; their indices.
    fn take(
        &mut self,
        plan: Plan,
        agent: u64,
        turns: Vec<Turn>,
        (start_ns, end_ns): (u64, u64),
        facts: &Map<String, Value>,
    ) -> Result<Vec<u32>, Rebuild> {
        let (number, goes_on) = match plan.target {
            Target::Continue(number) | Target::Rewrite(number) => (number, true),
            Target::Fork => (self.state.threads.begin(agent), false),
        };
        self.join(&plan, number);
        let known: Vec<Option<Mark>> = plan.known;
        let is_new = |at: usize| known.get(at).copied().flatten().is_none();
        let mut results = Vec::new();
        if goes_on {
            let spoken = turns.iter().filter(|turn| turn.mark.kind != MarkKind::System).enumerate();
            let fresh: Vec<&Step> = spoken.filter(|(at, _)| is_new(*at)).map(|(_, turn)| &turn.step).collect();
            results = self.state.tools.missing(number, start_ns, &fresh)?;
        }
        let mut added = Vec::new();
        let mut marks = Vec::new();
        let mut at = 0;
        for turn in turns {
            let time_ns = if turn.is_answer { end_ns } else { start_ns };
            if turn.mark.kind == MarkKind::System {
                if self.state.system.insert(turn.mark.digest) {
                    added.push(self.step(turn.step, 0, time_ns, start_ns).step);
                }
                continue;
            }
            let found = known.get(at).copied().flatten();
            at += 1;
            if let Some(old) = found {
                let mark = self.again(old, turn, number, start_ns)?;
                if plan.target != Target::Continue(number) {
                    marks.push(mark);
                }
                continue;
            }
            for missing in std::mem::take(&mut results) {
                marks.extend(self.tool_result(missing, start_ns));
            }
            let mut step = turn.step;
            if turn.is_answer && step.role == Role::Assistant && !facts.is_empty() {
                let metadata = step.metadata.get_or_insert_default();
                for (name, fact) in facts {
                    metadata.entry(name).or_insert_with(|| fact.clone());
                }
            }
            let mark = self.step(step, number, time_ns, start_ns);
            added.push(mark.step);
            marks.push(mark);
        }
        if let Some(thread) = self.state.threads.get_mut(number) {
            match plan.target {
                Target::Continue(_) => thread.marks.append(&mut marks),
                Target::Rewrite(_) | Target::Fork => thread.marks = marks,
            }
        }
        self.state.threads.went_on(number);
        Ok(added)
    }

    /// Makes the joined threads part of the one that goes on.
    fn join(&mut self, plan: &Plan, number: u32) {
        self.state.threads.list.retain(|thread| !plan.joined.contains(&thread.number));
        for open in self.state.tools.open.iter_mut().filter(|open| plan.joined.contains(&open.thread)) {
            open.thread = number;
        }
    }

    /// A turn that stands already. If it is better recorded here, the step becomes this one.
    fn again(&mut self, old: Mark, turn: Turn, thread: u32, start_ns: u64) -> Result<Mark, Rebuild> {
        if !old.yields_to(&turn.mark) {
            if old.call_id == 0 && turn.mark.call_id != 0 && old.kind == MarkKind::Call {
                self.state.tools.alias(old.step, turn.mark.call_id);
                let known = Mark { call_id: turn.mark.call_id, ..old };
                self.replace_mark(old, known);
                return Ok(known);
            }
            return Ok(old);
        }
        let place = old.step.checked_sub(self.base).and_then(|place| usize::try_from(place).ok()).ok_or(Rebuild)?;
        let mut step = turn.step;
        let held = self.steps.get(place).ok_or(Rebuild)?;
        match old.kind {
            MarkKind::Text if turn.mark.kind == MarkKind::Call => {
                let id = self.state.tools.call(&step, thread, old.step, start_ns);
                step.tool_call_id = Some(id);
            }
            _ => step.tool_call_id = held.tool_call_id.clone().or(step.tool_call_id),
        }
        step.tool_name = step.tool_name.or_else(|| held.tool_name.clone());
        // Times and facts of the first record stay.
        let mut metadata = step.metadata.take().unwrap_or_default();
        metadata.extend(held.metadata.clone().unwrap_or_default());
        step.metadata = Some(metadata).filter(|metadata| !metadata.is_empty());
        if let Some(held) = self.steps.get_mut(place) {
            *held = step;
        }
        let known = Mark { step: old.step, ..turn.mark };
        self.replace_mark(old, known);
        Ok(known)
    }

    fn replace_mark(&mut self, old: Mark, new: Mark) {
        let marks = self.state.threads.list.iter_mut().flat_map(|thread| &mut thread.marks);
        marks.filter(|mark| mark.step == old.step && mark.kind == old.kind).for_each(|mark| *mark = new);
    }

    /// Appends a result from a tool span; its mark.
    fn tool_result(&mut self, missing: Missing, now_ns: u64) -> Option<Mark> {
        let (id, tool, span) = self.state.tools.fill(&missing, now_ns)?;
        let mut step = missing.step;
        step.tool_call_id = Some(id);
        step.tool_name = step.tool_name.or(Some(tool));
        let mark = Mark { step: self.state.steps, ..Mark::of(&step) };
        self.steps.push(step);
        self.state.steps = self.state.steps.saturating_add(1);
        self.indices.insert(span, vec![mark.step]);
        Some(mark)
    }

    /// Appends a step; its mark.
    fn step(&mut self, mut step: Step, thread: u32, time_ns: u64, start_ns: u64) -> Mark {
        let mut mark = Mark::of(&step);
        mark.step = self.state.steps;
        match mark.kind {
            MarkKind::Call => step.tool_call_id = Some(self.state.tools.call(&step, thread, mark.step, start_ns)),
            MarkKind::Result => {
                let (id, tool, span) = self.state.tools.result(&step, thread, mark.step, start_ns);
                step.tool_call_id = Some(id);
                step.tool_name = step.tool_name.or(tool);
                if let Some(span) = span {
                    self.indices.insert(span, vec![mark.step]);
                }
            }
            MarkKind::System | MarkKind::User | MarkKind::Text => {}
        }
        stamp(&mut step, time_ns);
        self.steps.push(step);
        self.state.steps = self.state.steps.saturating_add(1);
        mark
    }
}

/// Gives a step its time, unless it has one. 0 is no time.
pub(super) fn stamp(step: &mut Step, time_ns: u64) {
    if time_ns == 0 {
        return;
    }
    let Ok(moment) = Timestamp::from_nanosecond(i128::from(time_ns)) else { return };
    let metadata = step.metadata.get_or_insert_default();
    metadata.entry("timestamp").or_insert_with(|| Value::String(moment.to_string()));
}

/// Whether a turn is a step at all: an empty text is none.
fn is_something(step: &Step) -> bool {
    step.role == Role::Tool || step.tool_name.is_some() || !step.content.trim().is_empty()
}

/// Takes away call ids that tell no call from another: a tool's own name, or one id for all calls of a span.
fn drop_unusable_ids(span: &mut SourceSpan) {
    let steps = || span.input.iter().chain(&span.output);
    let calls: Vec<&Step> = steps().filter(|step| step.role == Role::Assistant && step.tool_name.is_some()).collect();
    let first = calls.first().and_then(|call| call.tool_call_id.clone());
    let one_for_all = calls.len() > 1 && calls.iter().all(|call| call.tool_call_id == first);
    let shared = first.filter(|_| one_for_all);
    let mut names: Vec<String> = Vec::new();
    for call in calls.iter().filter(|call| call.tool_call_id.is_some() && call.tool_call_id == call.tool_name) {
        names.extend(call.tool_call_id.clone().filter(|name| !names.contains(name)));
    }
    for step in span.input.iter_mut().chain(&mut span.output) {
        if step
            .tool_call_id
            .as_ref()
            .is_some_and(|id| id.is_empty() || Some(id) == shared.as_ref() || names.contains(id))
        {
            step.tool_call_id = None;
        }
    }
}
