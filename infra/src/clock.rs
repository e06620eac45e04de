//! The time, as an argument: code that depends on it can be tested at any moment.

use stash_domain::time::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now, in microseconds since the Unix epoch.
    fn now(&self) -> Timestamp;
}

/// The machine's clock. It may jump when it is set; whatever must never go back takes its times from the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_microsecond())
    }
}

/// A clock that stands still until it is moved, for tests.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at this time.
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.0))
    }

    /// Moves it by this many microseconds.
    pub fn advance(&self, microseconds: i64) {
        self.0.fetch_add(microseconds, Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Acquire))
    }
}
