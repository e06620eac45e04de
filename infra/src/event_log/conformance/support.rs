//! What the cases share: records that tell themselves apart, and calls that try again when nothing happened.

use crate::event_log::{EventLog, LogError, LogReader, LogRecord, NewRecord};
use bytes::Bytes;
use stash_domain::position::{Offset, Partition, Position};
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait for anything that must happen; only a broken log reaches it.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Tries of a call that the log refused as unavailable. A log under injected faults fails several times in a row.
const TRIES_MAX: usize = 1000;

/// A record with this text as its value.
pub(super) fn record(partition: u16, text: &str) -> NewRecord {
    sized(partition, text.as_bytes().to_vec())
}

/// A record with this value.
pub(super) fn sized(partition: u16, value: Vec<u8>) -> NewRecord {
    NewRecord { partition: Partition(partition), key: Bytes::from_static(b"owner"), value: Bytes::from(value) }
}

/// So many bytes that do not compress, different for each seed (SplitMix64).
pub(super) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(word ^ (word >> 31)).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Appends, again while the log is surely unchanged and unavailable.
pub(super) async fn put(log: &dyn EventLog, records: Vec<NewRecord>) -> Vec<Position> {
    for _ in 0..TRIES_MAX {
        match log.append(records.clone()).await {
            Ok(positions) => {
                assert_eq!(positions.len(), records.len(), "one position per record");
                for (record, position) in records.iter().zip(&positions) {
                    assert_eq!(record.partition, position.partition, "a record goes where it was sent");
                }
                return positions;
            }
            Err(LogError::Unavailable(_)) => {}
            Err(error) => panic!("append failed: {error}"),
        }
    }
    panic!("the log stayed unavailable");
}

/// Repeats a call while the log is unavailable.
macro_rules! patiently {
    ($call:expr) => {{
        let mut tries = 0;
        loop {
            tries += 1;
            match $call.await {
                Err($crate::event_log::LogError::Unavailable(_)) if tries < 1000 => {}
                outcome => break outcome,
            }
        }
    }};
}
pub(super) use patiently;

/// A reader at these places.
pub(super) async fn reader(log: &dyn EventLog, from: &[(u16, u64)]) -> Box<dyn LogReader> {
    let from: Vec<_> = from.iter().map(|(partition, offset)| (Partition(*partition), Offset(*offset))).collect();
    match patiently!(log.read(&from)) {
        Ok(reader) => reader,
        Err(error) => panic!("read failed: {error}"),
    }
}

/// The next records, at least one.
pub(super) async fn some(reader: &mut dyn LogReader, max: usize) -> Vec<LogRecord> {
    let records = match patiently!(reader.next(max, PATIENCE)) {
        Ok(records) => records,
        Err(error) => panic!("reading failed: {error}"),
    };
    assert!(!records.is_empty(), "nothing came within {PATIENCE:?}");
    assert!(records.len() <= max, "{} records where {max} were asked for", records.len());
    records
}

/// The next `count` records.
pub(super) async fn take(reader: &mut dyn LogReader, count: usize) -> Vec<LogRecord> {
    let deadline = Instant::now() + PATIENCE;
    let mut records = Vec::with_capacity(count);
    while records.len() < count {
        assert!(Instant::now() < deadline, "only {} of {count} records came", records.len());
        records.extend(some(reader, count - records.len()).await);
    }
    records
}

/// The tail of a partition.
pub(super) async fn tail(log: &dyn EventLog, partition: u16) -> u64 {
    match patiently!(log.tail(Partition(partition))) {
        Ok(offset) => offset.0,
        Err(error) => panic!("tail failed: {error}"),
    }
}

/// All records of a partition, checked to have the offsets 0, 1, 2, … up to the tail.
pub(super) async fn whole(log: &dyn EventLog, partition: u16) -> Vec<LogRecord> {
    let count = usize::try_from(tail(log, partition).await).unwrap_or(usize::MAX);
    let mut reader = reader(log, &[(partition, 0)]).await;
    let records = take(reader.as_mut(), count).await;
    for (index, record) in records.iter().enumerate() {
        assert_eq!(record.position.partition.0, partition);
        assert_eq!(record.position.offset.0, index as u64, "offsets have no gaps");
    }
    records
}

/// The value as text.
pub(super) fn text(record: &LogRecord) -> String {
    String::from_utf8_lossy(&record.value).into_owned()
}
