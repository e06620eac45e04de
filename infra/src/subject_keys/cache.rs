//! The bounded cache of keys, and how a shredded key never comes back into it.
//!
//! A read takes the number of shreds, asks the database, and keeps what it got only if that number is still the same; a shred
//! deletes the row, then counts and forgets under the write lock. So a read that saw the row before its deletion either keeps
//! the key before the shred forgets it, or finds the number changed.

use super::key::SubjectKey;
use stash_domain::ids::{OwnerId, SubjectId};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Keys that a process holds by default, of about 400 bytes each: 6.5 MB.
pub const CACHE_ENTRIES: u64 = 16_384;

/// How long a process may hold a key. It bounds for how long another process can still open what was shredded meanwhile.
pub const CACHE_TTL: Duration = Duration::from_secs(60);

/// Size of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// Keys it may hold.
    pub entries: u64,
    /// How long it may hold one.
    pub ttl: Duration,
}

impl Default for CacheSize {
    fn default() -> Self {
        Self { entries: CACHE_ENTRIES, ttl: CACHE_TTL }
    }
}

pub(super) struct Cache {
    keys: moka::sync::Cache<(OwnerId, SubjectId), SubjectKey>,
    entries: u64,
    shreds: RwLock<u64>,
}

impl Cache {
    pub(super) fn new(size: CacheSize) -> Self {
        let keys = moka::sync::Cache::builder().max_capacity(size.entries).time_to_live(size.ttl).build();
        Self { keys, entries: size.entries, shreds: RwLock::new(0) }
    }

    /// Keys it may hold.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// To be taken before the database is asked, and handed to [`Cache::keep`].
    pub(super) fn shreds(&self) -> u64 {
        *self.shreds.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has, and the subjects it does not have, each once.
    pub(super) fn find(
        &self,
        owner: OwnerId,
        subjects: &[SubjectId],
    ) -> (HashMap<SubjectId, SubjectKey>, Vec<SubjectId>) {
        let mut found = HashMap::with_capacity(subjects.len());
        let mut missing = Vec::new();
        for subject in subjects {
            match self.keys.get(&(owner, *subject)) {
                Some(key) => drop(found.insert(*subject, key)),
                None => missing.push(*subject),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        (found, missing)
    }

    /// Keeps what was read, unless something was shredded since.
    pub(super) fn keep(&self, keys: &[SubjectKey], shreds_before: u64) {
        let shreds = self.shreds.read().unwrap_or_else(PoisonError::into_inner);
        if *shreds == shreds_before {
            for key in keys {
                self.keys.insert((key.owner(), key.subject()), key.clone());
            }
        }
    }

    pub(super) fn forget(&self, owner: OwnerId, subjects: &[SubjectId]) {
        let mut shreds = self.shreds.write().unwrap_or_else(PoisonError::into_inner);
        *shreds += 1;
        for subject in subjects {
            self.keys.invalidate(&(owner, *subject));
        }
    }

    pub(super) fn forget_owner(&self, owner: OwnerId) {
        let mut shreds = self.shreds.write().unwrap_or_else(PoisonError::into_inner);
        *shreds += 1;
        for (id, _) in &self.keys {
            if id.0 == owner {
                self.keys.invalidate(id.as_ref());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;
    use zeroize::Zeroizing;

    fn key(owner: u128, subject: u128) -> SubjectKey {
        SubjectKey::from_root(
            OwnerId(Uuid::from_u128(owner)),
            SubjectId(Uuid::from_u128(subject)),
            &Zeroizing::new([1; 32]),
        )
    }

    #[test]
    fn what_was_read_before_a_shred_is_not_kept_after_it() {
        let cache = Cache::new(CacheSize::default());
        let key = key(1, 2);
        let before = cache.shreds();
        cache.forget(key.owner(), &[key.subject()]);
        cache.keep(std::slice::from_ref(&key), before);
        assert_eq!(cache.find(key.owner(), &[key.subject()]).1, [key.subject()]);
        cache.keep(std::slice::from_ref(&key), cache.shreds());
        assert!(cache.find(key.owner(), &[key.subject()]).1.is_empty());
    }

    #[test]
    fn forgetting_an_owner_leaves_the_others() {
        let cache = Cache::new(CacheSize::default());
        let (a, b) = (key(1, 2), key(2, 2));
        cache.keep(&[a.clone(), b.clone()], cache.shreds());
        cache.forget_owner(a.owner());
        assert_eq!(cache.find(a.owner(), &[a.subject()]).1.len(), 1);
        assert_eq!(cache.find(b.owner(), &[b.subject()]).0.len(), 1);
    }
}
