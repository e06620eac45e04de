//! What each kind of job does.

pub mod engine;
pub mod purge;
pub mod score;
pub mod scores;
pub mod subjects;
pub mod trace;
pub mod train;

use crate::claim::Candidate;
use crate::context::{Worker, WorkerError};
use stash_domain::error::Code;
use stash_domain::events::{JobProgressed, TrainingProgress};
use stash_domain::record::{Append, Expected, StreamId};
use stash_infra::artifacts::ArtifactError;
use stash_infra::bundle::BundleError;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// An attempt at a job.
pub struct Running {
    /// Who does it.
    pub worker: Arc<Worker>,
    /// The job.
    pub job: Candidate,
    /// Cancelled when someone asked for the job to stop, or the worker itself stops.
    pub cancel: CancellationToken,
    /// Cancelled when the worker stops: the job then goes on elsewhere, or here later.
    pub stop: CancellationToken,
}

/// What an attempt made.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Events that are appended together with the job's completion.
    pub appends: Vec<Append>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Stable code.
    pub code: Code,
    /// What was wrong and what to do, without any content of a trace.
    pub message: String,
    /// Whether another attempt may go better.
    pub retry: bool,
}

impl Failure {
    /// A fault of the input: another attempt would fail the same way.
    pub fn of_input(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry: false }
    }

    /// Something that may pass.
    pub fn may_pass(message: impl std::fmt::Display) -> Self {
        Self { code: Code::Unavailable, message: message.to_string(), retry: true }
    }

    /// A fault of Stash: the cause goes to the worker's log.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "a job failed by a fault of Stash");
        Self {
            code: Code::Internal,
            message: "this is a fault of Stash; the worker's log has the cause under the job's id".to_owned(),
            retry: true,
        }
    }

    /// The job was asked to stop.
    pub fn cancelled() -> Self {
        Self::of_input(Code::Cancelled, "cancelled")
    }

    /// The attempt's lease is gone: whatever it says is void.
    pub fn superseded() -> Self {
        Self::may_pass("the attempt lost its lease")
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        tracing::warn!(%error, "the database failed during a job");
        Self::may_pass("the database did not answer")
    }
}

impl From<WorkerError> for Failure {
    fn from(error: WorkerError) -> Self {
        tracing::warn!(%error, "the log failed during a job");
        Self::may_pass("the event log did not answer")
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        Self::internal(error)
    }
}

impl From<ArtifactError> for Failure {
    fn from(error: ArtifactError) -> Self {
        match error {
            ArtifactError::Full(_) => Self {
                code: Code::StorageFull,
                message: "the artifact store is full; free space, the job is tried again".to_owned(),
                retry: true,
            },
            ArtifactError::Unavailable(_) => Self::may_pass("the artifact store did not answer"),
            error => Self::internal(error),
        }
    }
}

impl Running {
    /// Whether it is the worker that ends, and not the job.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether to stop now.
    ///
    /// # Errors
    /// [`Failure::cancelled`].
    pub fn check(&self) -> Result<(), Failure> {
        if self.cancel.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }

    /// Says how far the attempt is. Coarse: each call is a record of the log.
    ///
    /// # Errors
    /// Those of the log.
    pub async fn progress(&self, phase: &str, fraction: f64) -> Result<(), Failure> {
        let key = format!("{phase}/{:03}", (fraction * 100.0) as i64);
        self.tell(phase, fraction, None, &key).await
    }

    /// Says how far the steps of a training are, with the points of its curve since it was said before.
    ///
    /// # Errors
    /// Those of the log.
    pub async fn training(&self, fraction: f64, training: TrainingProgress) -> Result<(), Failure> {
        let key = format!("steps/{}/{}", training.step, training.points.len());
        self.tell("training", fraction, Some(training), &key).await
    }

    async fn tell(
        &self,
        phase: &str,
        fraction: f64,
        training: Option<TrainingProgress>,
        key: &str,
    ) -> Result<(), Failure> {
        let (job_id, attempt) = (self.job.job, self.job.attempt);
        let event = JobProgressed { job_id, attempt, phase: phase.to_owned(), fraction, training };
        // Any version: a progress that comes late is passed over by its attempt number.
        let append = Append { stream: StreamId::Job(job_id), expected: Expected::Any, events: vec![event.into()] };
        let key = format!("progress/{attempt}/{key}");
        self.worker.say(self.job.owner, job_id, &key, vec![append]).await?;
        Ok(())
    }
}

/// Does the job.
///
/// # Errors
/// [`Failure`].
pub async fn run(running: &Running) -> Result<Done, Failure> {
    match running.job.kind.as_str() {
        "train" => train::run(running).await,
        "score" => score::run(running).await,
        "purge" => purge::run(running).await,
        other => Err(Failure::internal(format_args!("there is no job kind {other:?}"))),
    }
}
