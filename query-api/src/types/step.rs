//! Steps and spans of a trace.

use super::{JsonText, names};
use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// One step of a conversation.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct Step {
    /// Its id; it keeps it as long as its content stays, wherever it then stands.
    pub id: Uuid,
    /// Zero-based place in the trace.
    pub index: i32,
    /// `system`, `user`, `assistant` or `tool`.
    #[schema(value_type = names::Role)]
    pub role: String,
    /// What is said; may be empty.
    pub content: String,
    /// The tool called, or whose result this is.
    #[schema(required = true)]
    pub tool_name: Option<String>,
    /// Arguments of a call.
    #[schema(required = true)]
    pub tool_input: Option<JsonText>,
    /// Joins a call and its result.
    #[schema(required = true)]
    pub tool_call_id: Option<String>,
    /// Anything else that was recorded, `timestamp` among it.
    #[schema(required = true)]
    pub metadata: Option<JsonText>,
}

/// A step in the trace export: only what an import needs, without empty fields.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ExportedStep {
    /// `system`, `user`, `assistant` or `tool`.
    #[schema(value_type = names::Role)]
    pub role: String,
    /// What is said; may be empty.
    pub content: String,
    /// The tool called, or whose result this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Arguments of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<JsonText>,
    /// Joins a call and its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Anything else that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
}

/// A timed operation, recorded beside the steps.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct Span {
    /// Its id within the trace.
    pub id: String,
    /// The span that caused it; may be absent from the trace.
    #[schema(required = true)]
    pub parent_id: Option<String>,
    /// Name of the operation.
    pub name: String,
    /// Kind, such as `llm` or `tool`.
    #[schema(required = true)]
    pub kind: Option<String>,
    /// Start, nanoseconds since the epoch, as a decimal string: JavaScript cannot hold it as a number.
    #[schema(pattern = "^[0-9]{1,20}$")]
    pub start_ns: String,
    /// End, likewise; never before the start.
    #[schema(pattern = "^[0-9]{1,20}$")]
    pub end_ns: String,
    /// Recorded input, raw.
    #[schema(required = true)]
    pub input: Option<String>,
    /// Recorded output, raw.
    #[schema(required = true)]
    pub output: Option<String>,
    /// Zero-based indices of the steps it added.
    pub step_indices: Vec<i32>,
}
