//! What every job needs of its worker, and how a worker speaks to the log.

use crate::claim::Candidate;
use crate::extraction::Judging;
use crate::scoring::{OrtOptions, Precision};
use sqlx::PgPool;
use stash_domain::admit::Verdict;
use stash_domain::ids::{CommandId, Digest, JobId, OwnerId, derive};
use stash_domain::record::{Actor, Append, Record};
use stash_domain::time::Timestamp;
use stash_infra::artifacts::ArtifactStore;
use stash_infra::clock::Clock;
use stash_infra::lease::{JobLease, JobLeases};
use stash_infra::llm::Llm;
use stash_infra::subject_keys::SubjectKeys;
use stash_infra::submit::{Outcome, SubmitError, Submitter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Attempts to get a verdict on one record before the worker gives the job up to its lease.
const VERDICT_ATTEMPTS: u32 = 30;

/// Pause between them.
const VERDICT_PAUSE: Duration = Duration::from_secs(1);

/// One worker: it does one job at a time.
pub struct Worker {
    /// Its name, unique among all workers that ever ran: it is part of the ids of its claims.
    pub name: String,
    /// Compute classes whose jobs it takes.
    pub classes: Vec<String>,
    /// The door to the log.
    pub submitter: Arc<Submitter>,
    /// Connections that see every owner's rows; each query names the owner itself.
    pub pool: PgPool,
    /// Opens and seals content.
    pub keys: Arc<SubjectKeys>,
    /// Blobs and checkpoints.
    pub store: Arc<dyn ArtifactStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where job directories are made.
    pub scratch: PathBuf,
    /// The trainer's program.
    pub trainer: Option<PathBuf>,
    /// Folders in which base models are looked for, by name.
    pub bases: Vec<PathBuf>,
    /// Who judges what agents did.
    pub judge: Judging,
    /// The model that writes titles; none: titles are those given or derived.
    pub titles: Option<Arc<dyn Llm>>,
    /// Threads of training and scoring.
    pub threads: usize,
    /// Arithmetic of scoring; none for the fastest that the machine has.
    pub precision: Option<Precision>,
    /// How long an attempt holds without a sign of life; it is renewed six times as often.
    pub lease: Duration,
}

/// What the log says to a worker's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It holds.
    Accepted,
    /// It is void: the job's stream has moved on.
    Void,
}

/// Why a worker could not go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The log refused a record.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The database cannot be asked.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// No verdict came within a minute.
    #[error("the log took a record but no verdict came; is a projector running?")]
    NoVerdict,
}

impl Worker {
    /// How it scores.
    pub fn scoring(&self) -> OrtOptions {
        OrtOptions { threads: Some(self.threads), precision: self.precision }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The table of leases.
    pub fn leases(&self) -> JobLeases {
        JobLeases::with_length(self.pool.clone(), self.lease)
    }

    /// This worker's lease of an attempt.
    pub fn lease_of(&self, job: &Candidate) -> JobLease {
        JobLease {
            job_id: job.job,
            owner_id: job.owner,
            attempt: job.attempt.unsigned_abs(),
            worker: self.name.clone(),
        }
    }

    /// Appends events of a job and waits for the verdict. `key` names what is said; saying the same again changes nothing.
    ///
    /// # Errors
    /// [`WorkerError`]; the record may still come into force.
    pub async fn say(&self, owner: OwnerId, job: JobId, key: &str, appends: Vec<Append>) -> Result<Said, WorkerError> {
        let command = CommandId(derive("worker", &[job.0.as_bytes(), key.as_bytes()]));
        self.append(owner, command, job.0, appends).await
    }

    /// Appends events as one command and waits for the verdict. `about` is what they belong to, for tracing.
    ///
    /// # Errors
    /// [`WorkerError`]; the record may still come into force.
    pub async fn append(
        &self,
        owner: OwnerId,
        command: CommandId,
        about: Uuid,
        appends: Vec<Append>,
    ) -> Result<Said, WorkerError> {
        let record = Record {
            command_id: command,
            owner_id: owner,
            request_digest: Digest::of(command.0.as_bytes()),
            actor: Actor::System,
            causation_id: None,
            correlation_id: about,
            recorded_at: self.now(),
            appends,
        };
        let mut outcome = self.submitter.submit(&record).await?;
        for _ in 0..VERDICT_ATTEMPTS {
            match outcome {
                Outcome::Judged { judged, .. } => {
                    return Ok(if judged.verdict == Verdict::Accepted { Said::Accepted } else { Said::Void });
                }
                // In the log, or perhaps not: where the log did not answer, the same record is offered again.
                Outcome::Pending { position } => {
                    tokio::time::sleep(VERDICT_PAUSE).await;
                    outcome = match self.submitter.find_verdict(command).await? {
                        Some(judged) if judged.verdict == Verdict::Accepted => return Ok(Said::Accepted),
                        Some(_) => return Ok(Said::Void),
                        None if position.is_none() => self.submitter.submit(&record).await?,
                        None => Outcome::Pending { position },
                    };
                }
            }
        }
        Err(WorkerError::NoVerdict)
    }
}
