//! Rebuilding the read models from the first record of the log, beside the live ones.
//!
//! 1. In one transaction, create the next generation's schema and apply the log to it, as far as the live tables are, while their
//!    projector goes on. A rebuild that ends early leaves nothing that is shown, and Postgres, where it has no replicas, writes rows of tables that
//!    the same transaction made once, to the tables, and not to its own log before.
//! 2. In one transaction of the live schema, lock its checkpoints: the live projector waits at its next commit. Apply what is
//!    still missing, up to exactly the live positions.
//! 3. Compare the digests of all tables. When they are equal (or the caller wants the new ones whatever they are, or the live ones
//!    have the shape of another version and cannot be compared), point the
//!    views at the new generation and raise the live epoch: the waiting projector's commit is refused, and it starts over in the
//!    new schema.
//!
//! The generation before is kept until the next rebuild. Nothing of this shreds a key or writes to the log.

use crate::checkpoint::Checkpoints;
use crate::digest::{self, TableDigest};
use crate::error::{ApplyError, ProjectionError};
use crate::read_ahead::ReadAhead;
use crate::read_models::{Deps, Kind, Tools};
use crate::{isolate, schema};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, Transaction};
use stash_domain::position::{Offset, Partition};
use stash_infra::event_log::EventLog;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// What a rebuild did.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    /// Schema that the views show now.
    pub schema: String,
    /// Records applied.
    pub records: u64,
    /// Digests of the new tables.
    pub digests: Vec<TableDigest>,
    /// Tables whose digests differ from the live ones; empty unless differences were accepted. Those of another shape are not
    /// compared.
    pub different: Vec<&'static str>,
}

/// How to rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDifference {
    /// Keep the live tables and fail.
    #[default]
    Keep,
    /// Switch to the rebuilt tables all the same, after a change of the folds for instance.
    Switch,
}

/// Rebuilds and switches. `progress` is told how many records are applied, and of how many.
///
/// # Errors
/// [`ProjectionError`]; the live tables are then untouched and still shown.
pub async fn rebuild(
    pool: &PgPool,
    log: &Arc<dyn EventLog>,
    deps: &Deps,
    on_difference: OnDifference,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Rebuilt, ProjectionError> {
    // Detached, because both get other settings than their pool gives out. The first one's end frees the lock.
    let mut live = pool.acquire().await?.detach();
    if !schema::try_lock_rebuild(&mut live).await? {
        return Err(ProjectionError::Rebuilding);
    }
    let rebuilt = rebuild_beside(&mut live, pool, log, deps, on_difference, progress).await;
    // The end of the connection frees it too, but only once the server has noticed.
    if let Err(error) = schema::unlock_rebuild(&mut live).await {
        tracing::debug!(%error, "the lock of the rebuild goes with its connection");
    }
    rebuilt
}

async fn rebuild_beside(
    live: &mut PgConnection,
    pool: &PgPool,
    log: &Arc<dyn EventLog>,
    deps: &Deps,
    on_difference: OnDifference,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Rebuilt, ProjectionError> {
    let from = schema::ensure(live).await?;
    schema::enter(live, &from).await?;
    sqlx::query(include_str!("schema/patience.sql")).execute(&mut *live).await?;
    let to = schema::after(&from);
    schema::drop_others(live, &from).await?;

    let mut connection = pool.acquire().await?.detach();
    let mut connection = connection.begin().await?;
    schema::create(&mut connection, &to).await?;
    schema::enter(&mut connection, &to).await?;
    let partitions: Vec<Partition> = (0..log.partitions()).map(Partition).collect();
    let mut checkpoints = Checkpoints::take(&mut connection, log.id(), &partitions).await?;
    let mut work = Work { log, tools: Tools::new(deps, Kind::Rebuild, false), connection, records: 0, progress };

    // Only as far as the live tables, which may lag behind the log: they could not be compared otherwise.
    let goal = positions(live, &from, log, on_difference).await?;
    work.apply_up_to(&mut checkpoints, &goal).await?;

    let mut tx = live.begin().await?;
    sqlx::query(AssertSqlSafe(include_str!("checkpoint/lock.sql").replace("{schema}", &from)))
        .execute(&mut *tx)
        .await?;
    let goal = positions(&mut tx, &from, log, on_difference).await?;
    work.apply_up_to(&mut checkpoints, &goal).await?;
    let (digests, different) = if schema::is_current(&mut tx, &from).await? {
        let (live, rebuilt) = tokio::try_join!(digest::of(&mut tx, &from), digest::of(&mut work.connection, &to))?;
        let different = compare(&live, &rebuilt, on_difference)?;
        (rebuilt, different)
    } else {
        (digest::of(&mut work.connection, &to).await?, Vec::new())
    };
    sqlx::query(AssertSqlSafe(include_str!("checkpoint/fence.sql").replace("{schema}", &from)))
        .execute(&mut *tx)
        .await?;
    let Work { connection, records, .. } = work;
    connection.commit().await?;
    schema::switch_to(&mut tx, &to).await?;
    tx.commit().await?;
    Ok(Rebuilt { schema: to, records, digests, different })
}

struct Work<'a> {
    log: &'a Arc<dyn EventLog>,
    tools: Tools,
    connection: Transaction<'a, Postgres>,
    records: u64,
    progress: &'a mut (dyn FnMut(u64, u64) + Send),
}

impl Work<'_> {
    /// Applies every partition from its checkpoint to just before these offsets.
    async fn apply_up_to(
        &mut self,
        checkpoints: &mut Checkpoints,
        to: &BTreeMap<Partition, Offset>,
    ) -> Result<(), ProjectionError> {
        let end = |partition: &Partition| to.get(partition).copied().unwrap_or_default();
        let missing = |checkpoints: &Checkpoints| -> u64 {
            checkpoints.all().iter().map(|(partition, next)| end(partition).0.saturating_sub(next.0)).sum()
        };
        let total = self.records + missing(checkpoints);
        // Only partitions with something to read, so that no record at or after the end is ever handed out needlessly.
        let from: Vec<_> = checkpoints.all().into_iter().filter(|(partition, next)| *next < end(partition)).collect();
        if from.is_empty() {
            return Ok(());
        }
        let mut ahead = ReadAhead::start(self.log.read(&from).await?, missing(checkpoints), to.clone());
        while missing(checkpoints) > 0 {
            let entries = ahead.next().await?;
            isolate::apply(&mut self.connection, checkpoints, &entries, &self.tools, &mut |_| {}).await?;
            self.records += entries.len() as u64;
            (self.progress)(self.records, total);
        }
        Ok(())
    }
}

/// How far the live tables are; for those of another log, which are to be replaced whatever they hold, the log's end.
async fn positions(
    live: &mut PgConnection,
    schema: &str,
    log: &Arc<dyn EventLog>,
    on_difference: OnDifference,
) -> Result<BTreeMap<Partition, Offset>, ProjectionError> {
    let statement = include_str!("checkpoint/read.sql").replace("{schema}", schema);
    let rows: Vec<(i32, Uuid, i64)> = sqlx::query_as(AssertSqlSafe(statement)).fetch_all(live).await?;
    let mut positions = BTreeMap::new();
    for (partition, log_id, next) in rows {
        let partition =
            Partition(u16::try_from(partition).map_err(|_| ApplyError::damaged("es_checkpoint.partition"))?);
        if log_id == log.id().0 {
            positions.insert(partition, Offset(next.cast_unsigned()));
        } else if on_difference == OnDifference::Switch {
            return tails(log).await;
        } else {
            return Err(ProjectionError::AnotherLog(partition));
        }
    }
    Ok(positions)
}

async fn tails(log: &Arc<dyn EventLog>) -> Result<BTreeMap<Partition, Offset>, ProjectionError> {
    let mut tails = BTreeMap::new();
    for partition in (0..log.partitions()).map(Partition) {
        tails.insert(partition, log.tail(partition).await?);
    }
    Ok(tails)
}

fn compare(
    live: &[TableDigest],
    rebuilt: &[TableDigest],
    on_difference: OnDifference,
) -> Result<Vec<&'static str>, ProjectionError> {
    let mut different = Vec::new();
    for (live, rebuilt) in live.iter().zip(rebuilt) {
        if live == rebuilt {
            continue;
        }
        if on_difference == OnDifference::Keep {
            return Err(ProjectionError::Differs {
                table: live.table.to_owned(),
                live: live.to_string(),
                rebuilt: rebuilt.to_string(),
            });
        }
        different.push(live.table);
    }
    Ok(different)
}
