//! Places in the log: partition, offset, and the token a client hands back to read its own writes.

use crate::ids::{OwnerId, derive};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Number of partitions of a log made with the default settings. It is fixed when a log is first made.
pub const PARTITIONS_DEFAULT: u16 = 16;

/// One of the log's partitions. All records of an owner are in one, so they are totally ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Partition(pub u16);

/// The place of a record in its partition: 0, 1, 2, … without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Offset(pub u64);

impl Offset {
    /// The offset after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The log's own identity, made with it. A recreated log has another one, so that checkpoints of the old one fail loudly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogId(pub Uuid);

/// A record's place in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The partition.
    pub partition: Partition,
    /// The offset in it.
    pub offset: Offset,
}

/// The partition of an owner's records: the first 8 bytes of a SHA-256 over the owner's id, modulo the count. Our own stable
/// function, always passed to the log explicitly, because clients of different languages partition differently by default.
///
/// # Panics
/// Never: a count of zero is treated as one.
pub fn partition_of(owner: OwnerId, partitions: u16) -> Partition {
    let hash = derive("partition", &[owner.0.as_bytes()]);
    let number = hash.as_u128() % u128::from(partitions.max(1));
    Partition(u16::try_from(number).unwrap_or(0))
}

/// What a response's `X-Stash-Position` holds: a client hands it back as `X-Stash-Min-Position` to read at least that far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionToken {
    /// First 32 bits of the log's id: a token of another log is refused rather than misread.
    pub log: u32,
    /// The place itself.
    pub position: Position,
}

impl PositionToken {
    /// The token of a position in a log.
    pub fn new(log: LogId, position: Position) -> Self {
        Self { log: log.0.as_fields().0, position }
    }

    /// Whether this token was made by that log.
    pub fn is_of(self, log: LogId) -> bool {
        self.log == log.0.as_fields().0
    }
}

impl std::fmt::Display for PositionToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:08x}-{}-{}", self.log, self.position.partition.0, self.position.offset.0)
    }
}

/// A position token that does not have the form `<8 hex digits>-<partition>-<offset>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position token: expected the value of an X-Stash-Position header, such as 5f0c9a31-7-1042")]
pub struct BadPositionToken;

impl std::str::FromStr for PositionToken {
    type Err = BadPositionToken;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '-');
        let mut part = || parts.next().ok_or(BadPositionToken);
        let log = u32::from_str_radix(part()?, 16).map_err(|_| BadPositionToken)?;
        let partition = part()?.parse().map_err(|_| BadPositionToken)?;
        let offset = part()?.parse().map_err(|_| BadPositionToken)?;
        Ok(Self { log, position: Position { partition: Partition(partition), offset: Offset(offset) } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_token_survives_its_text_form(log: u32, partition: u16, offset: u64) {
            let token = PositionToken { log, position: Position { partition: Partition(partition), offset: Offset(offset) } };
            prop_assert_eq!(token.to_string().parse::<PositionToken>(), Ok(token));
        }

        #[test]
        fn hostile_tokens_are_refused_without_panic(text in ".{0,64}") {
            let _ = text.parse::<PositionToken>();
        }
    }

    #[test]
    fn the_partition_of_an_owner_never_changes() {
        // A changed value here would scatter an owner's records over two partitions.
        let owner = OwnerId(Uuid::from_u128(7));
        assert_eq!(partition_of(owner, 16), partition_of(owner, 16));
        assert!((0..1000).map(|n| partition_of(OwnerId(Uuid::from_u128(n)), 16).0).all(|p| p < 16));
    }
}
