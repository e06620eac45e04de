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

use async_trait::async_trait;
use bytes::Bytes;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::time::Duration;

/// A record to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// The partition it goes to: always the one of its owner.
    pub partition: Partition,
    /// Key bytes: the owner's id.
    pub key: Bytes,
    /// The encoded record, at most [`stash_domain::limits::RECORD_BYTES_MAX`] bytes.
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
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// No room: the disk is full or a quota is reached. Surely not appended.
    #[error("the event log has no room for more records: {0}")]
    Full(String),
    /// A record exceeds the size limit. Surely not appended.
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
    /// What was read is not what a log of ours holds.
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

    /// Appends records and returns their positions, in the same order. Records of one partition keep their order. The call
    /// returns when all are durable. Records of different partitions may be kept or refused independently when it fails.
    ///
    /// # Errors
    /// [`LogError`]; after anything but [`LogError::Unknown`] none of the records was appended.
    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError>;

    /// Opens a reader at these places; the partitions not named are not read.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] when a place lies beyond the tail, which a log of ours never forgets.
    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError>;

    /// The offset that the next record of the partition will get: 0 for an empty one.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    async fn tail(&self, partition: Partition) -> Result<Offset, LogError>;

    /// The first offset whose record was taken at or after this time; the tail if there is none.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError>;
}

/// A reader of some partitions. It remembers how far it has read.
#[async_trait]
pub trait LogReader: Send {
    /// The next records: at most `max`, and of about 16 MiB at most, at least one unless `wait` passed without any. Records of
    /// one partition come in order and without gaps; partitions may be mixed in any way. Cancelling the call loses nothing.
    ///
    /// # Errors
    /// [`LogError::Unavailable`], after which the same reader may be asked again; [`LogError::Corrupt`] on a gap.
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError>;
}
