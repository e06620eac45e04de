//! Keys that a rebuild's tables surely do not hold.
//!
//! A rebuild writes all that is in its tables, so a key that it has not met needs no looking up, and its row can go in by
//! `COPY`. Nothing is known of live tables, which others wrote before.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

/// Keys that are remembered, 9 to 18 bytes each. With more, every key may be there.
const KEYS_MAX: usize = 4_000_000;

/// Hashes of the keys met so far; two keys of one hash only cost a needless look.
struct Met {
    max: usize,
    hasher: RandomState,
    keys: HashSet<u64>,
}

/// What is known of the keys in a generation's tables.
pub(crate) struct Fresh(Mutex<Option<Met>>);

impl Fresh {
    /// Of tables that are empty.
    pub(crate) fn empty() -> Self {
        Self::empty_up_to(KEYS_MAX)
    }

    fn empty_up_to(max: usize) -> Self {
        Self(Mutex::new(Some(Met { max, hasher: RandomState::new(), keys: HashSet::new() })))
    }

    /// Of tables that may hold anything.
    pub(crate) fn unknown() -> Self {
        Self(Mutex::new(None))
    }

    /// Whether a table surely does not hold this key. From now on it may.
    ///
    /// `key`: with the kind of table in it.
    pub(crate) fn is_new(&self, key: &impl Hash) -> bool {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Met { max, hasher, keys }) = met.as_mut() else { return false };
        let new = keys.insert(hasher.hash_one(key));
        if keys.len() >= *max {
            *met = None;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once() {
        let fresh = Fresh::empty();
        assert!(fresh.is_new(&("command", 1)));
        assert!(!fresh.is_new(&("command", 1)));
        assert!(fresh.is_new(&("stream", 1)));
    }

    #[test]
    fn of_live_tables_and_of_too_many_keys_nothing_is_known() {
        assert!(!Fresh::unknown().is_new(&1));
        let fresh = Fresh::empty_up_to(3);
        assert!((0..3).all(|key| fresh.is_new(&key)));
        assert!(!fresh.is_new(&3));
    }
}
