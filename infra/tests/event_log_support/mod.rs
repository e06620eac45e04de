//! What the tests of the log backends share: records, and clients with a ledger for tests that break the server under load.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bytes::Bytes;
use stash_domain::position::{Offset, Partition, Position};
use stash_infra::event_log::{EventLog, LogError, NewRecord};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Partitions of the logs of these tests.
pub(crate) const PARTITIONS: u16 = 4;

/// Longest wait for anything that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A client that was refused waits so long, as a caller would, before it tries again.
const BACKOFF: Duration = Duration::from_millis(5);

/// A record with this text.
pub(crate) fn record(partition: u16, text: &str) -> NewRecord {
    let value = Bytes::from(text.as_bytes().to_vec());
    NewRecord { partition: Partition(partition), key: Bytes::from_static(b"owner"), value }
}

/// All values of a partition, by offset.
pub(crate) async fn values(log: &dyn EventLog, partition: u16) -> Vec<String> {
    let tail = log.tail(Partition(partition)).await.unwrap().0;
    let mut reader = log.read(&[(Partition(partition), Offset(0))]).await.unwrap();
    let mut values = Vec::new();
    while (values.len() as u64) < tail {
        let records = reader.next(10_000, PATIENCE).await.unwrap();
        assert!(!records.is_empty());
        values.extend(records.iter().map(|record| String::from_utf8_lossy(&record.value).into_owned()));
    }
    values
}

/// What became of each record that a client sent.
#[derive(Default)]
struct Ledger {
    acknowledged: BTreeMap<String, Position>,
    refused: Vec<String>,
    unknown: usize,
}

/// Clients that append one record after another and keep a ledger each.
pub(crate) struct Clients {
    log: Arc<dyn EventLog>,
    stop: Arc<AtomicBool>,
    progress: watch::Sender<usize>,
    tasks: Vec<JoinHandle<Ledger>>,
}

impl Clients {
    /// So many clients of this log.
    pub(crate) fn start(log: Arc<dyn EventLog>, count: usize) -> Self {
        let (stop, progress) = (Arc::new(AtomicBool::new(false)), watch::Sender::new(0));
        let tasks = (0..count)
            .map(|client| tokio::spawn(append(Arc::clone(&log), client, Arc::clone(&stop), progress.clone())))
            .collect();
        Self { log, stop, progress, tasks }
    }

    /// Waits until so many more records were acknowledged.
    pub(crate) async fn go_on_for(&self, count: usize) {
        let mut progressed = self.progress.subscribe();
        let goal = *progressed.borrow() + count;
        tokio::time::timeout(PATIENCE, progressed.wait_for(|count| *count >= goal)).await.unwrap().unwrap();
    }

    /// Stops the clients and compares their ledgers with the log: what was acknowledged is there and once, and what was said to
    /// be surely not appended is not.
    pub(crate) async fn stop_and_compare(self) {
        self.stop.store(true, Ordering::SeqCst);
        let mut ledgers = Vec::new();
        for task in self.tasks {
            ledgers.push(task.await.unwrap());
        }
        let mut found: BTreeMap<String, Position> = BTreeMap::new();
        for partition in 0..PARTITIONS {
            for (offset, value) in (0..).zip(values(self.log.as_ref(), partition).await) {
                let position = Position { partition: Partition(partition), offset: Offset(offset) };
                assert_eq!(found.insert(value, position), None, "a record stands twice");
            }
        }
        let (mut acknowledged, mut unknown) = (0, 0);
        for ledger in &ledgers {
            for (value, position) in &ledger.acknowledged {
                assert_eq!(found.get(value), Some(position), "{value} was acknowledged");
            }
            for value in &ledger.refused {
                assert!(!found.contains_key(value), "{value} was said to be surely not appended");
            }
            acknowledged += ledger.acknowledged.len();
            unknown += ledger.unknown;
        }
        assert!(found.len() <= acknowledged + unknown, "records that nobody sent");
        println!("{acknowledged} acknowledged, {unknown} unknown, {} found", found.len());
    }
}

async fn append(
    log: Arc<dyn EventLog>,
    client: usize,
    stop: Arc<AtomicBool>,
    progress: watch::Sender<usize>,
) -> Ledger {
    let mut ledger = Ledger::default();
    for n in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let value = format!("client {client} record {n}");
        let partition = u16::try_from((client + n) % usize::from(PARTITIONS)).unwrap();
        match log.append(vec![record(partition, &value)]).await {
            Ok(positions) => {
                ledger.acknowledged.insert(value, positions[0]);
                progress.send_modify(|count| *count += 1);
            }
            Err(LogError::Unavailable(_)) => {
                ledger.refused.push(value);
                tokio::time::sleep(BACKOFF).await;
            }
            Err(LogError::Unknown(_)) => ledger.unknown += 1,
            Err(error) => panic!("{error}"),
        }
    }
    ledger
}
