//! A job's life. The attempt number is the fencing token: what attempt 1 says after attempt 2 began is void.

use crate::ids::{JobId, RewardModelId, ScoringRunId};
use serde::{Deserialize, Serialize};

/// Background work was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRequested {
    /// The job.
    pub job_id: JobId,
    /// `train`, `score` or `purge`.
    pub kind: String,
    /// Compute class whose workers may take it.
    pub compute: String,
    /// The model it is about.
    pub reward_model_id: Option<RewardModelId>,
    /// The scoring run it is about.
    pub run_id: Option<ScoringRunId>,
}

/// A worker took the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobClaimed {
    /// The job.
    pub job_id: JobId,
    /// 1 for the first claim, then one more each time.
    pub attempt: i32,
    /// Name of the worker, for people.
    pub worker: String,
}

/// The running attempt got further. Coarse: a few per job, and of a training at most one for each point of its curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobProgressed {
    /// The job.
    pub job_id: JobId,
    /// The attempt that says so.
    pub attempt: i32,
    /// Name of the phase, such as `training`.
    pub phase: String,
    /// Share done of the whole job, 0 to 1.
    pub fraction: f64,
    /// How far the steps of a training are; none in other phases.
    pub training: Option<TrainingProgress>,
}

/// How far a training is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingProgress {
    /// Optimizer steps done.
    pub step: i32,
    /// Steps of the training.
    pub steps: i32,
    /// Seconds that the other steps will take.
    pub eta_s: f64,
    /// Points of the curve that no event before has told, in order of their steps.
    pub points: Vec<CurvePoint>,
}

/// A point of a training's curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The last step it is about.
    pub step: i32,
    /// Mean loss since the point before.
    pub loss: f64,
    /// Learning rate of that step.
    pub learning_rate: f64,
}

/// The job is done. What it made stands in the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobCompleted {
    /// The job.
    pub job_id: JobId,
    /// The attempt that did it.
    pub attempt: i32,
}

/// An attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobFailed {
    /// The job.
    pub job_id: JobId,
    /// The attempt.
    pub attempt: i32,
    /// Stable code of the error.
    pub code: String,
    /// What was wrong and what to do, in words that hold no content of a trace.
    pub message: String,
    /// Whether another attempt follows; none is made after the last allowed attempt or for a fault of the input.
    pub retry: bool,
}

/// Someone asked for the job to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobCancelRequested {
    /// The job.
    pub job_id: JobId,
}

/// The job stopped because it was asked to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobCancelled {
    /// The job.
    pub job_id: JobId,
    /// The attempt that stopped; 0 when none had begun.
    pub attempt: i32,
}

/// The worker of this attempt was not heard of for longer than the lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobLeaseExpired {
    /// The job.
    pub job_id: JobId,
    /// The attempt that is over now.
    pub attempt: i32,
}

/// All attempts are used up; an operator may look at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobParked {
    /// The job.
    pub job_id: JobId,
    /// The last attempt.
    pub attempt: i32,
    /// Stable code of the last error.
    pub code: String,
    /// Its message.
    pub message: String,
}
