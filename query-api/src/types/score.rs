//! Scores that models gave. One is shown only while the text it was made from still stands.

use super::Moment;
use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// The newest score of a trace, in lists.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LatestScore {
    /// The model.
    pub reward_model_id: Uuid,
    /// Its name; null once erased.
    #[schema(required = true)]
    pub reward_model_name: Option<String>,
    /// The raw reward. Compare within one model only.
    pub score: f64,
}

/// A model's score of the whole trace.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct TraceScore {
    /// The model.
    pub reward_model_id: Uuid,
    /// Its name; null once erased.
    #[schema(required = true)]
    pub reward_model_name: Option<String>,
    /// The raw reward. Compare within one model only.
    pub score: f64,
    /// Tokens cut from the left of the text before the model read it; 0 if it read all.
    pub dropped_tokens: i32,
    /// When it was scored.
    pub created_at: Moment,
}

/// A model's score of one action.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct ActionScore {
    /// The model.
    pub reward_model_id: Uuid,
    /// Its name; null once erased.
    #[schema(required = true)]
    pub reward_model_name: Option<String>,
    /// The step: an assistant response or a tool call.
    pub step_id: Uuid,
    /// The raw reward.
    pub score: f64,
    /// The score on the display scale, -1 to 1; 0 is the mean of the model's training actions.
    pub credit: f64,
    /// Tokens cut from the left of the text before the model read it; 0 if it read all.
    pub dropped_tokens: i32,
    /// Whether the cut went into the action itself, not only into what came before it.
    pub target_cut: bool,
    /// When it was scored.
    pub created_at: Moment,
}
