//! Pairs of texts, one preferred to the other.

use super::{JsonText, names};
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
    /// Which side's action a model wrote, in the place of the one that was done; null for ratings.
    #[schema(required = true, value_type = Option<names::PairSide>)]
    pub generated: Option<String>,
    /// What the preference rests on; null for ratings.
    #[schema(required = true, value_type = Option<PairEvidence>)]
    pub evidence: Option<JsonText>,
}

/// What a pair from a finding rests on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PairEvidence {
    /// Zero-based index of the action in its trace.
    pub step_index: i32,
    /// The tool called, if the action is a tool call.
    #[schema(required = true)]
    pub tool_name: Option<String>,
    /// `positive` or `negative`: what is thought of what was done.
    #[schema(value_type = names::FindingLabel)]
    pub label: String,
    /// The comment or the step that the evidence is from.
    pub evidence_id: String,
    /// Verbatim excerpt.
    pub evidence_quote: String,
    /// Why, the sampled criteria among it.
    pub reason: String,
    /// The model that judged.
    pub classifier_model: String,
}
