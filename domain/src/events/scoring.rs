//! Scores that a model gave.

use crate::ids::{JobId, RewardModelId, ScoringRunId, TraceId};
use crate::sealed::Bundle;
use serde::{Deserialize, Serialize};

/// A scoring of one trace by one trained model was asked for; its job is requested in the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoringRequested {
    /// The run.
    pub run_id: ScoringRunId,
    /// The job that does it.
    pub job_id: JobId,
    /// The trace.
    pub trace_id: TraceId,
    /// The model.
    pub reward_model_id: RewardModelId,
}

/// A model's scores of traces and of their actions.
///
/// One frame per trace ([`crate::reward::frame`]), sealed under the trace's key. A score counts only while the digest it was
/// made from equals the current text's digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoresRecorded {
    /// The model.
    pub reward_model_id: RewardModelId,
    /// The scoring run these answer; none for the scores published with a training.
    pub run_id: Option<ScoringRunId>,
    /// Number of traces with a score.
    pub trace_count: i64,
    /// Number of actions with a score.
    pub action_count: i64,
    /// The scores.
    pub bundle: Bundle,
    /// Arithmetic that they were computed in, such as `bf16`; none when all were known already, or it was not noted.
    pub precision: Option<String>,
}
