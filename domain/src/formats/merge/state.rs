//! What is remembered of a trace between two additions: of each step a digest, of each span its place in the tree.

use super::fold::{Fold, in_order, key_of};
use super::mark::short;
use super::nesting::standing;
use super::order::Key;
use super::threads::Threads;
use super::tools::Tools;
use super::tree::Tree;
use super::{SourceKind, SourceSpan};
use crate::formats::common::timed::TimedStep;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The merging of a trace so far. About 35 bytes for each step and 20 for each span, twice that in JSON; texts are not kept, but
/// for up to 256 KiB of tool results that no call was given yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MergeState {
    pub(super) tree: Tree,
    pub(super) threads: Threads,
    /// Digests of the system steps.
    #[serde(with = "super::packed")]
    pub(super) system: BTreeSet<u128>,
    /// Agents whose calls are given a part of their history only.
    #[serde(with = "super::packed")]
    pub(super) deltas: BTreeSet<u64>,
    pub(super) tools: Tools,
    /// Parent and end of calls that may still run.
    #[serde(with = "super::packed")]
    pub(super) active: Vec<(u64, u64)>,
    /// Where the last call stands in the order.
    last: Option<Key>,
    /// Steps so far, without the results at the end that [`Added::keep`] tells of.
    pub(super) steps: u32,
}

/// What an addition gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Added {
    /// Steps of the trace that stay; those behind are to be dropped. They are results that were taken from tool spans because no
    /// call had been given them yet.
    pub keep: u32,
    /// The steps that follow those.
    pub steps: Vec<TimedStep>,
    /// For each span whose steps became known or changed: their indices, ascending. None are left if it is empty.
    pub step_indices: BTreeMap<String, Vec<u32>>,
}

/// The spans change what was merged before: a call began before the last one, changes which of nested calls stand, or records
/// a step better. The state is spent; merge the whole again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the spans change what was merged before: merge the whole trace again")]
pub struct Rebuild;

impl MergeState {
    /// Steps so far, without results at the end that the next addition may put elsewhere: its [`Added::keep`].
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Adds spans, in any order among themselves. A span whose id is known already is passed over.
    ///
    /// The cost follows the size of the spans, not that of the trace.
    ///
    /// # Errors
    /// [`Rebuild`]. To an empty state everything can be added.
    pub fn add(&mut self, spans: Vec<SourceSpan>) -> Result<Added, Rebuild> {
        let spans = self.plant(spans)?;
        let mut indices = BTreeMap::new();
        let (mut tools, mut speaking) = (Vec::new(), Vec::new());
        for span in spans {
            if span.tool.is_some() {
                tools.push(span);
            } else {
                speaking.push(span);
            }
        }
        tools.sort_by(|a, b| (a.start_ns, &a.id).cmp(&(b.start_ns, &b.id)));
        for tool in &tools {
            if let Some(step) = self.tools.add(tool)? {
                indices.insert(tool.id.clone(), vec![step]);
            }
        }
        let mut calls = standing(speaking, &self.tree)?;
        calls.sort_by(in_order);
        if calls.first().zip(self.last.as_ref()).is_some_and(|(first, last)| key_of(first) <= *last) {
            return Err(Rebuild);
        }
        if let Some(last) = calls.last() {
            self.last = Some(key_of(last));
        }
        let base = self.steps;
        let mut fold = Fold { state: self, base, steps: Vec::new(), indices };
        for span in calls {
            fold.call(span)?;
        }
        let (mut steps, mut step_indices) = (fold.steps, fold.indices);
        let tail = self.tools.tail()?;
        step_indices.extend(tail.no_longer.into_iter().map(|span| (span, Vec::new())));
        for (number, (span, step)) in (self.steps..).zip(tail.results) {
            step_indices.insert(span, vec![number]);
            steps.push(step.into());
        }
        Ok(Added { keep: base, steps, step_indices })
    }

    /// Puts spans into the tree; those that are new and say more than their place in it.
    fn plant(&mut self, spans: Vec<SourceSpan>) -> Result<Vec<SourceSpan>, Rebuild> {
        let mut fresh = Vec::new();
        for span in spans {
            let id = short(&span.id);
            if self.tree.contains(id) {
                continue;
            }
            let awaited = self.tree.awaits(id);
            // That looks at all spans, so only where it is asked: many spans of one trace would take their number squared.
            let all_below = awaited && self.tree.all_below(id);
            let parent = span.parent.as_deref().filter(|parent| !parent.is_empty()).map_or(0, short);
            self.tree.insert(id, parent, span.kind, speaks(&span));
            if awaited {
                self.came_between(id, span.kind, all_below)?;
            }
            if span.tool.is_some() || speaks(&span) {
                fresh.push(span);
            }
        }
        Ok(fresh)
    }

    /// A span came above calls that are merged already.
    fn came_between(&mut self, id: u64, kind: SourceKind, all_below: bool) -> Result<(), Rebuild> {
        let calls_above =
            self.tree.above(id).any(|(_, node)| node.merged || node.speaks && node.kind == SourceKind::Llm);
        let agent = if kind == SourceKind::Agent { id } else { self.tree.agent_of(id) };
        if calls_above || agent != 0 && !all_below {
            return Err(Rebuild);
        }
        // All calls so far turn out to be this one agent's.
        if agent != 0 {
            for thread in &mut self.threads.list {
                thread.agent = agent;
            }
            if !self.deltas.is_empty() {
                self.deltas = BTreeSet::from([agent]);
            }
        }
        Ok(())
    }
}

fn speaks(span: &SourceSpan) -> bool {
    matches!(span.kind, SourceKind::Llm | SourceKind::Agent) && !(span.input.is_empty() && span.output.is_empty())
}
