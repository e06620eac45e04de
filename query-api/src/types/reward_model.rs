//! Personal reward models.

use super::{JobFacts, JsonText, Moment};
use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A reward model.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct RewardModel {
    /// Its id.
    pub id: Uuid,
    /// Its name; null once erased.
    #[schema(required = true)]
    pub name: Option<String>,
    /// The model it starts from.
    pub base_model: String,
    /// Where it is trained, as the deployment sets it.
    pub compute: String,
    /// Passes over the pairs.
    pub epochs: i32,
    /// Most pairs to train on.
    pub max_pairs: i32,
    /// Seed of every random choice.
    pub seed: i64,
    /// Peak learning rate, if one was asked for.
    #[schema(required = true)]
    pub learning_rate: Option<f64>,
    /// How many traces were selected.
    pub trace_count: i64,
    /// How the training stands.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub job: JobFacts,
    /// Pairs trained and evaluated on; null until it succeeded.
    #[schema(required = true)]
    pub num_pairs: Option<i64>,
    /// Figures of the training; null until it succeeded.
    #[schema(required = true)]
    pub metrics: Option<JsonText>,
    /// Whether a trace it was trained on has been erased since.
    pub trained_on_erased: bool,
    /// When it was asked for.
    pub created_at: Moment,
}

/// A reward model with the traces it was given.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RewardModelDetail {
    /// The model.
    #[serde(flatten)]
    pub model: RewardModel,
    /// The traces selected for it, in the order of the request.
    pub trace_ids: Vec<Uuid>,
    /// What was learnt from people's words and from AI judgments; null: no extraction was recorded.
    #[schema(required = true)]
    pub feedback: Option<Vec<Finding>>,
}

/// What was learnt about one action.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Finding {
    /// The trace.
    pub trace_id: Uuid,
    /// Zero-based index of the action.
    pub step_index: i32,
    /// `positive`, `negative` or `unclear`.
    pub label: String,
    /// `high` or `low`: the classifier's own judgment, no probability.
    pub confidence: String,
    /// `user_feedback` or `ai_judgment`.
    pub source: String,
    /// The comment or the step that the evidence is from.
    #[schema(required = true)]
    pub evidence_id: Option<String>,
    /// Verbatim excerpt.
    #[schema(required = true)]
    pub evidence_quote: Option<String>,
    /// Why, the sampled criteria among it.
    pub reason: String,
    /// The model that judged.
    pub classifier_model: String,
    /// Whether it went into a dataset of at least the least size.
    pub included_in_training: bool,
    /// The tool called, if the action is a tool call.
    #[schema(required = true)]
    pub tool_name: Option<String>,
}

/// Where to fetch a checkpoint.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Weights {
    /// A link that works for five minutes, without a key.
    pub url: String,
}
