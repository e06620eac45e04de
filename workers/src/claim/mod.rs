//! Taking a job: Postgres proposes, the log decides.
//!
//! A worker looks up the oldest queued job of its classes and appends `JobClaimed` with the version it saw. Of two workers that
//! do so at once, one record is accepted and the other is void. The attempt number in it is the fencing token: every later
//! record of this attempt names the stream's version, so that one which comes after the lease has expired is void too.

use crate::context::{Said, Worker, WorkerError};
use stash_domain::events::JobClaimed;
use stash_domain::ids::{JobId, OwnerId, RewardModelId, ScoringRunId};
use stash_domain::jobs::retry;
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// A job as a worker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whose it is.
    pub owner: OwnerId,
    /// The job.
    pub job: JobId,
    /// `train`, `score` or `purge`.
    pub kind: String,
    /// Its compute class.
    pub compute: String,
    /// The model it is about.
    pub reward_model: Option<RewardModelId>,
    /// The scoring run it is about.
    pub run: Option<ScoringRunId>,
    /// The latest attempt; after a claim, this worker's.
    pub attempt: i32,
    /// Code of the last attempt's error.
    pub error_code: Option<String>,
    /// Whether someone asked for it to stop.
    pub cancel_requested: bool,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Version of its stream.
    pub version: u64,
}

#[derive(sqlx::FromRow)]
struct Row {
    owner_id: Uuid,
    job_id: Uuid,
    kind: String,
    compute: String,
    reward_model_id: Option<Uuid>,
    run_id: Option<Uuid>,
    attempt: i32,
    error_code: Option<String>,
    cancel_requested: bool,
    created_at: i64,
    updated_at: i64,
    version: i64,
}

impl From<Row> for Candidate {
    fn from(row: Row) -> Self {
        Self {
            owner: row.owner_id.into(),
            job: row.job_id.into(),
            kind: row.kind,
            compute: row.compute,
            reward_model: row.reward_model_id.map(Into::into),
            run: row.run_id.map(Into::into),
            attempt: row.attempt,
            error_code: row.error_code,
            cancel_requested: row.cancel_requested,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            version: row.version.cast_unsigned(),
        }
    }
}

/// The next job this worker may take now: the oldest one whose pause after a failed attempt is over.
///
/// # Errors
/// Those of the database.
pub async fn candidate(worker: &Worker) -> Result<Option<Candidate>, WorkerError> {
    let rows: Vec<Row> =
        sqlx::query_as(include_str!("candidates.sql")).bind(&worker.classes).fetch_all(&worker.pool).await?;
    let now = worker.now();
    Ok(rows.into_iter().map(Candidate::from).find(|job| {
        let failed = u32::try_from(job.attempt).unwrap_or(0);
        failed == 0 || now >= retry::not_before(job.updated_at, failed, job.job.0.as_u128() as u64)
    }))
}

/// Jobs that some worker is said to have.
///
/// # Errors
/// Those of the database.
pub async fn running(worker: &Worker) -> Result<Vec<Candidate>, WorkerError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("running.sql")).fetch_all(&worker.pool).await?;
    Ok(rows.into_iter().map(Candidate::from).collect())
}

/// A job as it stands now, with its state's name.
///
/// # Errors
/// Those of the database.
pub async fn look(worker: &Worker, owner: OwnerId, job: JobId) -> Result<Option<(Candidate, String)>, WorkerError> {
    #[derive(sqlx::FromRow)]
    struct WithState {
        #[sqlx(flatten)]
        row: Row,
        state: String,
    }
    let row: Option<WithState> =
        sqlx::query_as(include_str!("one.sql")).bind(owner.0).bind(job.0).fetch_optional(&worker.pool).await?;
    Ok(row.map(|found| (found.row.into(), found.state)))
}

/// Claims a job. `None`: another worker, or a cancellation, came first.
///
/// # Errors
/// [`WorkerError`]; the claim may then still come into force, and its lease expires.
pub async fn claim(worker: &Worker, found: Candidate) -> Result<Option<Candidate>, WorkerError> {
    let attempt = found.attempt.saturating_add(1);
    let event = JobClaimed { job_id: found.job, attempt, worker: worker.name.clone() };
    let append = Append {
        stream: StreamId::Job(found.job),
        expected: Expected::Version(found.version),
        events: vec![event.into()],
    };
    // With the version: a claim that was void because something else was said in between is made anew, on what stands then.
    let key = format!("claim/{attempt}/{}/{}", worker.name, found.version);
    match worker.say(found.owner, found.job, &key, vec![append]).await? {
        Said::Accepted => Ok(Some(Candidate { attempt, version: found.version + 1, ..found })),
        Said::Void => Ok(None),
    }
}
