//! The event log in Postgres: the default, and durable on acknowledgement.
//!
//! ```text
//! append ─▶ queue ─▶ writer: takes all that waits ─▶ one log_append() = one transaction ─▶ answers, wakes readers here
//!           (bounded by count and bytes)                                             └─▶ one NOTIFY, for readers elsewhere
//! ```
//!
//! - Tables and functions stand in `migrations/0001_event_log.sql`, with the reason why offsets have no gaps.
//! - Group commit: while one transaction is being made durable, what arrives meanwhile forms the next one. Nobody waits for a
//!   timer: a lone record is sent at once.
//! - The writer has a connection of its own, acting as the role `stash_log`, which may not change or remove records. Reads
//!   go through the caller's pool.
//! - A notification is a hint; readers also ask four times a second.
//!
//! What is absent on purpose: retries of an append. Whether to try again is decided where the command id is known.

mod append;
mod error;
mod read;
mod wake;

use super::{EventLog, LogError, LogReader, NewRecord, check_new_records};
use append::Writer;
use async_trait::async_trait;
use sqlx::PgPool;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::DropGuard;
use uuid::Uuid;
use wake::Wake;

/// What the log and all its readers share.
struct Shared {
    pool: PgPool,
    id: LogId,
    partitions: u16,
    wake: Arc<Wake>,
    /// Ends the tasks that listen and notify when the log and its last reader are gone.
    _tasks: DropGuard,
}

/// The event log in Postgres.
pub struct PostgresLog {
    shared: Arc<Shared>,
    writer: Writer,
}

impl PostgresLog {
    /// Opens the log of this database, and makes it if there is none yet; of several processes that do so at once, one makes
    /// it and all open the same. `partitions_if_new` is ignored when the log exists.
    ///
    /// The tables must exist (`migrations/`). Beside the pool, the log keeps connections of its own with the pool's options:
    /// for its writer, and one to listen once there is a reader.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] if Postgres cannot be reached or lacks the tables; [`LogError::Corrupt`] if the number of
    /// partitions is not what the log says of itself.
    pub async fn open(pool: PgPool, partitions_if_new: u16) -> Result<Self, LogError> {
        let (id, partitions) = match load_meta(&pool).await? {
            Some(meta) => meta,
            None => {
                sqlx::query(include_str!("create.sql"))
                    .bind(i32::from(partitions_if_new))
                    .execute(&pool)
                    .await
                    .map_err(|error| error::before_commit(&error))?;
                load_meta(&pool).await?.ok_or_else(|| LogError::Corrupt("the log made just now is not there".into()))?
            }
        };
        let wake = Arc::new(Wake::new(partitions));
        let tasks = wake.start(&pool);
        let writer = Writer::start(&pool, id, Arc::clone(&wake));
        let shared = Arc::new(Shared { pool, id, partitions, wake, _tasks: tasks });
        Ok(Self { shared, writer })
    }
}

/// The log's id and number of partitions; none if there is no log yet.
async fn load_meta(pool: &PgPool) -> Result<Option<(LogId, u16)>, LogError> {
    let row: Option<(Uuid, i32, i64)> = sqlx::query_as(include_str!("meta.sql"))
        .fetch_optional(pool)
        .await
        .map_err(|error| error::before_commit(&error))?;
    let Some((id, partitions, found)) = row else { return Ok(None) };
    match u16::try_from(partitions) {
        Ok(number) if i64::from(number) == found => Ok(Some((LogId(id), number))),
        _ => Err(LogError::Corrupt(format!("the log says that it has {partitions} partitions, and {found} are there"))),
    }
}

#[async_trait]
impl EventLog for PostgresLog {
    fn id(&self) -> LogId {
        self.shared.id
    }

    fn partitions(&self) -> u16 {
        self.shared.partitions
    }

    fn is_in_database(&self) -> bool {
        true
    }

    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        check_new_records(&records, self.shared.partitions)?;
        self.writer.append(records).await
    }

    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        let tails = self.shared.tails(from.iter().map(|(partition, _)| *partition)).await?;
        for (partition, offset) in from {
            super::check_place(*partition, *offset, tails.get(partition).copied(), self.shared.partitions)?;
        }
        self.shared.wake.listen();
        Ok(Box::new(read::Reader::new(Arc::clone(&self.shared), from)))
    }

    async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        super::check_partition(partition, self.shared.partitions)?;
        let tails = self.shared.tails(std::iter::once(partition)).await?;
        tails.get(&partition).copied().ok_or_else(|| super::lost(partition))
    }

    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        super::check_partition(partition, self.shared.partitions)?;
        let offset: i64 = error::bounded(
            sqlx::query_scalar(include_str!("offset_for_time.sql"))
                .bind(i32::from(partition.0))
                .bind(time.0)
                .fetch_one(&self.shared.pool),
        )
        .await?;
        offset_of(offset)
    }
}

impl Shared {
    /// The next offset of each of these partitions, provided that the database still holds this log.
    async fn tails(&self, partitions: impl Iterator<Item = Partition>) -> Result<HashMap<Partition, Offset>, LogError> {
        let numbers: Vec<i32> = partitions.map(|partition| i32::from(partition.0)).collect();
        let rows: Vec<(Uuid, i32, i64)> =
            error::bounded(sqlx::query_as(include_str!("tails.sql")).bind(numbers).fetch_all(&self.pool)).await?;
        let mut tails = HashMap::with_capacity(rows.len());
        for (id, partition, offset) in rows {
            if id != self.id.0 {
                return Err(LogError::Corrupt(format!("the database now holds the log {id}, not {}", self.id.0)));
            }
            tails.insert(partition_of(partition)?, offset_of(offset)?);
        }
        Ok(tails)
    }
}

fn partition_of(number: i32) -> Result<Partition, LogError> {
    u16::try_from(number)
        .map(Partition)
        .map_err(|_| LogError::Corrupt(format!("partition {number} in the log's tables")))
}

fn offset_of(number: i64) -> Result<Offset, LogError> {
    u64::try_from(number).map(Offset).map_err(|_| LogError::Corrupt(format!("offset {number} in the log's tables")))
}
