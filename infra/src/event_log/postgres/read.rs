//! Reading: one query over all of a reader's partitions, then a wait for news.

use super::super::{LogError, LogReader, LogRecord, READ_BYTES_MAX};
use super::wake::Seen;
use super::{Shared, error, offset_of, partition_of};
use async_trait::async_trait;
use bytes::Bytes;
use stash_domain::position::{Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How often a waiting reader asks, news or not. This alone guarantees that every record is found.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Largest number of records of one query, whatever the caller asks for.
const READ_RECORDS_MAX: usize = 50_000;

/// partition, offset, time, key, value
type Row = (i32, i64, i64, Vec<u8>, Vec<u8>);

/// A reader of some partitions of a log in Postgres.
pub(super) struct Reader {
    shared: Arc<Shared>,
    /// The partitions read and the next offset of each, as the query takes them.
    partitions: Vec<i32>,
    offsets: Vec<i64>,
    changed: watch::Receiver<()>,
    checked: Instant,
}

impl Reader {
    /// A reader at these places, which were checked before.
    pub(super) fn new(shared: Arc<Shared>, from: &[(Partition, Offset)]) -> Self {
        let changed = shared.wake.subscribe();
        let partitions = from.iter().map(|(partition, _)| i32::from(partition.0)).collect();
        let offsets = from.iter().map(|(_, offset)| i64::try_from(offset.0).unwrap_or(i64::MAX)).collect();
        Self { shared, partitions, offsets, changed, checked: Instant::now() }
    }

    fn places(&self) -> impl Iterator<Item = (Partition, Offset)> {
        self.partitions.iter().zip(&self.offsets).map(|(partition, offset)| {
            (Partition(u16::try_from(*partition).unwrap_or(u16::MAX)), Offset(u64::try_from(*offset).unwrap_or(0)))
        })
    }

    /// What is there now. The reader moves on only when all is in hand, so that a cancelled call loses nothing.
    async fn read(&mut self, max: usize) -> Result<Vec<LogRecord>, LogError> {
        let max = i32::try_from(max.min(READ_RECORDS_MAX)).unwrap_or(i32::MAX);
        let query = sqlx::query_as(include_str!("read.sql"))
            .bind(&self.partitions)
            .bind(&self.offsets)
            .bind(max)
            .bind(i64::try_from(READ_BYTES_MAX).unwrap_or(i64::MAX));
        let rows: Vec<Row> = error::bounded(query.fetch_all(&self.shared.pool)).await?;

        let mut offsets = self.offsets.clone();
        let mut records = Vec::with_capacity(rows.len());
        for (partition, offset, time_us, key, value) in rows {
            let index = self.partitions.iter().position(|number| *number == partition);
            let expected = index.and_then(|index| offsets.get_mut(index));
            match expected {
                Some(expected) if *expected == offset => *expected += 1,
                expected => {
                    return Err(LogError::Corrupt(format!(
                        "partition {partition} has a record at {offset} where {expected:?} was expected"
                    )));
                }
            }
            records.push(LogRecord {
                position: Position { partition: partition_of(partition)?, offset: offset_of(offset)? },
                time: Timestamp(time_us),
                key: Bytes::from(key),
                value: Bytes::from(value),
            });
        }
        self.offsets = offsets;
        // A partition with much to read must not keep the others waiting: the next query begins one further.
        if !self.partitions.is_empty() {
            self.partitions.rotate_left(1);
            self.offsets.rotate_left(1);
        }
        Ok(records)
    }

    /// Fails if the log is no longer the one that was opened, or has lost records that were read: a reader that finds nothing
    /// new must not mistake that for peace.
    async fn check(&mut self) -> Result<(), LogError> {
        if self.checked.elapsed() < POLL_INTERVAL {
            return Ok(());
        }
        self.checked = Instant::now();
        let tails = self.shared.tails(self.places().map(|(partition, _)| partition)).await?;
        for (partition, offset) in self.places() {
            super::super::check_place(partition, offset, tails.get(&partition).copied(), self.shared.partitions)?;
        }
        Ok(())
    }

    /// Waits until there may be something to read; false when the deadline passed first.
    async fn wait_for_news(&mut self, seen: Seen, deadline: Instant) -> bool {
        let poll = Instant::now() + POLL_INTERVAL;
        while !self.shared.wake.concerns(seen, self.places()) {
            if tokio::time::timeout_at(poll.min(deadline), self.changed.changed()).await.is_err() {
                return poll < deadline;
            }
        }
        true
    }
}

#[async_trait]
impl LogReader for Reader {
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError> {
        let deadline = Instant::now() + wait;
        loop {
            let seen = self.shared.wake.seen();
            self.changed.mark_unchanged();
            let records = self.read(max).await?;
            if !records.is_empty() || max == 0 {
                return Ok(records);
            }
            self.check().await?;
            if !self.wait_for_news(seen, deadline).await {
                return Ok(Vec::new());
            }
        }
    }
}
