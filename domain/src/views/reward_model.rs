//! A reward model as it stands now. Its status, error and times of work are those of its job, joined when it is read.

use super::Context;
use super::job::JobState;
use crate::events::{Event, TrainingOptions};
use crate::ids::{JobId, RewardModelId};
use crate::sealed::Opened;
use crate::time::Timestamp;

/// A reward model's row.
#[derive(Clone, Debug, PartialEq)]
pub struct RewardModel {
    /// Its id.
    pub id: RewardModelId,
    /// The job that trains it.
    pub job_id: JobId,
    /// Its name; none when it was erased.
    pub name: Option<String>,
    /// Name of its base.
    pub base_model: String,
    /// Compute class it was asked for under.
    pub compute: String,
    /// Passes over the pairs.
    pub epochs: i32,
    /// Most pairs to train on.
    pub max_pairs: i32,
    /// Seed of every random choice.
    pub seed: i64,
    /// Peak learning rate; none means the recipe's default.
    pub learning_rate: Option<f64>,
    /// How to train.
    pub training: TrainingOptions,
    /// How many traces were selected.
    pub trace_count: i64,
    /// Pairs used.
    pub num_pairs: Option<i64>,
    /// The metrics object, JSON text.
    pub metrics: Option<String>,
    /// Key of the checkpoint archive.
    pub artifact_key: Option<String>,
    /// SHA-256 of the archive, hexadecimal.
    pub artifact_digest: Option<String>,
    /// Mean score of the training action pairs' texts.
    pub action_mean: Option<f64>,
    /// Their standard deviation.
    pub action_std: Option<f64>,
    /// SHA-256 of the pairs it was trained on, hexadecimal.
    pub dataset_digest: Option<String>,
    /// SHA-256 of the base's weights, hexadecimal.
    pub base_checksum: Option<String>,
    /// Version of the trainer.
    pub code_version: Option<String>,
    /// Whether a trace it was trained on has been erased since.
    pub trained_on_erased: bool,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// The statuses the API knows; a cancelled or parked job makes `failed`, and the error says which.
pub const STATUSES: [&str; 4] = ["queued", "running", "succeeded", "failed"];

/// The status that a job's state gives its model or scoring run.
pub fn status_of(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "queued",
        JobState::Running => "running",
        JobState::Succeeded => "succeeded",
        JobState::Failed | JobState::Cancelled | JobState::Parked => "failed",
    }
}

/// What a person is told of a job that ended without success.
pub fn error_of(state: JobState, error: Option<&str>) -> Option<String> {
    match state {
        JobState::Cancelled => Some("cancelled".to_owned()),
        JobState::Failed | JobState::Parked => error.map(str::to_owned),
        JobState::Queued | JobState::Running | JobState::Succeeded => None,
    }
}

/// The row after an event of its own stream; `name` is the event's name after opening.
pub fn fold(row: Option<RewardModel>, event: &Event, name: Opened<String>, context: Context) -> Option<RewardModel> {
    match event {
        Event::RewardModelCreated(event) => Some(RewardModel {
            id: event.reward_model_id,
            job_id: event.job_id,
            name: name.clear(),
            base_model: event.base_model.clone(),
            compute: event.compute.clone(),
            epochs: event.epochs,
            max_pairs: event.max_pairs,
            seed: event.seed,
            learning_rate: event.learning_rate,
            training: event.training.clone().unwrap_or_default(),
            trace_count: i64::try_from(event.trace_ids.len()).unwrap_or(i64::MAX),
            num_pairs: None,
            metrics: None,
            artifact_key: None,
            artifact_digest: None,
            action_mean: None,
            action_std: None,
            dataset_digest: None,
            base_checksum: None,
            code_version: None,
            trained_on_erased: false,
            created_at: context.recorded_at,
        }),
        Event::RewardModelTrained(event) => row.map(|row| RewardModel {
            num_pairs: Some(event.num_pairs),
            metrics: Some(event.metrics.clone()),
            artifact_key: Some(event.artifact_key.clone()),
            artifact_digest: Some(event.artifact_digest.clone()),
            action_mean: event.action_mean,
            action_std: event.action_std,
            dataset_digest: event.dataset_digest.clone(),
            base_checksum: event.base_checksum.clone(),
            code_version: event.code_version.clone(),
            ..row
        }),
        Event::RewardModelRenamed(_) => row.map(|row| RewardModel { name: name.clear(), ..row }),
        Event::RewardModelDeleted(_) => None,
        _ => row,
    }
}
