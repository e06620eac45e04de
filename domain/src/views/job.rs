//! A job as it stands now. The attempt number is the fencing token: what an attempt says after a later one began, or after the
//! job ended, changes nothing.

use super::Context;
use super::curve::{self, Curve};
use crate::events::Event;
use crate::ids::{JobId, RewardModelId, ScoringRunId};
use crate::time::Timestamp;

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Done.
    Succeeded,
    /// Given up.
    Failed,
    /// Stopped on request.
    Cancelled,
    /// Given up after all attempts; an operator may look at it.
    Parked,
}

impl JobState {
    /// The name, as in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
    }

    /// The state of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Parked]
            .into_iter()
            .find(|state| state.name() == name)
    }

    /// Whether nothing more happens to it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A job's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// `train`, `score` or `purge`.
    pub kind: String,
    /// Compute class whose workers may take it.
    pub compute: String,
    /// The model it is about.
    pub reward_model_id: Option<RewardModelId>,
    /// The scoring run it is about.
    pub run_id: Option<ScoringRunId>,
    /// Where it is.
    pub state: JobState,
    /// The latest attempt; 0 before the first claim.
    pub attempt: i32,
    /// The worker of that attempt.
    pub worker: Option<String>,
    /// Phase that the attempt reported last.
    pub phase: Option<String>,
    /// Share done, 0 to 1.
    pub fraction: f64,
    /// How far the steps of a training are; none before the first.
    pub curve: Option<Curve>,
    /// Code of the last error.
    pub error_code: Option<String>,
    /// The last error, for people.
    pub error: Option<String>,
    /// Whether someone asked for it to stop.
    pub cancel_requested: bool,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it first began.
    pub started_at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Version of its stream: the number of its events.
    pub version: u64,
}

/// The job that an event is about.
pub fn key(event: &Event) -> Option<JobId> {
    match event {
        Event::JobRequested(event) => Some(event.job_id),
        Event::JobClaimed(event) => Some(event.job_id),
        Event::JobProgressed(event) => Some(event.job_id),
        Event::JobCompleted(event) => Some(event.job_id),
        Event::JobFailed(event) => Some(event.job_id),
        Event::JobCancelRequested(event) => Some(event.job_id),
        Event::JobCancelled(event) => Some(event.job_id),
        Event::JobLeaseExpired(event) => Some(event.job_id),
        Event::JobParked(event) => Some(event.job_id),
        _ => None,
    }
}

/// The row after an event.
pub fn fold(row: Option<Job>, event: &Event, context: Context) -> Option<Job> {
    if let Event::JobRequested(event) = event {
        return row.map(count).or_else(|| {
            Some(Job {
                id: event.job_id,
                kind: event.kind.clone(),
                compute: event.compute.clone(),
                reward_model_id: event.reward_model_id,
                run_id: event.run_id,
                state: JobState::Queued,
                attempt: 0,
                worker: None,
                phase: None,
                fraction: 0.0,
                curve: None,
                error_code: None,
                error: None,
                cancel_requested: false,
                created_at: context.recorded_at,
                started_at: None,
                updated_at: context.recorded_at,
                finished_at: None,
                version: 1,
            })
        });
    }
    let before = count(row?);
    let after = next(before.clone(), event, context).unwrap_or(before);
    Some(after)
}

/// Every event counts for the version, also one that changes nothing else.
fn count(mut job: Job) -> Job {
    job.version = job.version.saturating_add(1);
    job
}

/// The row that an event leads to; none when it is void for this job.
fn next(mut job: Job, event: &Event, context: Context) -> Option<Job> {
    if job.state.is_over() {
        return None;
    }
    let running = |job: &Job, attempt: i32| job.state == JobState::Running && job.attempt == attempt;
    match event {
        Event::JobClaimed(event) if job.state == JobState::Queued && event.attempt == job.attempt.saturating_add(1) => {
            job.state = JobState::Running;
            job.attempt = event.attempt;
            job.worker = Some(event.worker.clone());
            job.phase = None;
            job.fraction = 0.0;
            job.started_at = job.started_at.or(Some(context.recorded_at));
        }
        Event::JobProgressed(event) if running(&job, event.attempt) => {
            job.phase = Some(event.phase.clone());
            job.fraction = event.fraction.clamp(0.0, 1.0);
            if let Some(training) = &event.training {
                job.curve = Some(curve::fold(job.curve.take(), training));
            }
        }
        Event::JobCompleted(event) if running(&job, event.attempt) => {
            job.state = JobState::Succeeded;
            job.fraction = 1.0;
            job.error = None;
            job.error_code = None;
        }
        Event::JobFailed(event) if running(&job, event.attempt) => {
            job.state = if event.retry { JobState::Queued } else { JobState::Failed };
            job.error_code = Some(event.code.clone());
            job.error = Some(event.message.clone());
        }
        Event::JobCancelRequested(_) => job.cancel_requested = true,
        Event::JobCancelled(event) if event.attempt == job.attempt => job.state = JobState::Cancelled,
        Event::JobLeaseExpired(event) if running(&job, event.attempt) => job.state = JobState::Queued,
        Event::JobParked(event) if event.attempt == job.attempt => {
            job.state = JobState::Parked;
            job.error_code = Some(event.code.clone());
            job.error = Some(event.message.clone());
        }
        _ => return None,
    }
    job.updated_at = context.recorded_at;
    job.finished_at = job.state.is_over().then_some(context.recorded_at);
    Some(job)
}
