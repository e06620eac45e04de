//! A log between which and its caller things go wrong, by a seed: over any backend.
//!
//! | fault | what happens | the caller gets |
//! |---|---|---|
//! | `refused` | nothing | `Unavailable` |
//! | `lost_request` | nothing | `Unknown` |
//! | `lost_answer` | the records are appended | `Unknown` |
//! | `cut_short` | only the first of the records are appended | `Unknown` |
//! | `repeated` | the records are appended twice, as by a client that tries again | the later positions |
//! | `read_refused` | nothing | `Unavailable`, from reads, tails and times |
//! | `read_delayed` | the call waits | what it asked for, later |

use super::{EventLog, LogError, LogReader, LogRecord, NewRecord};
use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait of a delayed read.
const READ_DELAY_MAX: Duration = Duration::from_millis(5);

/// How often each fault strikes, as a probability from 0 to 1. The default is never.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Nothing is appended, and the caller knows.
    pub refused: f64,
    /// Nothing is appended, and the caller does not know.
    pub lost_request: f64,
    /// All is appended, and the caller does not know: done, then timed out.
    pub lost_answer: f64,
    /// Some is appended, and the caller does not know.
    pub cut_short: f64,
    /// All is appended twice.
    pub repeated: f64,
    /// A read is refused.
    pub read_refused: f64,
    /// A read takes longer.
    pub read_delayed: f64,
}

/// A log with faults. A clone shares the seed's sequence and the rates.
#[derive(Clone)]
pub struct FaultyLog {
    inner: Arc<dyn EventLog>,
    dice: Dice,
}

/// The seeded sequence and the rates.
#[derive(Clone)]
struct Dice(Arc<Mutex<(StdRng, Faults)>>);

impl FaultyLog {
    /// This log, with such faults.
    pub fn new(inner: Arc<dyn EventLog>, seed: u64, faults: Faults) -> Self {
        Self { inner, dice: Dice(Arc::new(Mutex::new((StdRng::seed_from_u64(seed), faults)))) }
    }

    /// Changes the rates, as for a storm that passes. Readers feel it too.
    pub fn set_faults(&self, faults: Faults) {
        self.dice.0.lock().unwrap_or_else(PoisonError::into_inner).1 = faults;
    }
}

impl Dice {
    fn strikes(&self, rate: impl Fn(&Faults) -> f64) -> bool {
        let (dice, faults) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = rate(faults).clamp(0.0, 1.0);
        dice.random_bool(rate)
    }

    fn below(&self, end: usize) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.random_range(0..end.max(1))
    }

    /// What may happen before a read.
    async fn before_reading(&self) -> Result<(), LogError> {
        if self.strikes(|faults| faults.read_delayed) {
            let micros = self.below(usize::try_from(READ_DELAY_MAX.as_micros()).unwrap_or(1));
            tokio::time::sleep(Duration::from_micros(micros as u64)).await;
        }
        if self.strikes(|faults| faults.read_refused) {
            return Err(LogError::Unavailable("injected: the read was refused".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl EventLog for FaultyLog {
    fn id(&self) -> LogId {
        self.inner.id()
    }

    fn partitions(&self) -> u16 {
        self.inner.partitions()
    }

    async fn append(&self, mut records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        if self.dice.strikes(|faults| faults.refused) {
            return Err(LogError::Unavailable("injected: the append was refused".into()));
        }
        if self.dice.strikes(|faults| faults.lost_request) {
            return Err(LogError::Unknown("injected: the request was lost".into()));
        }
        if self.dice.strikes(|faults| faults.cut_short) {
            records.truncate(self.dice.below(records.len()));
            self.inner.append(records).await?;
            return Err(LogError::Unknown("injected: the request was cut short".into()));
        }
        if self.dice.strikes(|faults| faults.repeated) {
            self.inner.append(records.clone()).await?;
        }
        let positions = self.inner.append(records).await?;
        if self.dice.strikes(|faults| faults.lost_answer) {
            return Err(LogError::Unknown("injected: the answer was lost".into()));
        }
        Ok(positions)
    }

    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        self.dice.before_reading().await?;
        let inner = self.inner.read(from).await?;
        Ok(Box::new(FaultyReader { inner, dice: self.dice.clone() }))
    }

    async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        self.dice.before_reading().await?;
        self.inner.tail(partition).await
    }

    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        self.dice.before_reading().await?;
        self.inner.offset_for_time(partition, time).await
    }
}

struct FaultyReader {
    inner: Box<dyn LogReader>,
    dice: Dice,
}

#[async_trait]
impl LogReader for FaultyReader {
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError> {
        self.dice.before_reading().await?;
        self.inner.next(max, wait).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::sim::SimLog;
    use super::*;
    use bytes::Bytes;

    /// Appends three records under one certain fault; the outcome, and how many are in the log.
    async fn under(faults: Faults) -> (Result<Vec<Position>, LogError>, u64) {
        let log = FaultyLog::new(Arc::new(SimLog::new(1, 1)), 7, faults);
        let record = NewRecord { partition: Partition(0), key: Bytes::new(), value: Bytes::from_static(b"x") };
        let outcome = log.append(vec![record; 3]).await;
        log.set_faults(Faults::default());
        (outcome, log.tail(Partition(0)).await.unwrap().0)
    }

    #[tokio::test]
    async fn each_fault_does_what_it_says() {
        let none = Faults::default();
        assert!(matches!(under(none).await, (Ok(_), 3)));
        assert!(matches!(under(Faults { refused: 1.0, ..none }).await, (Err(LogError::Unavailable(_)), 0)));
        assert!(matches!(under(Faults { lost_request: 1.0, ..none }).await, (Err(LogError::Unknown(_)), 0)));
        assert!(matches!(under(Faults { lost_answer: 1.0, ..none }).await, (Err(LogError::Unknown(_)), 3)));
        assert!(matches!(under(Faults { cut_short: 1.0, ..none }).await, (Err(LogError::Unknown(_)), 0..=2)));
        let (outcome, tail) = under(Faults { repeated: 1.0, ..none }).await;
        assert_eq!((outcome.unwrap()[0].offset, tail), (Offset(3), 6));
    }

    #[tokio::test]
    async fn refused_reads_are_unavailable_and_then_go_on() {
        let log = FaultyLog::new(Arc::new(SimLog::new(1, 1)), 7, Faults::default());
        let mut reader = log.read(&[(Partition(0), Offset(0))]).await.unwrap();
        log.set_faults(Faults { read_refused: 1.0, ..Faults::default() });
        assert!(matches!(reader.next(1, Duration::ZERO).await, Err(LogError::Unavailable(_))));
        assert!(matches!(log.tail(Partition(0)).await, Err(LogError::Unavailable(_))));
        log.set_faults(Faults::default());
        assert_eq!(reader.next(1, Duration::ZERO).await, Ok(Vec::new()));
    }
}
