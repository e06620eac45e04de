//! Artifacts in a private bucket of S3, or of a service that speaks it.
//!
//! ```text
//! blobs/<owner>/<digest>/<generation>      see [`blobs`]
//! <kind>/<owner>/<name>                    named artifacts, such as reward-models/<owner>/<model>.tar.gz
//! ```
//!
//! - An object appears whole or not at all, and is durable when its request is answered: the service promises both, and that
//!   whoever reads or lists afterwards sees it.
//! - Every request ends: connections, tries and bodies that stand still have limits ([`client`]).
//! - Memory: a blob, or [`upload::PART_BYTES`] for each of a few parts on their way.
//! - A link is the service's own, signed for five minutes: what it fetches does not pass through us.
//! - Credentials stay in the client; no error and no log line holds them.

mod blobs;
mod client;
mod error;
mod named;
#[cfg(test)]
mod tests;
mod upload;

use super::{ArtifactError, ArtifactKey, ArtifactReader, ArtifactStore, BlobEntry, Link, Stored};
use crate::config::S3Settings;
use async_trait::async_trait;
use aws_sdk_s3::Client;
use bytes::Bytes;
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use std::path::Path;
use std::sync::Arc;

/// A store in a bucket. Cheap to clone.
#[derive(Clone)]
pub struct S3Store(Arc<Bucket>);

struct Bucket {
    client: Client,
    name: String,
}

impl S3Store {
    /// Opens the bucket, which must be there, and makes sure that it can be listed with these credentials.
    ///
    /// # Errors
    /// [`ArtifactError::Missing`] for the bucket, and [`ArtifactError::Unavailable`].
    pub async fn open(settings: &S3Settings) -> Result<Self, ArtifactError> {
        let bucket = Bucket { client: client::connect(settings).await, name: settings.bucket.clone() };
        let head = bucket.client.head_bucket().bucket(&bucket.name).send().await;
        error::if_there(head)?.ok_or_else(|| ArtifactError::Missing(format!("bucket {}", bucket.name)))?;
        Ok(Self(Arc::new(bucket)))
    }
}

#[async_trait]
impl ArtifactStore for S3Store {
    async fn put_blob(&self, owner: OwnerId, bytes: Bytes) -> Result<BlobRef, ArtifactError> {
        self.0.put_blob(owner, bytes).await
    }

    async fn get_blob(&self, owner: OwnerId, blob: BlobRef) -> Result<Bytes, ArtifactError> {
        self.0.get_blob(owner, blob).await
    }

    async fn delete_blob(&self, owner: OwnerId, digest: Digest) -> Result<bool, ArtifactError> {
        self.0.delete_blob(owner, digest).await
    }

    async fn delete_blob_put_before(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<bool, ArtifactError> {
        self.0.delete_blob_put_before(owner, digest, time).await
    }

    async fn list_blobs(
        &self,
        owner: OwnerId,
        after: Option<Digest>,
        max: usize,
    ) -> Result<Vec<BlobEntry>, ArtifactError> {
        self.0.list_blobs(owner, after, max).await
    }

    async fn list_owners(&self, after: Option<OwnerId>) -> Result<Vec<OwnerId>, ArtifactError> {
        self.0.list_owners(after).await
    }

    async fn put_file(&self, key: &ArtifactKey, from: &Path) -> Result<Stored, ArtifactError> {
        self.0.put_file(key, from).await
    }

    async fn get_file(&self, key: &ArtifactKey, to: &Path, expected: Option<Digest>) -> Result<Stored, ArtifactError> {
        self.0.get_file(key, to, expected).await
    }

    async fn read_file(&self, key: &ArtifactKey) -> Result<ArtifactReader, ArtifactError> {
        self.0.read_file(key).await
    }

    async fn delete_file(&self, key: &ArtifactKey) -> Result<bool, ArtifactError> {
        self.0.delete_file(key).await
    }

    async fn link(&self, key: &ArtifactKey, now: Timestamp) -> Result<Link, ArtifactError> {
        self.0.link(key, now).await
    }
}
