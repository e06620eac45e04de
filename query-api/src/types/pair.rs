//! Pairs of texts, one preferred to the other.

use super::names;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A line of the pair export. The texts may be long, so they are written piece by piece; this type only describes the line.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Pair {
    /// The better text.
    pub chosen: String,
    /// The worse text.
    pub rejected: String,
    /// The traces they are from: one, or two with that of the better text first.
    #[schema(min_items = 1, max_items = 2)]
    pub trace_ids: Vec<Uuid>,
    /// `trace` or `action`.
    #[schema(value_type = names::Granularity)]
    pub granularity: String,
    /// `response` or `tool_call`; null for whole traces.
    #[schema(required = true, value_type = Option<names::ActionType>)]
    pub action_type: Option<String>,
    /// Where the preference is from: `explicit_rating`, `user_feedback` or `ai_judgment`.
    pub source: String,
}
