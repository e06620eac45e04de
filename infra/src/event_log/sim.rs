//! The event log in memory, for property tests: the same seed and the same calls give the same log.
//!
//! What is drawn from the seed: how long an append takes (in turns of the scheduler), what the clock does between two records
//! (it also steps back), how much of what is there one read returns, and from which partition. So a test sees interleavings
//! that a quick server never shows.
//!
//! Faults of the storage are set by the test: away ([`SimLog::set_away`]), full ([`SimLog::set_capacity`]), damaged
//! ([`SimLog::flip_bit`], [`SimLog::forget_from`]). Faults of the way to it (lost answers, repeats) are
//! [`super::faulty::FaultyLog`]'s, over any backend.

use super::{EventLog, LogError, LogReader, LogRecord, NewRecord, READ_BYTES_MAX};
use super::{check_new_records, check_partition, check_place, lost};
use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// When the simulated clock begins: 2023-11-14T22:13:20Z.
const CLOCK_START_US: i64 = 1_700_000_000_000_000;

/// The clock moves by so many microseconds between two calls: mostly on, sometimes back.
const CLOCK_STEP_US: std::ops::Range<i64> = -500..3_000;

/// Turns of the scheduler that an append waits, before and after it takes effect, at most.
const TURNS_MAX: u32 = 3;

/// An event log in memory. A clone is another handle on the same log.
#[derive(Clone)]
pub struct SimLog(Arc<Place>);

struct Place {
    id: LogId,
    partitions: u16,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

struct State {
    partitions: Vec<Vec<LogRecord>>,
    dice: StdRng,
    clock_us: i64,
    away: bool,
    bytes: usize,
    bytes_max: usize,
}

impl SimLog {
    /// A new, empty log.
    pub fn new(seed: u64, partitions: u16) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let id = LogId(uuid::Builder::from_random_bytes(dice.random()).into_uuid());
        let state = State {
            partitions: vec![Vec::new(); usize::from(partitions)],
            dice,
            clock_us: CLOCK_START_US,
            away: false,
            bytes: 0,
            bytes_max: usize::MAX,
        };
        Self(Arc::new(Place { id, partitions, state: Mutex::new(state), changed: watch::Sender::new(()) }))
    }

    /// While it is away, every call fails with [`LogError::Unavailable`].
    pub fn set_away(&self, away: bool) {
        self.0.state().away = away;
        self.0.changed.send_replace(());
    }

    /// How many bytes of keys and values there is room for; beyond, an append fails with [`LogError::Full`].
    pub fn set_capacity(&self, bytes: usize) {
        self.0.state().bytes_max = bytes;
    }

    /// Flips a bit of a record's value, as a bad disk does. False if there is no such bit.
    pub fn flip_bit(&self, position: Position, bit: usize) -> bool {
        let mut state = self.0.state();
        let Some(record) = state.record(position) else { return false };
        let mut value = record.value.to_vec();
        let Some(byte) = value.get_mut(bit / 8) else { return false };
        *byte ^= 1 << (bit % 8);
        record.value = value.into();
        true
    }

    /// Forgets the records of a partition from an offset on, as a log does that acknowledged too early.
    pub fn forget_from(&self, position: Position) {
        let mut state = self.0.state();
        let offset = usize::try_from(position.offset.0).unwrap_or(usize::MAX);
        if let Some(records) = state.partitions.get_mut(usize::from(position.partition.0)) {
            records.truncate(offset);
        }
        drop(state);
        self.0.changed.send_replace(());
    }

    async fn take_turns(&self) {
        let turns = self.0.state().dice.random_range(0..=TURNS_MAX);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

impl Place {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless the log is away.
    fn reach(&self) -> Result<MutexGuard<'_, State>, LogError> {
        let state = self.state();
        if state.away { Err(LogError::Unavailable("the simulated log is away".into())) } else { Ok(state) }
    }
}

impl State {
    fn record(&mut self, position: Position) -> Option<&mut LogRecord> {
        let records = self.partitions.get_mut(usize::from(position.partition.0))?;
        records.get_mut(usize::try_from(position.offset.0).ok()?)
    }

    fn append(&mut self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        let bytes: usize = records.iter().map(|record| record.key.len() + record.value.len()).sum();
        if self.bytes.saturating_add(bytes) > self.bytes_max {
            return Err(LogError::Full(format!("the simulated log holds at most {} bytes", self.bytes_max)));
        }
        self.bytes += bytes;
        self.clock_us += self.dice.random_range(CLOCK_STEP_US);
        let mut positions = Vec::with_capacity(records.len());
        for NewRecord { partition, key, value } in records {
            let kept = self.partitions.get_mut(usize::from(partition.0)).ok_or_else(|| lost(partition))?;
            let last = kept.last().map_or(Timestamp(i64::MIN), |record| record.time);
            let position = Position { partition, offset: Offset(kept.len() as u64) };
            kept.push(LogRecord { position, time: last.max(Timestamp(self.clock_us)), key, value });
            positions.push(position);
        }
        Ok(positions)
    }

    fn tail(&self, partition: Partition) -> Option<Offset> {
        self.partitions.get(usize::from(partition.0)).map(|records| Offset(records.len() as u64))
    }

    /// Some of what is there, partition by partition from one that is drawn.
    fn read(&mut self, next: &mut BTreeMap<Partition, u64>, max: usize) -> Result<Vec<LogRecord>, LogError> {
        let mut order: Vec<Partition> = next.keys().copied().collect();
        if order.is_empty() || max == 0 {
            return Ok(Vec::new());
        }
        let begin = self.dice.random_range(0..order.len());
        order.rotate_left(begin);
        let wanted = if self.dice.random_bool(0.5) { max } else { self.dice.random_range(1..=max) };
        let (mut read, mut bytes) = (Vec::new(), 0);
        for partition in order {
            let Some(from) = next.get_mut(&partition) else { continue };
            let records = self.partitions.get(usize::from(partition.0)).ok_or_else(|| lost(partition))?;
            check_place(partition, Offset(*from), self.tail(partition), u16::MAX)?;
            for record in records.iter().skip(usize::try_from(*from).unwrap_or(usize::MAX)) {
                if read.len() == wanted || bytes >= READ_BYTES_MAX {
                    return Ok(read);
                }
                bytes += record.value.len();
                *from += 1;
                read.push(record.clone());
            }
        }
        Ok(read)
    }
}

#[async_trait]
impl EventLog for SimLog {
    fn id(&self) -> LogId {
        self.0.id
    }

    fn partitions(&self) -> u16 {
        self.0.partitions
    }

    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        check_new_records(&records, self.0.partitions)?;
        self.take_turns().await;
        let positions = self.0.reach()?.append(records)?;
        self.0.changed.send_replace(());
        self.take_turns().await;
        Ok(positions)
    }

    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        let state = self.0.reach()?;
        for (partition, offset) in from {
            check_place(*partition, *offset, state.tail(*partition), self.0.partitions)?;
        }
        let next = from.iter().map(|(partition, offset)| (*partition, offset.0)).collect();
        Ok(Box::new(SimReader { place: Arc::clone(&self.0), next, changed: self.0.changed.subscribe() }))
    }

    async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        check_partition(partition, self.0.partitions)?;
        self.0.reach()?.tail(partition).ok_or_else(|| lost(partition))
    }

    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        check_partition(partition, self.0.partitions)?;
        let state = self.0.reach()?;
        let records = state.partitions.get(usize::from(partition.0)).ok_or_else(|| lost(partition))?;
        Ok(Offset(records.partition_point(|record| record.time < time) as u64))
    }
}

/// A reader of a log in memory.
struct SimReader {
    place: Arc<Place>,
    next: BTreeMap<Partition, u64>,
    changed: watch::Receiver<()>,
}

#[async_trait]
impl LogReader for SimReader {
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError> {
        let deadline = Instant::now() + wait;
        loop {
            self.changed.mark_unchanged();
            let records = self.place.reach()?.read(&mut self.next, max)?;
            if !records.is_empty() || max == 0 {
                return Ok(records);
            }
            if tokio::time::timeout_at(deadline, self.changed.changed()).await.is_err() {
                return Ok(Vec::new());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn record(text: &str) -> NewRecord {
        NewRecord { partition: Partition(0), key: Bytes::new(), value: Bytes::from(text.to_owned()) }
    }

    fn at(offset: u64) -> Position {
        Position { partition: Partition(0), offset: Offset(offset) }
    }

    async fn history(seed: u64) -> (LogId, Vec<LogRecord>) {
        let log = SimLog::new(seed, 1);
        let mut reader = log.read(&[(Partition(0), Offset(0))]).await.unwrap();
        let mut read = Vec::new();
        for n in 0..50 {
            log.append(vec![record(&n.to_string())]).await.unwrap();
            read.extend(reader.next(2, Duration::ZERO).await.unwrap());
        }
        (log.id(), read)
    }

    #[tokio::test]
    async fn the_same_seed_gives_the_same_log() {
        assert_eq!(history(1).await, history(1).await);
        assert_ne!(history(1).await, history(2).await);
    }

    #[tokio::test]
    async fn what_is_away_or_full_refuses_and_keeps_nothing() {
        let log = SimLog::new(3, 1);
        log.append(vec![record("four")]).await.unwrap();
        log.set_away(true);
        assert!(matches!(log.append(vec![record("x")]).await, Err(LogError::Unavailable(_))));
        assert!(matches!(log.tail(Partition(0)).await, Err(LogError::Unavailable(_))));
        log.set_away(false);
        log.set_capacity(7);
        assert!(matches!(log.append(vec![record("four")]).await, Err(LogError::Full(_))));
        assert_eq!(log.append(vec![record("two")]).await, Ok(vec![at(1)]));
    }

    #[tokio::test]
    async fn damage_is_done_and_a_reader_ahead_of_it_notices() {
        let log = SimLog::new(4, 1);
        log.append(vec![record("a"), record("b")]).await.unwrap();
        let mut reader = log.read(&[(Partition(0), Offset(0))]).await.unwrap();
        assert!(log.flip_bit(at(0), 1) && !log.flip_bit(at(0), 8) && !log.flip_bit(at(2), 0));
        let mut read = Vec::new();
        while read.len() < 2 {
            read.extend(reader.next(2, Duration::ZERO).await.unwrap());
        }
        assert_eq!(read[0].value, "c");
        log.forget_from(at(1));
        assert!(matches!(reader.next(2, Duration::from_secs(60)).await, Err(LogError::Corrupt(_))));
    }
}
