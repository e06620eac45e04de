//! A log that is empty but has an end where the test says.

use async_trait::async_trait;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use stash_infra::event_log::{EventLog, LogError, LogReader, NewRecord};
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// See above.
#[derive(Default)]
pub(crate) struct FixedLog(AtomicU64);

impl FixedLog {
    /// Puts the end of every partition there.
    pub(crate) fn end_at(&self, next: u64) {
        self.0.store(next, Ordering::Release);
    }
}

#[async_trait]
impl EventLog for FixedLog {
    fn id(&self) -> LogId {
        LogId(Uuid::from_u128(0x5f0c_9a31 << 96))
    }

    fn partitions(&self) -> u16 {
        16
    }

    async fn append(&self, _: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        Err(LogError::Unavailable("this log takes nothing".to_owned()))
    }

    async fn read(&self, _: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        Err(LogError::Unavailable("this log holds nothing".to_owned()))
    }

    async fn tail(&self, _: Partition) -> Result<Offset, LogError> {
        Ok(Offset(self.0.load(Ordering::Acquire)))
    }

    async fn offset_for_time(&self, partition: Partition, _: Timestamp) -> Result<Offset, LogError> {
        self.tail(partition).await
    }
}
