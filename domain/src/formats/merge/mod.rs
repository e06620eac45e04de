//! Merges the LLM calls of one trace into one conversation.
//!
//! Tracing tools record calls, not conversations: each call repeats the history it was given. Here the calls of a trace, and
//! its tool spans, become steps that stand once each, in the order in which they were first seen.
//!
//! 1. Of calls nested in each other, recorded by a framework and by the library below it, the innermost stands; what only an
//!    outer one knows is taken into it ([`nesting`]).
//! 2. Calls come in the order of their start ([`order`]). Each is compared, turn by turn, with the threads so far; what it
//!    shares with one is passed over, the rest is appended, then its output ([`matching`], [`align`]).
//! 3. Turns are equal when their [`Mark`]s are: a digest of the normalised turn, so that comparing does not read texts again.
//! 4. A tool result that no call was given is taken from the tool's own span ([`tools`]).
//!
//! The whole is the same code as its parts: [`merge`] adds all spans to an empty [`MergeState`] at once. Adding spans that come
//! later gives what the whole would, or says [`Rebuild`]. Everything is pure and total.

mod align;
mod fold;
mod mark;
mod matching;
mod nesting;
mod order;
mod packed;
mod state;
mod threads;
mod tools;
mod tree;
mod unusable_ids;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use super::common::timed::TimedStep;
pub use state::{Added, MergeState, Rebuild};

use crate::json::Object;
use crate::trace::Step;
use std::collections::BTreeMap;

/// What a span of the source is to the merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// A call of a model. It counts if it has turns.
    Llm,
    /// An agent's run. It names the branch of the calls below it; its own turns count only if nothing below it has any.
    Agent,
    /// A tool's run; see [`SourceSpan::tool`].
    Tool,
    /// Anything else; only its place in the tree counts.
    #[default]
    Other,
}

/// A span of the source, as the merging sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceSpan {
    /// Its id in the source. Of spans with the same id the first one counts.
    pub id: String,
    /// The span that caused it.
    pub parent: Option<String>,
    /// What it is.
    pub kind: SourceKind,
    /// Start, nanoseconds since the epoch; 0 if unknown.
    pub start_ns: u64,
    /// End, nanoseconds since the epoch; 0 if unknown.
    pub end_ns: u64,
    /// What decides between spans of the same start and end, such as LangSmith's `dotted_order`; empty if nothing does.
    pub order: String,
    /// What the call was given: atomic steps (a text, a call, a result). A missing `tool_call_id` is none.
    pub input: Vec<Step>,
    /// What it answered, likewise.
    pub output: Vec<Step>,
    /// Of a tool span: what it ran. In a box, since most spans have none.
    pub tool: Option<Box<ToolUse>>,
    /// Metadata for the assistant steps that the call answered with: `usage`, `status`, `model`.
    pub facts: Object,
}

/// What a tool span ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUse {
    /// Id of the call that it answers, if recorded.
    pub call_id: Option<String>,
    /// Name of the tool.
    pub name: Option<String>,
    /// Its arguments; none if they were not recorded.
    pub input: Option<Object>,
    /// Its result as text; none if it was not recorded.
    pub result: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
}

/// A merged trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// Its steps, in order.
    pub steps: Vec<TimedStep>,
    /// Indices of the steps that each span added, by its id, ascending: of a call its new inputs and its outputs, of a tool its
    /// result. A span that added none is absent.
    pub step_indices: BTreeMap<String, Vec<u32>>,
}

impl Merged {
    /// Takes in what an [`MergeState::add`] gave.
    pub fn take(&mut self, added: Added) {
        self.steps.truncate(usize::try_from(added.keep).unwrap_or(usize::MAX));
        self.steps.extend(added.steps);
        for (span, indices) in added.step_indices {
            if indices.is_empty() {
                self.step_indices.remove(&span);
            } else {
                self.step_indices.insert(span, indices);
            }
        }
    }
}

/// Merges all spans of a trace, given in any order.
pub fn merge(spans: Vec<SourceSpan>) -> Merged {
    let mut merged = Merged::default();
    // An empty state has nothing that could change, so that it never asks to be built again.
    if let Ok(added) = MergeState::default().add(spans) {
        merged.take(added);
    }
    merged
}
