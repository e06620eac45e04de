//! A scoring run as it stands now. Its status follows its job.

use super::Context;
use super::job::Job;
use super::reward_model::{error_of, status_of};
use crate::events::Event;
use crate::ids::{JobId, RewardModelId, ScoringRunId, TraceId};
use crate::time::Timestamp;

/// A scoring run's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoringRun {
    /// Its id.
    pub id: ScoringRunId,
    /// The job that does it.
    pub job_id: JobId,
    /// The trace.
    pub trace_id: TraceId,
    /// The model.
    pub reward_model_id: RewardModelId,
    /// `queued`, `running`, `succeeded` or `failed`.
    pub status: &'static str,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When its job first began.
    pub started_at: Option<Timestamp>,
    /// When its job ended.
    pub finished_at: Option<Timestamp>,
}

/// The row after an event of its own stream.
pub fn fold(row: Option<ScoringRun>, event: &Event, context: Context) -> Option<ScoringRun> {
    match event {
        Event::ScoringRequested(event) => Some(ScoringRun {
            id: event.run_id,
            job_id: event.job_id,
            trace_id: event.trace_id,
            reward_model_id: event.reward_model_id,
            status: "queued",
            error: None,
            created_at: context.recorded_at,
            started_at: None,
            finished_at: None,
        }),
        _ => row,
    }
}

/// The row after its job moved.
pub fn follow(row: ScoringRun, job: &Job) -> ScoringRun {
    ScoringRun {
        status: status_of(job.state),
        error: error_of(job.state, job.error.as_deref()),
        started_at: job.started_at,
        finished_at: job.finished_at,
        ..row
    }
}
