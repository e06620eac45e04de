//! The one door to the log: append a record and await its verdict.
//!
//! ```text
//! submit ── encode ── append ──▶ log ──▶ projector ── commit ──▶ verdict
//!    ▲                                                             │
//!    └──────── hub (same process) or es_command (another) ◀────────┘
//! ```
//!
//! Nothing acknowledged is ever lost: when the verdict does not come within the wait budget, or the log did not answer, the
//! caller is told that the command is pending and asks again later by its id.

mod verdict;

pub use verdict::VerdictHub;

use crate::event_log::{EventLog, LogError, NewRecord};
use crate::watermark::Watermarks;
use bytes::Bytes;
use sqlx::PgPool;
use stash_domain::admit::{Judged, Verdict};
use stash_domain::ids::{CommandId, Digest, OwnerId};
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::position::{Offset, Position, PositionToken, partition_of};
use stash_domain::record::Record;
use stash_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Times a record is offered to a log that does not answer before the command is left pending.
const APPEND_ATTEMPTS: usize = 2;

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its verdict is known.
    Judged {
        /// The verdict: of this record, or of the earlier one with the same command id.
        judged: Judged,
        /// Where this record stands; the read models include it.
        position: PositionToken,
    },
    /// It is in the log, or may be, and the verdict is still to come.
    Pending {
        /// Where it stands, if the log said so.
        position: Option<PositionToken>,
    },
}

/// Why a command was refused before anything happened.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The log refused the record; surely nothing was appended.
    #[error(transparent)]
    Log(LogError),
    /// The same command id was used for another request.
    #[error("this idempotency key was used before with another request")]
    Mismatch,
    /// The record cannot be encoded: a bug of ours.
    #[error("the record cannot be encoded: {0}")]
    Encode(String),
    /// The read model's database cannot be asked.
    #[error("the database cannot be reached: {0}")]
    Database(#[from] sqlx::Error),
}

/// The door. Cheap to share behind an `Arc`.
pub struct Submitter {
    log: Arc<dyn EventLog>,
    hub: Arc<VerdictHub>,
    marks: Arc<Watermarks>,
    pool: PgPool,
    wait_budget: Duration,
}

impl Submitter {
    /// A door to `log`. `pool` reads `es_command` through the view schema and needs no owner scope; `wait_budget` bounds the
    /// wait for a verdict.
    pub fn new(
        log: Arc<dyn EventLog>,
        hub: Arc<VerdictHub>,
        marks: Arc<Watermarks>,
        pool: PgPool,
        wait_budget: Duration,
    ) -> Self {
        Self { log, hub, marks, pool, wait_budget }
    }

    /// The log behind it.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// The marks it waits on.
    pub fn watermarks(&self) -> &Arc<Watermarks> {
        &self.marks
    }

    /// Appends a record and waits for its verdict, at most for the wait budget.
    ///
    /// # Errors
    /// [`SubmitError`], but never [`SubmitError::Database`]; after it, nothing was appended, except that a mismatch leaves a record
    /// without effect.
    pub async fn submit(&self, record: &Record) -> Result<Outcome, SubmitError> {
        let command = record.command_id;
        // Declared first, so dropped last: by then the receiver is closed and the hub's entry can go.
        let _forget = Forget { hub: &self.hub, command };
        let receiver = self.hub.wait(command);
        let Some(position) = self.append(record).await? else { return Ok(Outcome::Pending { position: None }) };
        let token = PositionToken::new(self.log.id(), position);
        let judged = tokio::select! {
            biased;
            judged = receiver => judged.ok(),
            () = self.applied_elsewhere(position) => self.find_verdict(command).await.unwrap_or_else(|error| {
                // The record is in the log: an error would say that it is not.
                tracing::warn!(%error, "cannot ask for a command's verdict");
                None
            }),
            () = tokio::time::sleep(self.wait_budget) => None,
        };
        match judged {
            Some(judged) if judged.request_digest != record.request_digest => Err(SubmitError::Mismatch),
            Some(judged) => Ok(Outcome::Judged { judged, position: token }),
            None => Ok(Outcome::Pending { position: Some(token) }),
        }
    }

    /// Appends a record without waiting. `None`: the log did not answer, twice, and may have taken it.
    ///
    /// # Errors
    /// [`SubmitError::Log`] or [`SubmitError::Encode`]; surely nothing was appended.
    pub async fn append(&self, record: &Record) -> Result<Option<Position>, SubmitError> {
        let value = stash_schemas::encode_record(record).map_err(|error| SubmitError::Encode(error.to_string()))?;
        if value.len() > RECORD_BYTES_MAX {
            return Err(SubmitError::Log(LogError::TooLarge { size: value.len(), limit: RECORD_BYTES_MAX }));
        }
        let mut unanswered = false;
        let record = NewRecord {
            partition: partition_of(record.owner_id, self.log.partitions()),
            key: Bytes::copy_from_slice(record.owner_id.0.as_bytes()),
            value: Bytes::from(value),
        };
        // The same record again: a second copy carries the same command id and changes nothing. Often the first attempt only found
        // that an idle connection had died with a restart of the log.
        for _ in 0..APPEND_ATTEMPTS {
            match self.log.append(vec![record.clone()]).await {
                Ok(positions) => return Ok(positions.into_iter().next()),
                Err(LogError::Unknown(reason)) => tracing::warn!(%reason, "the log did not answer an append"),
                Err(error) if !unanswered => return Err(SubmitError::Log(error)),
                // An attempt before this one may have been taken, whatever became of this one.
                Err(_) => return Ok(None),
            }
            unanswered = true;
        }
        Ok(None)
    }

    /// Waits until the read models include every record of this owner that is in the log now, at most for the wait budget, and
    /// says whether they do.
    ///
    /// # Errors
    /// [`SubmitError::Log`] when the log cannot say how far it is.
    pub async fn catch_up(&self, owner: OwnerId) -> Result<bool, SubmitError> {
        let partition = partition_of(owner, self.log.partitions());
        let tail = self.log.tail(partition).await.map_err(SubmitError::Log)?;
        let Some(last) = tail.0.checked_sub(1) else { return Ok(true) };
        Ok(self.marks.wait_for(Position { partition, offset: Offset(last) }, self.wait_budget).await)
    }

    /// The verdict on a command, if the read models know it: for repeats and for the status of a pending command.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn find_verdict(&self, command: CommandId) -> Result<Option<Judged>, SubmitError> {
        let row: Option<VerdictRow> =
            sqlx::query_as(include_str!("find_verdict.sql")).bind(command.0).fetch_optional(&self.pool).await?;
        Ok(row.map(VerdictRow::into_judged).transpose()?)
    }

    /// Resolves once a projector of another process has applied the position. With one in this process the hub answers first.
    async fn applied_elsewhere(&self, position: Position) {
        if !self.marks.wait_for(position, self.wait_budget).await {
            std::future::pending::<()>().await;
        }
    }
}

/// A row of `es_command`.
#[derive(sqlx::FromRow)]
struct VerdictRow {
    verdict: String,
    stream: Option<String>,
    expected: Option<i64>,
    actual: Option<i64>,
    request_digest: Vec<u8>,
    log_time: i64,
}

impl VerdictRow {
    fn into_judged(self) -> Result<Judged, sqlx::Error> {
        let damaged = |what: &str| sqlx::Error::Decode(format!("es_command holds a bad {what}").into());
        let verdict = match (self.verdict.as_str(), self.stream, self.expected, self.actual) {
            ("accepted", ..) => Verdict::Accepted,
            ("conflict", Some(stream), Some(expected), Some(actual)) => Verdict::Conflict {
                stream: stream.parse().map_err(|_| damaged("stream"))?,
                expected: expected.cast_unsigned(),
                actual: actual.cast_unsigned(),
            },
            _ => return Err(damaged("verdict")),
        };
        let digest: [u8; 32] = self.request_digest.try_into().map_err(|_| damaged("digest"))?;
        Ok(Judged { verdict, request_digest: Digest(digest), log_time: Timestamp(self.log_time) })
    }
}

/// Removes a request's entry from the hub when it ends, also when it is cancelled.
struct Forget<'a> {
    hub: &'a VerdictHub,
    command: CommandId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.hub.forget(self.command);
    }
}
