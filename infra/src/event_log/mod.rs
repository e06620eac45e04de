//! The event log: an append-only, partitioned sequence of records, and the only source of truth.
//!
//! ```text
//! partition 7   0 ──── 1 ──── 2 ──── 3 ──── 4 ──── (5)
//!               │                           │       └─ tail: the offset the next record will get
//!               └─ first record             └─ last durable record
//! ```
//!
//! What every implementation promises, and the conformance suite checks:
//! - offsets of a partition start at 0 and have no gaps, and a record is never seen before all records below it;
//! - an acknowledged record is durable, and is read back with the same bytes for ever;
//! - a read at `from` gives exactly the records at `from`, `from + 1`, … as far as they are durable;
//! - times are given by the log and never decrease within a partition.
//!
//! What none of them promises: that an append which failed with [`LogError::Unknown`] did not happen. Its record carries a
//! command id, so appending it again is harmless.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod faulty;
pub mod kafka;
mod parts;
pub mod postgres;
pub mod sim;

use async_trait::async_trait;
use bytes::Bytes;
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::time::Duration;

/// Bytes of a record's key: an owner's id takes 16.
pub const KEY_BYTES_MAX: usize = 256;

/// Bytes of values that one call of [`LogReader::next`] returns, give or take one record.
pub const READ_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A record to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// The partition it goes to: always the one of its owner.
    pub partition: Partition,
    /// Key bytes: the owner's id, at most [`KEY_BYTES_MAX`].
    pub key: Bytes,
    /// The encoded record, at most [`RECORD_BYTES_MAX`] bytes.
    pub value: Bytes,
}

/// A record as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// Where it stands.
    pub position: Position,
    /// When the log took it.
    pub time: Timestamp,
    /// Key bytes.
    pub key: Bytes,
    /// The encoded record.
    pub value: Bytes,
}

/// Why a call failed. The set is closed: callers decide by kind, never by text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// No room: the disk is full or a quota is reached. Surely not appended.
    #[error("the event log has no room for more records: {0}")]
    Full(String),
    /// A record's value or key exceeds its size limit. Surely not appended.
    #[error("the record has {size} bytes and the event log takes at most {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The log cannot be reached. Surely not appended.
    #[error("the event log cannot be reached: {0}")]
    Unavailable(String),
    /// Perhaps appended: the connection broke before the answer. Retry only with the same command id.
    #[error("the event log did not answer, and may have taken the record: {0}")]
    Unknown(String),
    /// What was found is not what a log of ours holds, or a place was named that it does not have. Nothing was appended.
    #[error("the event log is damaged: {0}")]
    Corrupt(String),
}

/// The log.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// The log's identity, fixed when it was made.
    fn id(&self) -> LogId;

    /// Number of partitions, fixed when it was made.
    fn partitions(&self) -> u16;

    /// Whether it stands in the database of the accounts and keys, so that what was committed there before an append is durable
    /// once the append is.
    fn is_in_database(&self) -> bool {
        false
    }

    /// Appends records and returns their positions, in the same order. Records of one partition keep their order. The call
    /// returns when all are durable. No records give no positions.
    ///
    /// A call whose future is dropped may still append its records.
    ///
    /// # Errors
    /// [`LogError`]. After [`LogError::Unknown`] any of the records may have been appended, and others not; after any other
    /// error none was.
    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError>;

    /// Opens a reader at these places, each partition at most once; the partitions not named are not read.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] when a place lies beyond the tail, which a log of ours never forgets, or
    /// in a partition that the log does not have.
    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError>;

    /// The offset that the next record of the partition will get: 0 for an empty one.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] if the log has no such partition.
    async fn tail(&self, partition: Partition) -> Result<Offset, LogError>;

    /// The first offset whose record was taken at or after this time; the tail if there is none.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] if the log has no such partition.
    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError>;
}

/// A reader of some partitions. It remembers how far it has read.
#[async_trait]
pub trait LogReader: Send {
    /// The next records: at most `max`, and of about [`READ_BYTES_MAX`], at least one unless `wait` passed without any. Records of
    /// one partition come in order and without gaps; partitions may be mixed in any way. Cancelling the call loses nothing.
    ///
    /// # Errors
    /// [`LogError::Unavailable`], after which the same reader may be asked again; [`LogError::Corrupt`] on a gap.
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError>;
}

/// Refuses records that no backend may take, before anything is sent, so that all backends refuse the same.
fn check_new_records(records: &[NewRecord], partitions: u16) -> Result<(), LogError> {
    for record in records {
        check_partition(record.partition, partitions)?;
        for (size, limit) in [(record.value.len(), RECORD_BYTES_MAX), (record.key.len(), KEY_BYTES_MAX)] {
            if size > limit {
                return Err(LogError::TooLarge { size, limit });
            }
        }
    }
    Ok(())
}

/// Refuses a partition that a log of so many does not have.
fn check_partition(partition: Partition, partitions: u16) -> Result<(), LogError> {
    if partition.0 < partitions {
        return Ok(());
    }
    Err(LogError::Corrupt(format!("no partition {}: this log has {partitions}, numbered from 0", partition.0)))
}

/// Refuses a place to read from that lies beyond the partition's tail, or whose partition has vanished (no tail).
fn check_place(partition: Partition, offset: Offset, tail: Option<Offset>, partitions: u16) -> Result<(), LogError> {
    check_partition(partition, partitions)?;
    let tail = tail.ok_or_else(|| lost(partition))?;
    if offset <= tail {
        return Ok(());
    }
    let (number, offset, tail) = (partition.0, offset.0, tail.0);
    Err(LogError::Corrupt(format!("partition {number} ends at {tail}, before {offset}: the log has lost records")))
}

/// A partition that was there when the log was opened is there no more.
fn lost(partition: Partition) -> LogError {
    LogError::Corrupt(format!("partition {} of the log is gone", partition.0))
}
