//! The artifact store: what is too large for the log. It holds two kinds of things:
//!
//! - **blobs**: encrypted pieces of a [`Bundle`](stash_domain::sealed::Bundle), each at most a few MiB, addressed by the SHA-256
//!   of the stored bytes *within the owner's namespace*, so that no owner shares, or can probe for, a blob of another;
//! - **named artifacts**: files of any size under a key such as `reward-models/<owner>/<model>.tar.gz`, streamed from and to
//!   files.
//!
//! What every implementation promises, and the [`conformance`] suite checks:
//! - what was put is durable when the call returns, and is never seen half written;
//! - a blob that is there already stays readable, and counts as new for [`gc`];
//! - bytes that are not those the digest names are never returned;
//! - the same call may be repeated at any time, and after a crash, with the same effect.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod folder;
pub mod gc;
mod key;
pub mod link;
mod s3;

pub use folder::FolderStore;
pub use key::{ArtifactKey, BadArtifactKey};
pub use s3::S3Store;

use async_trait::async_trait;
use bytes::Bytes;
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use std::path::Path;
use std::pin::Pin;
use tokio::io::AsyncRead;

/// Most blobs that one call of [`ArtifactStore::list_blobs`] gives.
pub const LIST_BLOBS_MAX: usize = 1000;

/// Most owners that one call of [`ArtifactStore::list_owners`] gives.
pub const LIST_OWNERS_MAX: usize = 1000;

/// Why a call failed. The set is closed: callers decide by kind, never by text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// No room: the disk is full or a quota is reached. Nothing was stored.
    #[error("the artifact store has no room: {0}")]
    Full(String),
    /// The blob or artifact is not there.
    #[error("the artifact store has no {0}")]
    Missing(String),
    /// It is there, but its bytes are not the ones that were stored.
    #[error("the artifact store's {0} is damaged")]
    Damaged(String),
    /// The store cannot be reached or refuses. The same call may be repeated.
    #[error("the artifact store cannot be used: {0}")]
    Unavailable(String),
}

/// A blob as a listing shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobEntry {
    /// What it is addressed by, and its length.
    pub blob: BlobRef,
    /// When it was last put; a store that knows only the second gives its end.
    pub put_at: Timestamp,
}

/// A named artifact that was stored or fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub size: u64,
}

/// A named artifact being read.
pub struct ArtifactReader {
    /// Its length in bytes.
    pub size: u64,
    /// Its bytes.
    pub bytes: Pin<Box<dyn AsyncRead + Send>>,
}

/// A link by which anybody who holds it may fetch one artifact, for a short time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Absolute, or for a folder relative to the server's root.
    pub url: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// The store.
#[async_trait]
pub trait ArtifactStore: Send + Sync + 'static {
    /// Stores a blob. One that is there already is kept, and counts as put now.
    ///
    /// # Errors
    /// [`ArtifactError::Full`] and [`ArtifactError::Unavailable`].
    async fn put_blob(&self, owner: OwnerId, bytes: Bytes) -> Result<BlobRef, ArtifactError>;

    /// The bytes of a blob, checked against its digest.
    ///
    /// # Errors
    /// [`ArtifactError::Missing`], [`ArtifactError::Damaged`] and [`ArtifactError::Unavailable`].
    async fn get_blob(&self, owner: OwnerId, blob: BlobRef) -> Result<Bytes, ArtifactError>;

    /// Removes a blob, whoever refers to it, and says whether it was there.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn delete_blob(&self, owner: OwnerId, digest: Digest) -> Result<bool, ArtifactError>;

    /// Removes a blob that was last put before this time, and says whether it did. A put that happens meanwhile wins.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn delete_blob_put_before(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<bool, ArtifactError>;

    /// The owner's blobs in the order of their digests: those after this one, at most `max` and at most [`LIST_BLOBS_MAX`].
    /// An empty answer is the end.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn list_blobs(
        &self,
        owner: OwnerId,
        after: Option<Digest>,
        max: usize,
    ) -> Result<Vec<BlobEntry>, ArtifactError>;

    /// The owners that have blobs, in order: those after this one, at most [`LIST_OWNERS_MAX`]. An empty answer is the end.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn list_owners(&self, after: Option<OwnerId>) -> Result<Vec<OwnerId>, ArtifactError>;

    /// Stores a file under a key, in place of what was there.
    ///
    /// # Errors
    /// [`ArtifactError::Full`] and [`ArtifactError::Unavailable`]; also when `from` cannot be read.
    async fn put_file(&self, key: &ArtifactKey, from: &Path) -> Result<Stored, ArtifactError>;

    /// Copies an artifact to a file, which must not exist yet. With `expected`, only one that has this digest.
    ///
    /// # Errors
    /// [`ArtifactError::Missing`], [`ArtifactError::Damaged`] (the file is removed again), [`ArtifactError::Full`] and
    /// [`ArtifactError::Unavailable`].
    async fn get_file(&self, key: &ArtifactKey, to: &Path, expected: Option<Digest>) -> Result<Stored, ArtifactError>;

    /// Opens an artifact for reading from its beginning.
    ///
    /// # Errors
    /// [`ArtifactError::Missing`] and [`ArtifactError::Unavailable`].
    async fn read_file(&self, key: &ArtifactKey) -> Result<ArtifactReader, ArtifactError>;

    /// Removes an artifact and says whether it was there.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn delete_file(&self, key: &ArtifactKey) -> Result<bool, ArtifactError>;

    /// A link to an artifact, valid for [`link::VALID_S`] seconds from `now`. It says nothing about whether the artifact exists.
    ///
    /// # Errors
    /// [`ArtifactError::Unavailable`].
    async fn link(&self, key: &ArtifactKey, now: Timestamp) -> Result<Link, ArtifactError>;
}
