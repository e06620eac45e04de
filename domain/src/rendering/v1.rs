//! Version 1 of the rendering rules.
//!
//! 1. System steps have no segment. Every other step has one: a head that names its role, its body, an end.
//! 2. The body is the content, verbatim; a tool call's is its content and a newline, if there is content, then the call as JSON
//!    between `<tool_call>` tags. Results, reasoning and metadata never enter another step's body.
//! 3. A text is segments joined by single newlines: a trace's is all of them, an action's ends with the action's own.

use super::canonical::{push_object, push_string};
use crate::json::Object;
use crate::trace::{ActionType, Role, Step};
use serde::{Deserialize, Serialize};

/// The two ways to mark segments. Which one a model uses stands in its manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// `<|im_start|>role\nbody<|im_end|>`, for bases whose tokenizer has both marks as special tokens.
    #[default]
    #[serde(rename = "chatml")]
    ChatMl,
    /// `### role\nbody\n`, for all others.
    Plain,
}

impl Form {
    /// The name, as in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChatMl => "chatml",
            Self::Plain => "plain",
        }
    }

    /// What a segment begins and ends with. In ChatML form exactly these are special tokens; a body is plain text to the
    /// tokenizer, whatever it looks like.
    pub fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::ChatMl => ("<|im_start|>", "<|im_end|>"),
            Self::Plain => ("### ", "\n"),
        }
    }
}

/// The segment of a step; none for a system step.
pub fn render_step(step: &Step, form: Form) -> Option<String> {
    if step.role == Role::System {
        return None;
    }
    let (start, end) = form.marks();
    let mut out = String::with_capacity(start.len() + step.content.len() + end.len() + 16);
    out.push_str(start);
    out.push_str(step.role.name());
    out.push('\n');
    out.push_str(&step.content);
    if let (Role::Assistant, Some(name)) = (step.role, &step.tool_name) {
        if !step.content.is_empty() {
            out.push('\n');
        }
        out.push_str("<tool_call>\n{\"name\": ");
        push_string(&mut out, name);
        out.push_str(", \"arguments\": ");
        push_object(&mut out, step.arguments());
        out.push_str("}\n</tool_call>");
    }
    out.push_str(end);
    Some(out)
}

/// One segment of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Zero-based index of its step among all steps of the trace.
    pub step_index: u32,
    /// The kind of action, if the step is one.
    pub action_type: Option<ActionType>,
    /// The segment, without the newline that joins it to its neighbours.
    pub text: String,
}

/// A text as a model reads it, before any cutting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedText {
    /// The whole text.
    pub text: String,
    /// Byte offsets at which it falls into pieces that are tokenised by themselves: segment, newline, segment, … Strictly
    /// increasing, neither 0 nor the length; empty for a text of one segment.
    pub cuts: Vec<usize>,
}

impl RenderedText {
    /// The pieces in order. Offsets that are no boundary of a character, which only damage brings, are passed over.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.cuts.iter().copied().chain([self.text.len()]).filter_map(move |end| {
            let piece = self.text.get(start..end)?;
            start = end;
            Some(piece)
        })
    }

    fn push(&mut self, segment: &str) {
        if !self.text.is_empty() {
            self.cuts.push(self.text.len());
            self.text.push('\n');
            self.cuts.push(self.text.len());
        }
        self.text.push_str(segment);
    }
}

/// What a generated alternative puts in the place of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Revision {
    /// Another call.
    ToolCall {
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Object,
        /// Text that comes with the call.
        #[serde(default)]
        content: String,
    },
    /// Another response.
    Response {
        /// What is said instead.
        content: String,
    },
}

impl Revision {
    /// The step that takes the original's place.
    pub fn to_step(&self) -> Step {
        let (content, tool_name, tool_input) = match self.clone() {
            Self::ToolCall { tool_name, tool_input, content } => (content, Some(tool_name), Some(tool_input)),
            Self::Response { content } => (content, None, None),
        };
        Step { role: Role::Assistant, content, tool_name, tool_input, tool_call_id: None, metadata: None }
    }
}

/// The segments of a trace, each rendered once; every text is a run of them from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedTrace {
    form: Form,
    segments: Vec<Segment>,
    steps: u32,
}

impl RenderedTrace {
    /// Starts a trace without steps.
    pub fn new(form: Form) -> Self {
        Self { form, segments: Vec::new(), steps: 0 }
    }

    /// Renders all steps of a trace.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a Step>, form: Form) -> Self {
        let mut trace = Self::new(form);
        for step in steps {
            trace.push(step);
        }
        trace
    }

    /// Appends the next step.
    pub fn push(&mut self, step: &Step) {
        if let Some(text) = render_step(step, self.form) {
            self.segments.push(Segment { step_index: self.steps, action_type: step.action_type(), text });
        }
        self.steps = self.steps.saturating_add(1);
    }

    /// The form they are rendered in.
    pub fn form(&self) -> Form {
        self.form
    }

    /// All segments, in order. The pieces of the action at segment *n* are the segments `0..=n` with a newline between each.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The text of the trace; empty if it has no segment.
    pub fn trace_text(&self) -> RenderedText {
        join(&self.segments)
    }

    /// The text of the action at a step; none if there is no action.
    pub fn action_text(&self, step_index: u32) -> Option<RenderedText> {
        Some(join(&self.segments[..=self.action_at(step_index)?]))
    }

    /// The text of an alternative to the action at a step: the same prior context, another last segment.
    pub fn alternative_text(&self, step_index: u32, revision: &Revision) -> Option<RenderedText> {
        let mut text = join(&self.segments[..self.action_at(step_index)?]);
        text.push(&render_step(&revision.to_step(), self.form)?);
        Some(text)
    }

    /// The text that stands before the action at a step.
    pub fn prior_context(&self, step_index: u32) -> Option<RenderedText> {
        Some(join(&self.segments[..self.action_at(step_index)?]))
    }

    /// Place of a step's segment, if the step is an action.
    fn action_at(&self, step_index: u32) -> Option<usize> {
        let at = self.segments.binary_search_by_key(&step_index, |segment| segment.step_index).ok()?;
        self.segments[at].action_type.map(|_| at)
    }
}

fn join(segments: &[Segment]) -> RenderedText {
    let mut text = RenderedText::default();
    text.text.reserve(segments.iter().map(|segment| segment.text.len() + 1).sum());
    for segment in segments {
        text.push(&segment.text);
    }
    text
}
