//! Blobs in a bucket.
//!
//! Each put makes an object with a name of its own, a *generation*, and removes the generations that were there before. So a
//! put and the collector never touch the same object: the collector removes only generations that it has seen and found old,
//! and whatever is put meanwhile has another name. A reader lists a blob's generations and reads the newest; if that is
//! replaced between the two requests, it lists again.

use super::Bucket;
use super::error::{error, if_there, unavailable};
use crate::artifacts::{ArtifactError, BlobEntry, LIST_BLOBS_MAX, LIST_OWNERS_MAX};
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// How often a reader looks again for a blob that is replaced while it reads.
const READ_ROUNDS: usize = 4;

const SECOND_US: i64 = 1_000_000;

/// The character after `/`: what begins with it sorts after everything in a folder.
const AFTER_SLASH: char = '0';

/// One object of a blob.
struct Generation {
    key: String,
    blob: BlobRef,
    put_at: Timestamp,
}

impl Bucket {
    pub(super) async fn put_blob(&self, owner: OwnerId, bytes: Bytes) -> Result<BlobRef, ArtifactError> {
        let blob = BlobRef { digest: Digest::of(&bytes), size: i64::try_from(bytes.len()).unwrap_or(i64::MAX) };
        let folder = folder(owner, blob.digest);
        // Ordered by time, so that of two puts at once the later name stays.
        let key = format!("{folder}{}", Uuid::now_v7().simple());
        let put = self.client.put_object().bucket(&self.name).key(&key).body(ByteStream::from(bytes)).send();
        let (earlier, put) = tokio::join!(self.generations(&folder, None, LIST_BLOBS_MAX), put);
        put.map_err(error)?;
        // Ones that cannot be removed now cost room until the next put or the collector.
        for old in earlier.unwrap_or_default().iter().filter(|old| old.key < key) {
            if let Err(error) = self.delete_object(&old.key).await {
                tracing::debug!(%error, "a superseded blob stays for now");
            }
        }
        Ok(blob)
    }

    pub(super) async fn get_blob(&self, owner: OwnerId, blob: BlobRef) -> Result<Bytes, ArtifactError> {
        let name = || format!("blob {}", blob.digest);
        for _ in 0..READ_ROUNDS {
            let generations = self.generations(&folder(owner, blob.digest), None, LIST_BLOBS_MAX).await?;
            if generations.is_empty() {
                return Err(ArtifactError::Missing(name()));
            }
            let mut damaged = false;
            for generation in generations.iter().rev() {
                match self.read_generation(&generation.key, blob).await? {
                    Read::Whole(bytes) => return Ok(bytes),
                    Read::Damaged => damaged = true,
                    Read::Gone => {}
                }
            }
            if damaged {
                return Err(ArtifactError::Damaged(name()));
            }
        }
        Err(unavailable("a blob was replaced each time it was read"))
    }

    async fn read_generation(&self, key: &str, blob: BlobRef) -> Result<Read, ArtifactError> {
        let request = self.client.get_object().bucket(&self.name).key(key).send();
        let Some(object) = if_there(request.await)? else { return Ok(Read::Gone) };
        // Before anything is held in memory.
        if object.content_length() != Some(blob.size) {
            return Ok(Read::Damaged);
        }
        let bytes = object.body.collect().await.map_err(unavailable)?.into_bytes();
        Ok(if Digest::of(&bytes) == blob.digest { Read::Whole(bytes) } else { Read::Damaged })
    }

    pub(super) async fn delete_blob(&self, owner: OwnerId, digest: Digest) -> Result<bool, ArtifactError> {
        let generations = self.generations(&folder(owner, digest), None, LIST_BLOBS_MAX).await?;
        for generation in &generations {
            self.delete_object(&generation.key).await?;
        }
        Ok(!generations.is_empty())
    }

    pub(super) async fn delete_blob_put_before(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<bool, ArtifactError> {
        let old = self.old_generations(owner, digest, time).await?;
        for key in &old {
            self.delete_object(key).await?;
        }
        Ok(!old.is_empty())
    }

    /// The keys of all generations of a blob, if each was put before this time.
    pub(super) async fn old_generations(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<Vec<String>, ArtifactError> {
        let generations = self.generations(&folder(owner, digest), None, LIST_BLOBS_MAX).await?;
        let all_old = generations.iter().all(|generation| generation.put_at < time);
        Ok(if all_old { generations.into_iter().map(|generation| generation.key).collect() } else { Vec::new() })
    }

    pub(super) async fn list_blobs(
        &self,
        owner: OwnerId,
        after: Option<Digest>,
        max: usize,
    ) -> Result<Vec<BlobEntry>, ArtifactError> {
        let owner_folder = format!("{BLOBS}/{owner}/");
        let after = after.map(|digest| format!("{owner_folder}{digest}{AFTER_SLASH}"));
        let mut entries: Vec<BlobEntry> = Vec::new();
        for generation in self.generations(&owner_folder, after, max.min(LIST_BLOBS_MAX)).await? {
            match entries.last_mut().filter(|entry| entry.blob.digest == generation.blob.digest) {
                // The page may end between generations: a blob then looks older than it is, and is looked at again before it
                // is removed.
                Some(entry) => {
                    *entry = BlobEntry { blob: generation.blob, put_at: entry.put_at.max(generation.put_at) };
                }
                None => entries.push(BlobEntry { blob: generation.blob, put_at: generation.put_at }),
            }
        }
        Ok(entries)
    }

    pub(super) async fn list_owners(&self, after: Option<OwnerId>) -> Result<Vec<OwnerId>, ArtifactError> {
        let listing = self
            .client
            .list_objects_v2()
            .bucket(&self.name)
            .prefix(format!("{BLOBS}/"))
            .delimiter("/")
            .set_start_after(after.map(|owner| format!("{BLOBS}/{owner}{AFTER_SLASH}")))
            .max_keys(i32::try_from(LIST_OWNERS_MAX).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(error)?;
        let ids =
            listing.common_prefixes().iter().filter_map(|folder| folder.prefix()?.split('/').nth(1)?.parse().ok());
        Ok(ids.collect())
    }

    /// The generations in a folder, in order of their names.
    async fn generations(
        &self,
        folder: &str,
        after: Option<String>,
        max: usize,
    ) -> Result<Vec<Generation>, ArtifactError> {
        let listing = self
            .client
            .list_objects_v2()
            .bucket(&self.name)
            .prefix(folder)
            .set_start_after(after)
            .max_keys(i32::try_from(max).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(error)?;
        Ok(listing.contents.unwrap_or_default().into_iter().filter_map(generation).collect())
    }
}

/// What a generation was found to be.
enum Read {
    Whole(Bytes),
    Damaged,
    Gone,
}

/// First part of the keys.
const BLOBS: &str = "blobs";

fn folder(owner: OwnerId, digest: Digest) -> String {
    format!("{BLOBS}/{owner}/{digest}/")
}

/// An object of a listing, if it is one of ours.
fn generation(object: aws_sdk_s3::types::Object) -> Option<Generation> {
    let key = object.key?;
    let digest = key.rsplit('/').nth(1)?.parse().ok()?;
    // Services tell whole seconds, so it was put before the end of that second.
    let put_at = Timestamp(object.last_modified?.secs().checked_add(1)?.checked_mul(SECOND_US)?);
    Some(Generation { key, blob: BlobRef { digest, size: object.size? }, put_at })
}
