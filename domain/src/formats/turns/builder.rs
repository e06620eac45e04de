//! Steps from messages: texts of one message that follow one another are one step, each call and each result is one.

use super::Side;
use crate::formats::common::blocks::{Answer, Call, Piece};
use crate::formats::common::shared;
use crate::formats::common::turns::results_first;
use crate::json::Object;
use crate::trace::{Role, Step};
use std::collections::BTreeSet;

/// A message taken apart.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) pieces: Vec<Piece>,
    /// Metadata of each of its steps.
    pub(super) metadata: Object,
    /// Whether its texts are joined without a line feed.
    pub(super) glued: bool,
}

impl Message {
    pub(super) fn new(role: Role, pieces: Vec<Piece>) -> Self {
        Self { role, pieces, metadata: Object::new(), glued: false }
    }
}

/// Collects steps.
pub(super) struct Builder {
    pub(super) side: Side,
    pub(super) warnings: Vec<String>,
    steps: Vec<Step>,
    /// Reasoning recorded as a message of its own; it belongs to the next step of the agent.
    reasoning: Option<String>,
    /// Tools called so far.
    tools: BTreeSet<String>,
    /// Whether steps of others than the system are left out.
    only_system: bool,
}

impl Builder {
    pub(super) fn new(side: Side) -> Self {
        let (warnings, steps, tools) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { side, warnings, steps, reasoning: None, tools, only_system: false }
    }

    /// Collects what is said of the system, and nothing else.
    pub(super) fn of_system(side: Side) -> Self {
        Self { only_system: true, ..Self::new(side) }
    }

    pub(super) fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }

    pub(super) fn finish(mut self, warnings: &mut Vec<String>) -> Vec<Step> {
        warnings.extend(self.warnings);
        self.steps.shrink_to_fit();
        self.steps
    }

    /// Whether what this role says is collected.
    pub(super) fn wants(&self, role: Role) -> bool {
        !self.only_system || role == Role::System
    }

    fn push(&mut self, step: Step) {
        if self.wants(step.role) {
            self.steps.push(step);
        }
    }

    /// Whether a tool of this name was called.
    pub(super) fn was_called(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    /// A text of whoever speaks on this side.
    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.message(Message::new(self.side.role(), vec![Piece::Text(text.into())]));
    }

    /// Reasoning recorded as a message of its own.
    pub(super) fn reasoning(&mut self, text: &str) {
        join(self.reasoning.get_or_insert_default(), text);
    }

    /// Takes a message.
    pub(super) fn message(&mut self, mut message: Message) {
        if message.role == Role::User {
            results_first(&mut message.pieces);
        }
        let mut reasoning = if message.role == Role::Assistant { self.reasoning.take() } else { None };
        let mut text = String::new();
        // What was thought before the text began.
        let mut before = None;
        let mut ends_with_mark = false;
        for piece in std::mem::take(&mut message.pieces) {
            match piece {
                Piece::Text(more) => {
                    if text.is_empty() && !more.trim().is_empty() {
                        before = reasoning.take();
                    }
                    let glued = message.glued && !ends_with_mark;
                    match text.is_empty() {
                        true => text = more,
                        false if glued => text.push_str(&more),
                        false => join(&mut text, &more),
                    }
                    ends_with_mark = false;
                }
                Piece::Mark(mark) => {
                    if text.is_empty() {
                        before = reasoning.take();
                    }
                    join(&mut text, &mark);
                    ends_with_mark = true;
                }
                Piece::Reasoning(more) => join(reasoning.get_or_insert_default(), &more),
                Piece::Call(call) => {
                    self.said(&mut message, std::mem::take(&mut text), &mut before);
                    self.call(&mut message, *call, &mut reasoning);
                }
                Piece::Result(answer) => {
                    self.said(&mut message, std::mem::take(&mut text), &mut before);
                    self.result(&mut message, *answer);
                }
                Piece::Compaction(summary) => {
                    self.said(&mut message, std::mem::take(&mut text), &mut before);
                    if !summary.trim().is_empty() {
                        let mut step = plain(Role::User, summary);
                        let metadata = Object::of("compaction", true);
                        step.metadata = Some(metadata);
                        self.push(step);
                    }
                }
                Piece::Note(..) => {}
            }
        }
        if let (Some(more), false) = (&reasoning, text.trim().is_empty()) {
            join(before.get_or_insert_default(), more);
            reasoning = None;
        }
        self.said(&mut message, text, &mut before);
        // What the agent thought before it said nothing belongs to what it says next.
        if message.role == Role::Assistant && self.reasoning.is_none() {
            self.reasoning = reasoning;
        }
    }

    fn said(&mut self, message: &mut Message, text: String, reasoning: &mut Option<String>) {
        if text.trim().is_empty() {
            return;
        }
        let mut step = plain(message.role, text);
        step.metadata = metadata(message.role, message, reasoning);
        self.push(step);
    }

    fn call(&mut self, message: &mut Message, call: Call, reasoning: &mut Option<String>) {
        self.tools.insert(call.name.clone());
        let mut metadata = metadata(Role::Assistant, message, reasoning).unwrap_or_default();
        metadata.fill(call.metadata);
        self.push(Step {
            role: Role::Assistant,
            content: String::new(),
            tool_name: Some(call.name),
            tool_input: Some(call.input),
            tool_call_id: call.id.filter(|id| !id.is_empty()),
            metadata: metadata.some(),
        });
    }

    fn result(&mut self, message: &mut Message, answer: Answer) {
        let mut metadata = shared::metadata(&mut message.metadata);
        if answer.is_error {
            metadata.insert("is_error", true);
        }
        self.push(Step {
            tool_name: answer.tool.filter(|tool| !tool.is_empty()),
            tool_call_id: answer.id.filter(|id| !id.is_empty()),
            metadata: metadata.some(),
            ..plain(Role::Tool, answer.text)
        });
    }
}

fn plain(role: Role, content: String) -> Step {
    Step { role, content, tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

fn metadata(role: Role, message: &mut Message, reasoning: &mut Option<String>) -> Option<Object> {
    let mut metadata = shared::metadata(&mut message.metadata);
    if role == Role::Assistant
        && let Some(text) = reasoning.take().filter(|text| !text.trim().is_empty())
    {
        metadata.insert("reasoning", text);
    }
    metadata.some()
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
