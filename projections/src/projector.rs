//! The live projector: reads the log, applies batches, tells waiters.
//!
//! ```text
//! take the checkpoints (a new epoch fences whoever had them)
//!   └─▶ read from there ─▶ decode ─▶ apply in one transaction ─▶ verdicts to the hub, marks forward ─┐
//!         ▲                                                                                         │
//!         └─────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//! Anything that fails drops the reader and the connection and starts over from the checkpoints: what was committed stays, what
//! was not is applied again.

use crate::batch::{Applied, Entry};
use crate::checkpoint::Checkpoints;
use crate::error::{ApplyError, ProjectionError};
use crate::read_models::{Deps, Kind, Tools};
use crate::{dead_letter, isolate, schema};
use sqlx::{Connection as _, PgPool};
use stash_domain::position::Partition;
use stash_infra::event_log::{EventLog, LogReader};
use stash_infra::submit::VerdictHub;
use stash_infra::watermark::Watermarks;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Records of one batch. More would make the transaction, and so the wait of each command in it, longer for little gain.
pub const BATCH_RECORDS_MAX: usize = 5000;

/// How long one read waits for records. Only how soon a stop is noticed depends on it.
const READ_WAIT: Duration = Duration::from_secs(1);

/// First and longest pause after a failure.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What a projector does whose partitions another one has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFenced {
    /// Takes them again.
    TakeOver,
    /// Ends, so that its lease is asked first.
    Leave,
}

/// A projector over all partitions.
pub struct Projector {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// Connections as the schema's owner.
    pub pool: PgPool,
    /// What the read models need.
    pub deps: Deps,
    /// Waiters for verdicts in this process.
    pub hub: Arc<VerdictHub>,
    /// Waiters for positions in this process.
    pub marks: Arc<Watermarks>,
}

impl Projector {
    /// Applies the log until the token is cancelled. Failures that may pass are waited out, with growing pauses.
    ///
    /// # Errors
    /// [`ProjectionError::AnotherLog`] and [`LogError::Corrupt`](stash_infra::event_log::LogError::Corrupt): a person must look.
    pub async fn run(&self, stop: CancellationToken) -> Result<(), ProjectionError> {
        self.run_until(stop, OnFenced::TakeOver).await
    }

    /// [`Projector::run`], which may also end with [`ApplyError::Fenced`].
    pub(crate) async fn run_until(&self, stop: CancellationToken, on_fenced: OnFenced) -> Result<(), ProjectionError> {
        let mut pause = PAUSE_MIN;
        loop {
            let result = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                result = self.run_once(&mut pause) => result,
            };
            match result {
                Ok(()) => {}
                Err(error @ ProjectionError::AnotherLog(_)) => return Err(error),
                Err(error @ ProjectionError::Apply(ApplyError::Fenced)) if on_fenced == OnFenced::Leave => {
                    return Err(error);
                }
                Err(ProjectionError::Log(error @ stash_infra::event_log::LogError::Corrupt(_))) => {
                    return Err(error.into());
                }
                Err(error) => {
                    metrics::counter!("stash_projector_restarts_total").increment(1);
                    tracing::warn!(%error, pause_ms = pause.as_millis(), "the projector starts over");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// From taking the checkpoints to the first failure.
    async fn run_once(&self, pause: &mut Duration) -> Result<(), ProjectionError> {
        // Detached, because it gets another search path than its pool gives out: it never goes back, however this future ends.
        let mut connection = self.pool.acquire().await?.detach();
        let generation = schema::ensure(&mut connection).await?;
        schema::enter(&mut connection, &generation).await?;
        schema::commit_without_waiting(&mut connection).await?;
        self.project(&mut connection, &generation, pause).await
    }

    async fn project(
        &self,
        connection: &mut sqlx::PgConnection,
        generation: &str,
        pause: &mut Duration,
    ) -> Result<(), ProjectionError> {
        let partitions: Vec<Partition> = (0..self.log.partitions()).map(Partition).collect();
        let mut tx = connection.begin().await?;
        let mut checkpoints = Checkpoints::take(&mut tx, self.log.id(), &partitions).await?;
        // A rebuild that switches holds the checkpoints locked, so here it has either ended or not begun to; one that ended
        // has left these tables to nobody.
        if schema::current(&mut tx).await?.as_deref() != Some(generation) {
            return Err(ApplyError::Fenced.into());
        }
        tx.commit().await?;
        let tools = Tools::new(&self.deps, Kind::Live, dead_letter::any(connection).await?);
        for (partition, next) in checkpoints.all() {
            self.marks.applied(partition, next);
        }
        let mut reader = self.log.read(&checkpoints.all()).await?;
        loop {
            self.next_batch(connection, &mut checkpoints, reader.as_mut(), &tools).await?;
            *pause = PAUSE_MIN;
        }
    }

    async fn next_batch(
        &self,
        connection: &mut sqlx::PgConnection,
        checkpoints: &mut Checkpoints,
        reader: &mut dyn LogReader,
        tools: &Tools,
    ) -> Result<(), ProjectionError> {
        let records = reader.next(BATCH_RECORDS_MAX, READ_WAIT).await?;
        if records.is_empty() {
            return Ok(());
        }
        let entries: Vec<Entry> = records.iter().map(Entry::of).collect();
        drop(records);
        let mut told = |applied: &Applied| self.tell(applied);
        isolate::apply(connection, checkpoints, &entries, tools, &mut told).await.map_err(|error| {
            if matches!(error, ApplyError::Fenced) {
                tracing::info!("another projector, or a rebuild, has taken over");
            }
            ProjectionError::Apply(error)
        })
    }

    /// After a commit: verdicts first, so that a request in this process gets its verdict rather than asking the database.
    fn tell(&self, applied: &Applied) {
        self.hub.judged(applied.verdicts.iter().map(|(command, judged)| (*command, judged)));
        for (partition, next) in &applied.to {
            self.marks.applied(*partition, *next);
        }
        metrics::counter!("stash_projector_events_total").increment(applied.events as u64);
        metrics::counter!("stash_projector_batches_total").increment(1);
    }
}
