//! Personal reward models: asked for, then trained; renamed and deleted by people. Failure and cancellation are told by the events
//! of the model's job.

use crate::ids::{JobId, RewardModelId, TraceId};
use crate::sealed::{Bundle, Sealed};
use serde::{Deserialize, Serialize};

/// A reward model was asked for; its job is requested in the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardModelCreated {
    /// The model.
    pub reward_model_id: RewardModelId,
    /// The job that trains it.
    pub job_id: JobId,
    /// The name a person gave it, as UTF-8, sealed under the model's own key.
    pub name: Sealed,
    /// Name of the base model.
    pub base_model: String,
    /// Compute class of the deployment at that time, such as `local`.
    pub compute: String,
    /// Passes over the pairs.
    pub epochs: i32,
    /// Most pairs to train on.
    pub max_pairs: i32,
    /// Seed of every random choice.
    pub seed: i64,
    /// Peak learning rate; none means the recipe's default for the base.
    pub learning_rate: Option<f64>,
    /// The traces selected, in the caller's order.
    pub trace_ids: Vec<TraceId>,
    /// How to train; none means the recipe's defaults.
    pub training: Option<TrainingOptions>,
}

/// Choices of a training, beside passes, seed and learning rate. None means the recipe's default for the base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingOptions {
    /// `full` or `lora`.
    pub method: Option<String>,
    /// Rank of the adapters.
    pub lora_rank: Option<i32>,
    /// An adapter's product is multiplied by this over the rank.
    pub lora_alpha: Option<f64>,
    /// Pairs of an optimizer step.
    pub batch_pairs: Option<i32>,
    /// How the rate goes on after the warm-up: `linear`, `cosine` or `constant`.
    pub schedule: Option<String>,
    /// Share of the steps over which the rate rises.
    pub warmup: Option<f64>,
    /// Weight decay of projections.
    pub weight_decay: Option<f64>,
    /// The gradient is scaled down to this length.
    pub clip_norm: Option<f64>,
    /// Coefficient of `(r_chosen + r_rejected)^2`.
    pub center: Option<f64>,
    /// Whether the token embedding stays as it is.
    pub freeze_embeddings: Option<bool>,
}

/// A reward model was trained and everything of it published at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardModelTrained {
    /// The model.
    pub reward_model_id: RewardModelId,
    /// Number of pairs used.
    pub num_pairs: i64,
    /// The metrics object of the API, as JSON text (numbers and names only).
    pub metrics: String,
    /// Key of the checkpoint archive in the artifact store.
    pub artifact_key: String,
    /// SHA-256 of the archive, hexadecimal.
    pub artifact_digest: String,
    /// Mean score of the training action pairs' texts; none without action pairs.
    pub action_mean: Option<f64>,
    /// Standard deviation of the same.
    pub action_std: Option<f64>,
    /// The exact pairs: one frame per side, sealed under that side's trace ([`crate::learning::frame`]).
    pub pairs: Bundle,
    /// SHA-256 of the file of pairs that the trainer was given, hexadecimal; none before version 2.
    pub dataset_digest: Option<String>,
    /// SHA-256 of the base's weights, hexadecimal; none before version 2.
    pub base_checksum: Option<String>,
    /// Version of the trainer; none before version 2.
    pub code_version: Option<String>,
}

/// A reward model got another name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardModelRenamed {
    /// The model.
    pub reward_model_id: RewardModelId,
    /// The name, as UTF-8, sealed under the model's own key.
    pub name: Sealed,
}

/// A reward model was deleted with its scores, findings and pairs; the key of its names is shredded. A job of its own removes the
/// checkpoint. That there was a model, of what and with which figures, stays in the events before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardModelDeleted {
    /// The model.
    pub reward_model_id: RewardModelId,
}
