//! Collecting blobs: those that no accepted record points at, after a grace time; and those whose whole content was erased.
//!
//! 1. Wait until the tables include everything that is in the log now. A record that comes later points at blobs that were put
//!    again, and so are younger than the grace time.
//! 2. Of each owner whom the log knows, remove old blobs that `es_blob` does not have ([`gc::collect`]).
//! 3. Of each owner who has deleted traces since, look at the blobs that are pointed at. Where no key is left for any frame, keep a
//!    husk for replays, and remove the blob.
//!
//! In doubt everything is kept: while the tables lag behind, or a record was put aside that nobody could read, nothing is collected;
//! while any record is put aside, nothing counts as erased. Several collectors at once are harmless.

use crate::error::ProjectionError;
use crate::read_models::Deps;
use async_trait::async_trait;
use sqlx::PgPool;
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::position::{Offset, Partition, Position};
use stash_domain::time::Timestamp;
use stash_infra::artifacts::gc::{self, Collected, LiveBlobs};
use stash_infra::artifacts::{ArtifactError, BlobEntry, LIST_BLOBS_MAX};
use stash_infra::bundle::Husk;
use stash_infra::clock::Clock;
use stash_infra::event_log::EventLog;
use stash_infra::watermark::Watermarks;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How often blobs are collected. What waits for it only takes room.
const EVERY: Duration = Duration::from_secs(6 * 3600);

/// How long after its start a process collects for the first time.
const FIRST: Duration = Duration::from_secs(600);

/// How long a collection waits for the tables to include the log as it is.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);

/// Owners whose deletions one collection follows up; the others' turn comes with the next.
const OWNERS_MAX: i64 = 1000;

/// Why nothing, or not all, was collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The tables do not include the log's records in time.
    #[error("the read models lag behind the log, so it is not known which blobs are needed")]
    Lagging,
    /// A record that could not be read may point at any blob.
    #[error("a dead letter could not be read, and may point at any blob")]
    Unreadable,
    /// The database or the log cannot be asked.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ArtifactError),
}

impl From<sqlx::Error> for CollectError {
    fn from(error: sqlx::Error) -> Self {
        Self::Projection(crate::error::ApplyError::from(error).into())
    }
}

/// Collects blobs.
pub struct Collector {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// Connections that read the tables as they are shown.
    pub pool: PgPool,
    /// The blobs, and the keys of what is in them.
    pub deps: Deps,
    /// How far the tables are.
    pub marks: Arc<Watermarks>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl Collector {
    /// Collects now and then, until the token is cancelled.
    pub async fn run(&self, stop: CancellationToken) {
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let collected = tokio::select! {
                () = stop.cancelled() => return,
                collected = self.collect(gc::GRACE) => collected,
            };
            match collected {
                Ok(Collected { seen, removed, removed_bytes }) => {
                    metrics::counter!("stash_blobs_removed_total").increment(removed);
                    tracing::info!(seen, removed, removed_bytes, "collected blobs that nothing needs");
                }
                Err(error) => tracing::warn!(%error, "blobs are collected another time"),
            }
            pause = EVERY;
        }
    }

    /// Collects once. A blob that no record points at goes if it was last put longer ago than `grace`; one whose content is erased
    /// goes at once.
    ///
    /// # Errors
    /// [`CollectError`]; what was removed until then is gone.
    pub async fn collect(&self, grace: Duration) -> Result<Collected, CollectError> {
        self.catch_up().await?;
        let unreadable: bool = sqlx::query_scalar(include_str!("dead_letters.sql")).fetch_one(&self.pool).await?;
        if unreadable {
            return Err(CollectError::Unreadable);
        }
        let mut collected = gc::collect(self.deps.store.as_ref(), self, self.clock.now(), grace).await?;
        self.erase(&mut collected).await?;
        Ok(collected)
    }

    async fn catch_up(&self) -> Result<(), CollectError> {
        for partition in (0..self.log.partitions()).map(Partition) {
            let tail = self.log.tail(partition).await.map_err(ProjectionError::from)?;
            if let Some(last) = tail.0.checked_sub(1)
                && !self.marks.wait_for(Position { partition, offset: Offset(last) }, CATCH_UP_MAX).await
            {
                return Err(CollectError::Lagging);
            }
        }
        Ok(())
    }

    /// Removes what was erased.
    async fn erase(&self, collected: &mut Collected) -> Result<(), CollectError> {
        let owners: Vec<(Uuid, i64)> =
            sqlx::query_as(include_str!("deletions.sql")).bind(OWNERS_MAX).fetch_all(&self.pool).await?;
        for (owner, deletions) in owners {
            self.erase_of(OwnerId(owner), collected).await?;
            sqlx::query(include_str!("swept.sql")).bind(owner).bind(deletions).execute(&self.pool).await?;
        }
        Ok(())
    }

    async fn erase_of(&self, owner: OwnerId, collected: &mut Collected) -> Result<(), CollectError> {
        let mut after = None;
        loop {
            let page = self.deps.store.list_blobs(owner, after, LIST_BLOBS_MAX).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.blob.digest);
            let digests: Vec<Digest> = page.iter().map(|entry| entry.blob.digest).collect();
            let live = self.live(owner, &digests).await?;
            for entry in page.into_iter().filter(|entry| live.contains(&entry.blob.digest)) {
                if self.erase_blob(owner, &entry).await? {
                    collected.removed += 1;
                    collected.removed_bytes += entry.blob.size.unsigned_abs();
                }
            }
        }
    }

    /// Removes a blob if nothing in it can be opened any more. One that is damaged, or gone meanwhile, is left alone.
    async fn erase_blob(&self, owner: OwnerId, entry: &BlobEntry) -> Result<bool, CollectError> {
        let (store, digest) = (&self.deps.store, entry.blob.digest);
        let bytes = match store.get_blob(owner, entry.blob).await {
            Ok(bytes) => bytes,
            Err(ArtifactError::Missing(_) | ArtifactError::Damaged(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let Ok(husk) = Husk::of(&bytes) else { return Ok(false) };
        let kept = self.deps.keys.keep_husk(owner, digest, &husk).await;
        if !kept.map_err(|error| ArtifactError::Unavailable(error.to_string()))? {
            return Ok(false);
        }
        // One that was put again since it was listed stays.
        Ok(store.delete_blob_put_before(owner, digest, Timestamp(entry.put_at.0.saturating_add(1))).await?)
    }
}

#[async_trait]
impl LiveBlobs for Collector {
    async fn live(&self, owner: OwnerId, blobs: &[Digest]) -> Result<HashSet<Digest>, ArtifactError> {
        let unavailable = |error: sqlx::Error| ArtifactError::Unavailable(error.to_string());
        // Blobs of an owner of whom the log says nothing are another deployment's, or the log is not the one it was.
        let known: bool = sqlx::query_scalar(include_str!("known_owner.sql"))
            .bind(owner.0)
            .fetch_one(&self.pool)
            .await
            .map_err(unavailable)?;
        if !known {
            return Ok(blobs.iter().copied().collect());
        }
        let wanted: Vec<&[u8]> = blobs.iter().map(|digest| digest.0.as_slice()).collect();
        let live: Vec<(Vec<u8>,)> = sqlx::query_as(include_str!("live.sql"))
            .bind(owner.0)
            .bind(wanted)
            .fetch_all(&self.pool)
            .await
            .map_err(unavailable)?;
        Ok(live.into_iter().filter_map(|(digest,)| digest.try_into().ok().map(Digest)).collect())
    }
}
