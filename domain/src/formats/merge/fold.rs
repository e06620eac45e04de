//! Adds one call to a trace.

use super::mark::{Mark, MarkKind, short};
use super::matching::{Plan, Target, plan, shared};
use super::order::Key;
use super::state::MergeState;
use super::tools::Missing;
use super::unusable_ids::drop_unusable_ids;
use super::{Rebuild, SourceSpan};
use crate::formats::common::timed::TimedStep;
use crate::json::{Object, Value};
use crate::trace::{Role, Step};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Calls remembered that may still run when another begins.
const ACTIVE_MAX: usize = 64;

/// What is added in one go: steps from `base` on, and the steps of each span.
pub(super) struct Fold<'s> {
    pub(super) state: &'s mut MergeState,
    pub(super) base: u32,
    pub(super) steps: Vec<TimedStep>,
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

/// The order of calls, that of their keys.
pub(super) fn in_order(a: &SourceSpan, b: &SourceSpan) -> Ordering {
    let times = (a.start_ns, a.end_ns).cmp(&(b.start_ns, b.end_ns));
    times.then_with(|| (&a.order, a.input.len(), &a.id).cmp(&(&b.order, b.input.len(), &b.id)))
}

/// The turns of a call on their way to be steps.
struct Turns {
    input: Vec<Step>,
    output: Vec<Step>,
    /// Of both, in their order.
    marks: Vec<Mark>,
}

impl Turns {
    /// Those of its steps that are something.
    fn of(mut input: Vec<Step>, mut output: Vec<Step>) -> Self {
        input.retain(is_something);
        output.retain(is_something);
        let marks = input.iter().chain(&output).map(Mark::of).collect();
        Self { input, output, marks }
    }

    /// Each with its mark, and whether the call answered it.
    fn iter(&self) -> impl Iterator<Item = (&Step, Mark, bool)> {
        let steps = self.input.iter().map(|step| (step, false)).chain(self.output.iter().map(|step| (step, true)));
        steps.zip(&self.marks).map(|((step, is_answer), mark)| (step, *mark, is_answer))
    }

    fn into_iter(self) -> impl Iterator<Item = (Step, Mark, bool)> {
        let steps = self.input.into_iter().map(|step| (step, false));
        let steps = steps.chain(self.output.into_iter().map(|step| (step, true)));
        steps.zip(self.marks).map(|((step, is_answer), mark)| (step, mark, is_answer))
    }
}

impl Fold<'_> {
    /// Adds a call, the next one in order.
    pub(super) fn call(&mut self, mut span: SourceSpan) -> Result<(), Rebuild> {
        drop_unusable_ids(&mut span);
        self.answers_by_role(&mut span);
        let id = short(&span.id);
        let agent = self.state.tree.agent_of(id);
        let SourceSpan { input, output, facts, .. } = &mut span;
        let turns = Turns::of(std::mem::take(input), std::mem::take(output));
        let facts = Some(Arc::new(std::mem::take(facts))).filter(|facts| !facts.is_empty());
        let marks = |answers: bool| -> Vec<Mark> {
            let spoken = turns.iter().filter(|(_, mark, _)| mark.kind != MarkKind::System);
            spoken.filter(|(.., is_answer)| answers || !is_answer).map(|(_, mark, _)| mark).collect()
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
        let added = self.take(plan, agent, turns, times, facts.as_ref())?;
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
            let Some(tool) = metadata.get("original_role").and_then(Value::as_text).map(str::to_owned) else {
                continue;
            };
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
        turns: Turns,
        (start_ns, end_ns): (u64, u64),
        facts: Option<&Arc<Object>>,
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
            let spoken = turns.iter().filter(|(_, mark, _)| mark.kind != MarkKind::System).enumerate();
            let fresh: Vec<&Step> = spoken.filter(|(at, _)| is_new(*at)).map(|(_, (step, ..))| step).collect();
            results = self.state.tools.missing(number, start_ns, &fresh)?;
        }
        // A first call, often the longest, needs no more room than it has turns.
        if self.steps.is_empty() {
            self.steps.reserve_exact(turns.marks.len());
        }
        let mut added = Vec::new();
        let mut marks = Vec::new();
        let mut at = 0;
        for (step, mark, is_answer) in turns.into_iter() {
            let time_ns = if is_answer { end_ns } else { start_ns };
            if mark.kind == MarkKind::System {
                if self.state.system.insert(mark.digest) {
                    added.push(self.step(step, 0, (time_ns, start_ns), None).step);
                }
                continue;
            }
            let found = known.get(at).copied().flatten();
            at += 1;
            if let Some(old) = found {
                let mark = self.again(old, (step, mark), number, start_ns)?;
                if plan.target != Target::Continue(number) {
                    marks.push(mark);
                }
                continue;
            }
            for missing in std::mem::take(&mut results) {
                marks.extend(self.tool_result(missing, start_ns));
            }
            let facts = facts.filter(|_| is_answer && step.role == Role::Assistant);
            let mark = self.step(step, number, (time_ns, start_ns), facts.cloned());
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
    fn again(
        &mut self,
        old: Mark,
        (mut step, mark): (Step, Mark),
        thread: u32,
        start_ns: u64,
    ) -> Result<Mark, Rebuild> {
        if !old.yields_to(&mark) {
            if old.call_id == 0 && mark.call_id != 0 && old.kind == MarkKind::Call {
                self.state.tools.alias(old.step, mark.call_id);
                let known = Mark { call_id: mark.call_id, ..old };
                self.replace_mark(old, known);
                return Ok(known);
            }
            return Ok(old);
        }
        let place = old.step.checked_sub(self.base).and_then(|place| usize::try_from(place).ok()).ok_or(Rebuild)?;
        let held = &self.steps.get(place).ok_or(Rebuild)?.step;
        match old.kind {
            MarkKind::Text if mark.kind == MarkKind::Call => {
                let id = self.state.tools.call(&step, thread, old.step, start_ns);
                step.tool_call_id = Some(id);
            }
            _ => step.tool_call_id = held.tool_call_id.clone().or(step.tool_call_id),
        }
        step.tool_name = step.tool_name.or_else(|| held.tool_name.clone());
        if let Some(held) = self.steps.get_mut(place) {
            held.replace(step);
        }
        let known = Mark { step: old.step, ..mark };
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
        self.steps.push(step.into());
        self.state.steps = self.state.steps.saturating_add(1);
        self.indices.insert(span, vec![mark.step]);
        Some(mark)
    }

    /// Appends a step of this time, of a call that began then; its mark.
    fn step(
        &mut self,
        mut step: Step,
        thread: u32,
        (time_ns, start_ns): (u64, u64),
        facts: Option<Arc<Object>>,
    ) -> Mark {
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
        self.steps.push(TimedStep { step, time_ns, facts });
        self.state.steps = self.state.steps.saturating_add(1);
        mark
    }
}

/// Whether a turn is a step at all: an empty text is none.
fn is_something(step: &Step) -> bool {
    step.role == Role::Tool || step.tool_name.is_some() || !step.content.trim().is_empty()
}
