//! A moment, as data. The domain never asks a clock.

use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// RFC 3339 text in UTC, as in every JSON answer. Out-of-range values (before year -9999) give the epoch.
    pub fn to_rfc3339(self) -> String {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
    }
}
