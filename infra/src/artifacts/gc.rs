//! Collecting blobs that nothing points at: those of imports that failed, were refused, or were never sent.
//!
//! A writer stores blobs first and appends the record that points at them afterwards. So a blob without a record may be one
//! whose record is still to come, and only blobs older than a grace time are collected. A retried import puts its blobs again,
//! which makes them new. Blobs that are left over cost room; a blob collected too early would be lost content. Where in doubt
//! the collector therefore keeps.

use super::{ArtifactError, ArtifactStore, LIST_BLOBS_MAX};
use async_trait::async_trait;
use futures::{Stream, StreamExt as _};
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::time::Timestamp;
use std::collections::HashSet;
use std::time::Duration;

/// How old an unreferenced blob must be by default: longer than any import takes, its retries within the seven days of an
/// idempotency key included.
pub const GRACE: Duration = Duration::from_secs(8 * 24 * 3600);

/// What knows which blobs records point at.
#[async_trait]
pub trait LiveBlobs: Send + Sync {
    /// Those of these blobs of the owner that a record points at, or may point at. At most [`LIST_BLOBS_MAX`] are asked at once.
    ///
    /// # Errors
    /// When it cannot be known; nothing is collected then.
    async fn live(&self, owner: OwnerId, blobs: &[Digest]) -> Result<HashSet<Digest>, ArtifactError>;
}

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blobs looked at.
    pub seen: u64,
    /// Blobs removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
}

/// Removes the blobs of all owners that are not live and were last put more than `grace` before `now`.
///
/// `live` must know every record up to `now - grace`, or say that it does not.
///
/// # Errors
/// [`ArtifactError`]; what was removed until then is gone, and the next collection goes on.
pub async fn collect(
    store: &dyn ArtifactStore,
    live: &dyn LiveBlobs,
    now: Timestamp,
    grace: Duration,
) -> Result<Collected, ArtifactError> {
    let mut collected = Collected::default();
    let mut after = None;
    loop {
        let owners = store.list_owners(after).await?;
        let Some(last) = owners.last().copied() else { return Ok(collected) };
        for owner in owners {
            collect_owner(store, live, owner, now, grace, &mut collected).await?;
        }
        after = Some(last);
    }
}

async fn collect_owner(
    store: &dyn ArtifactStore,
    live: &dyn LiveBlobs,
    owner: OwnerId,
    now: Timestamp,
    grace: Duration,
    collected: &mut Collected,
) -> Result<(), ArtifactError> {
    let grace_us = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
    let put_before = Timestamp(now.0.saturating_sub(grace_us));
    let mut after = None;
    loop {
        let page = store.list_blobs(owner, after, LIST_BLOBS_MAX).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.blob.digest);
        collected.seen += page.len() as u64;
        let old: Vec<_> = page.iter().filter(|entry| entry.put_at < put_before).map(|entry| entry.blob).collect();
        if old.is_empty() {
            continue;
        }
        let digests: Vec<Digest> = old.iter().map(|blob| blob.digest).collect();
        let live = live.live(owner, &digests).await?;
        for blob in old.iter().filter(|blob| !live.contains(&blob.digest)) {
            if store.delete_blob_put_before(owner, blob.digest, put_before).await? {
                collected.removed += 1;
                collected.removed_bytes += u64::try_from(blob.size).unwrap_or_default();
            }
        }
    }
}

/// Marks gathered from a stream, such as a walk over the log: 48 bytes each, so it is for stores of at most some millions.
#[derive(Clone, Debug, Default)]
pub struct Marks(HashSet<(OwnerId, Digest)>);

impl Marks {
    /// Gathers all marks, at most `max` of them.
    ///
    /// # Errors
    /// That of the stream; [`ArtifactError::Full`] when there are more than `max`.
    pub async fn gather(
        marks: impl Stream<Item = Result<(OwnerId, Digest), ArtifactError>>,
        max: usize,
    ) -> Result<Self, ArtifactError> {
        let mut marks = std::pin::pin!(marks);
        let mut gathered = HashSet::new();
        while let Some(mark) = marks.next().await {
            gathered.insert(mark?);
            if gathered.len() > max {
                return Err(ArtifactError::Full(format!("more than {max} marks were to be held in memory")));
            }
        }
        Ok(Self(gathered))
    }
}

#[async_trait]
impl LiveBlobs for Marks {
    async fn live(&self, owner: OwnerId, blobs: &[Digest]) -> Result<HashSet<Digest>, ArtifactError> {
        Ok(blobs.iter().copied().filter(|digest| self.0.contains(&(owner, *digest))).collect())
    }
}
