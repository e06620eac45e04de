//! Reading the log while what was read before is applied: the next batch is fetched and decoded meanwhile, and waits.
//!
//! ```text
//!   log ──> read, decode ──> one batch waits ──> apply
//! ```

use crate::batch::Entry;
use crate::error::ProjectionError;
use crate::projector::BATCH_RECORDS_MAX;
use stash_domain::position::{Offset, Partition};
use stash_infra::event_log::{LogError, LogReader};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long one read waits; the records it waits for are known to exist.
const READ_WAIT: Duration = Duration::from_secs(30);

/// Batches that may wait to be applied, beside the one that is being read.
const WAITING_MAX: usize = 1;

/// Records that are read up to known ends. What has not been taken is dropped with it.
pub(crate) struct ReadAhead {
    batches: mpsc::Receiver<Result<Vec<Entry>, LogError>>,
}

impl ReadAhead {
    /// Begins to read. `count`: the records between where the reader stands and `ends`, of which at least one partition has any.
    pub(crate) fn start(mut reader: Box<dyn LogReader>, count: u64, ends: BTreeMap<Partition, Offset>) -> Self {
        let (sender, batches) = mpsc::channel(WAITING_MAX);
        tokio::spawn(async move {
            let mut left = count;
            while left > 0 {
                let batch = batch(reader.as_mut(), &ends).await;
                left = match &batch {
                    Ok(entries) => left.saturating_sub(entries.len() as u64),
                    Err(_) => 0,
                };
                if sender.send(batch).await.is_err() {
                    return;
                }
            }
        });
        Self { batches }
    }

    /// The next batch.
    ///
    /// # Errors
    /// Those of the log; then there is nothing more.
    pub(crate) async fn next(&mut self) -> Result<Vec<Entry>, ProjectionError> {
        let ended = || Err(LogError::Unavailable("records that it has were not read".to_owned()));
        Ok(self.batches.recv().await.unwrap_or_else(ended)?)
    }
}

async fn batch(reader: &mut dyn LogReader, ends: &BTreeMap<Partition, Offset>) -> Result<Vec<Entry>, LogError> {
    let records = reader.next(BATCH_RECORDS_MAX, READ_WAIT).await?;
    if records.is_empty() {
        return Err(LogError::Unavailable("records that it has were not read in time".to_owned()));
    }
    let wanted = |partition: &Partition, offset: Offset| ends.get(partition).is_some_and(|end| offset < *end);
    Ok(records
        .iter()
        .filter(|record| wanted(&record.position.partition, record.position.offset))
        .map(Entry::of)
        .collect())
}
