//! Personal reward models.

use super::names;
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
    /// The other choices of the training; null ones are the recipe's.
    #[schema(value_type = TrainingOptions)]
    pub training: JsonText,
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
    /// What it was made of.
    #[serde(flatten)]
    pub made_of: MadeOf,
    /// What the extraction took; null: none was recorded.
    #[schema(required = true)]
    pub learning: Option<Learning>,
    /// What was learnt from people's words and from AI judgments, in the order of the traces and their steps. Null: no extraction
    /// was recorded, because it has not come to that yet or because none was made. Empty: there was nothing to learn. A failed
    /// training keeps what it recorded.
    #[schema(required = true)]
    pub feedback: Option<Vec<Finding>>,
}

/// How a training was asked to go on, beside passes, seed and learning rate. A choice that is null is the recipe's for the base.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TrainingOptions {
    /// `full` or `lora`.
    pub method: Option<String>,
    /// Rank of the adapters.
    pub lora_rank: Option<i32>,
    /// An adapter's product is multiplied by this over the rank.
    pub lora_alpha: Option<f64>,
    /// Pairs of an optimizer step.
    pub batch_pairs: Option<i32>,
    /// `linear`, `cosine` or `constant`.
    pub schedule: Option<String>,
    /// Share of the steps over which the rate rises.
    pub warmup: Option<f64>,
    /// Weight decay of projections.
    pub weight_decay: Option<f64>,
    /// The gradient is scaled down to this length.
    pub clip_norm: Option<f64>,
    /// Coefficient of the square of the sum of a pair's rewards.
    pub center: Option<f64>,
    /// Whether the token embedding stays as it is.
    pub freeze_embeddings: Option<bool>,
}

/// What a model was made of, and how its training goes on.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct MadeOf {
    /// SHA-256 of the pairs it was trained on, hexadecimal; null until it succeeded, and for models of older versions.
    #[schema(required = true)]
    pub dataset_digest: Option<String>,
    /// SHA-256 of the base's weights, hexadecimal; null as before.
    #[schema(required = true)]
    pub base_checksum: Option<String>,
    /// Version of the trainer; null as before.
    #[schema(required = true)]
    pub code_version: Option<String>,
    /// How far the steps of the training are, and its curve; null before the first. After the training it stays.
    #[schema(required = true, value_type = Option<Curve>)]
    pub curve: Option<JsonText>,
}

/// The curve of a training.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Curve {
    /// Optimizer steps done.
    pub step: i32,
    /// Steps of the training.
    pub steps: i32,
    /// Seconds that the other steps would take, when that was told.
    pub eta_s: f64,
    /// At most 200 points, in order of their steps.
    pub points: Vec<CurvePoint>,
}

/// A point of a training's curve.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CurvePoint {
    /// The last step it is about.
    pub step: i32,
    /// Mean loss since the point before.
    pub loss: f64,
    /// Learning rate of that step.
    pub learning_rate: f64,
}

/// What an extraction took.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct Learning {
    /// Version of the prompts.
    pub prompt_version: i32,
    /// Calls to the judge that the findings rest on.
    pub calls: i64,
    /// Calls that the training's last attempt made, malformed answers among them; the others had been answered before.
    pub calls_made: i64,
    /// Tokens read by the calls made.
    pub input_tokens: i64,
    /// Tokens written by the calls made.
    pub output_tokens: i64,
    /// What the calls made cost, in millionths of a US dollar; null if the model's price is not known.
    #[schema(required = true)]
    pub cost_micros: Option<i64>,
    /// When it was recorded.
    pub recorded_at: Moment,
}

/// What was learnt about one action. It is never made an annotation.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct Finding {
    /// The trace.
    pub trace_id: Uuid,
    /// Zero-based index of the action.
    pub step_index: i32,
    /// `positive`, `negative` or `unclear`.
    #[schema(value_type = names::FindingLabel)]
    pub label: String,
    /// `high` or `low`: the classifier's own judgment, no probability.
    #[schema(value_type = names::FindingConfidence)]
    pub confidence: String,
    /// `user_feedback`: a person's words; `ai_judgment`: a model's own judgment.
    #[schema(value_type = names::FindingSource)]
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
    /// Why it makes no pair, such as `tie` or `unclear`; null if it makes one.
    #[schema(required = true)]
    pub exclusion: Option<String>,
}

/// Where to fetch a checkpoint.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Weights {
    /// A link that works for five minutes, without a key.
    pub url: String,
}
