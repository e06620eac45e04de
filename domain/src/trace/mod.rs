//! The canonical trace: what every format becomes, what is exported, shown, annotated and rendered.

pub mod frame;
pub mod step_id;
pub mod tally;
pub mod title;

use crate::json::Object;
use serde::{Deserialize, Serialize};

/// Who speaks in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Context given to the agent. Never scored, never rated.
    System,
    /// The person, or what stands for one.
    User,
    /// The agent: a response or a tool call.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The lower-case name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = UnknownRole;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "system" => Ok(Self::System),
            "user" => Ok(Self::User),
            "assistant" => Ok(Self::Assistant),
            "tool" => Ok(Self::Tool),
            _ => Err(UnknownRole),
        }
    }
}

/// A role other than the four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown role: expected system, user, assistant or tool")]
pub struct UnknownRole;

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Who speaks.
    pub role: Role,
    /// What is said; may be empty, in a tool call for instance.
    #[serde(default)]
    pub content: String,
    /// The tool called, or whose result this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Arguments of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Object>,
    /// Joins a call and its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Anything else, `timestamp` (RFC 3339) among it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Whether a step is an action of the agent, and of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionType {
    /// Text said by the agent.
    Response,
    /// A call of a tool, whatever text comes with it.
    ToolCall,
}

impl ActionType {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::ToolCall => "tool_call",
        }
    }
}

impl Step {
    /// The kind of action this step is: an assistant step that calls a tool or says something. Everything else is context.
    pub fn action_type(&self) -> Option<ActionType> {
        if self.role != Role::Assistant {
            None
        } else if self.tool_name.is_some() {
            Some(ActionType::ToolCall)
        } else if !self.content.is_empty() {
            Some(ActionType::Response)
        } else {
            None
        }
    }

    /// Arguments of its call; none is an object without fields.
    pub fn arguments(&self) -> &Object {
        static NONE: Object = Object::new();
        self.tool_input.as_ref().unwrap_or(&NONE)
    }

    /// Whether a person may have written it: a user step that is no summary of a compaction, was not put in by a harness and
    /// had no role of its own. Learning takes nothing else as feedback.
    pub fn is_written_by_person(&self) -> bool {
        let marked = |key| self.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(key));
        self.role == Role::User && !["compaction", "injected", "original_role"].into_iter().any(marked)
    }
}

/// A timed operation, recorded beside the steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Id within the trace.
    pub id: String,
    /// The span that caused it; may be absent from the trace.
    #[serde(default)]
    pub parent_id: Option<String>,
    /// Name of the operation.
    pub name: String,
    /// Kind, lower case, such as `llm` or `tool`.
    #[serde(default)]
    pub kind: Option<String>,
    /// Start, nanoseconds since the epoch; a decimal string in JSON, because JavaScript cannot hold it as a number.
    #[serde(with = "nanoseconds")]
    pub start_ns: u64,
    /// End, nanoseconds since the epoch; never before the start.
    #[serde(with = "nanoseconds")]
    pub end_ns: u64,
    /// Recorded input, raw.
    #[serde(default)]
    pub input: Option<String>,
    /// Recorded output, raw.
    #[serde(default)]
    pub output: Option<String>,
    /// Zero-based indices of the steps it added.
    #[serde(default)]
    pub step_indices: Vec<u32>,
}

/// Everything of a trace but its steps and spans, as an importer finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceHead {
    /// The id it has where it was recorded.
    pub external_id: Option<String>,
    /// A title that came with it.
    pub title: Option<String>,
    /// Metadata of the trace.
    pub metadata: Object,
}

/// A whole trace in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Head.
    pub head: TraceHead,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Spans; empty for untimed traces.
    pub spans: Vec<Span>,
}

/// Nanoseconds as decimal strings in JSON; numbers are read too.
mod nanoseconds {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let text = match &value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(number) => number.to_string(),
            _ => return Err(D::Error::custom("nanoseconds must be an integer or a decimal string")),
        };
        text.parse().map_err(|_| D::Error::custom("nanoseconds must be an integer between 0 and 2^64-1"))
    }
}
