//! Logs that behave in a chosen way, over a real one.

use async_trait::async_trait;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use stash_infra::event_log::{EventLog, LogError, LogReader, LogRecord, NewRecord};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// A log with another behaviour in some places.
pub(crate) struct Odd {
    pub(crate) inner: Arc<dyn EventLog>,
    /// Gives at most so many records at once.
    pub(crate) batch: usize,
    /// Says that it is this one.
    pub(crate) id: LogId,
    /// So many appends are done and then not answered.
    pub(crate) unanswered: AtomicUsize,
    /// Gives records other times.
    pub(crate) time: Option<fn(&LogRecord) -> Timestamp>,
    /// Readers stand still with records in hand until this is notified.
    pub(crate) gate: Option<Arc<Gate>>,
}

/// Where a reader stands still.
#[derive(Default)]
pub(crate) struct Gate {
    /// A reader has records in hand.
    pub(crate) reached: Notify,
    /// It may go on.
    pub(crate) open: Notify,
}

impl Odd {
    pub(crate) fn new(inner: &Arc<dyn EventLog>) -> Self {
        let id = inner.id();
        Self { inner: inner.clone(), batch: usize::MAX, id, unanswered: AtomicUsize::new(0), time: None, gate: None }
    }

    /// The log, read in batches of this size.
    pub(crate) fn in_batches(inner: &Arc<dyn EventLog>, batch: usize) -> Arc<dyn EventLog> {
        Arc::new(Self { batch, ..Self::new(inner) })
    }
}

#[async_trait]
impl EventLog for Odd {
    fn id(&self) -> LogId {
        self.id
    }

    fn partitions(&self) -> u16 {
        self.inner.partitions()
    }

    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        let positions = self.inner.append(records).await?;
        let less = |left: usize| left.checked_sub(1);
        match self.unanswered.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Err(LogError::Unknown("done, then timed out".into())),
            Err(_) => Ok(positions),
        }
    }

    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        let inner = self.inner.read(from).await?;
        Ok(Box::new(OddReader { inner, batch: self.batch, time: self.time, gate: self.gate.clone() }))
    }

    async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        self.inner.tail(partition).await
    }

    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        self.inner.offset_for_time(partition, time).await
    }
}

struct OddReader {
    inner: Box<dyn LogReader>,
    batch: usize,
    time: Option<fn(&LogRecord) -> Timestamp>,
    gate: Option<Arc<Gate>>,
}

#[async_trait]
impl LogReader for OddReader {
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError> {
        let mut records = self.inner.next(max.min(self.batch), wait).await?;
        if let Some(time) = self.time {
            records.iter_mut().for_each(|record| record.time = time(record));
        }
        if let Some(gate) = self.gate.as_ref().filter(|_| !records.is_empty()) {
            gate.reached.notify_one();
            gate.open.notified().await;
        }
        Ok(records)
    }
}
