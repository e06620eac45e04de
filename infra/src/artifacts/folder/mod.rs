//! Artifacts in a local folder.
//!
//! ```text
//! <root>/blobs/<owner>/<first two digits>/<digest>
//! <root>/named/<kind>/<owner>/<name>
//! <root>/tmp/<random>/…                what one process is writing
//! <root>/tmp/<random>.lock             locked for as long as that process lives
//! <root>/trash/<owner>.<digest>        a blob between "looks old" and "is gone"
//! ```
//!
//! - A file is written under `tmp`, flushed, renamed to its place, and its folder is flushed: after a kill at any instant there
//!   is the whole file or none, and an answered put is durable.
//! - What a killed process left under `tmp` is removed when the folder is next opened: its lock is free then.
//! - Several processes may use the folder at once.

mod blobs;
pub(super) mod disk;
mod named;
mod temporary;
#[cfg(test)]
mod tests;

use super::link::LinkSigner;
use super::{ArtifactError, ArtifactKey, ArtifactReader, ArtifactStore, BlobEntry, LIST_BLOBS_MAX, Link, Stored};
use async_trait::async_trait;
use bytes::Bytes;
use disk::{Folders, unavailable};
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temporary::TemporaryFolder;

/// A store in a local folder. Cheap to clone.
#[derive(Clone)]
pub struct FolderStore(Arc<Folder>);

struct Folder {
    folders: Folders,
    temporary: TemporaryFolder,
    signer: LinkSigner,
    link_base: String,
}

impl FolderStore {
    /// Opens the folder, making it if it is not there, and removes what killed processes left in it. Links begin with
    /// `link_base`, the path under which the server serves artifacts.
    ///
    /// # Errors
    /// [`ArtifactError::Full`] and [`ArtifactError::Unavailable`].
    pub async fn open(
        root: impl Into<PathBuf>,
        signer: LinkSigner,
        link_base: impl Into<String>,
    ) -> Result<Self, ArtifactError> {
        let (root, link_base) = (root.into(), link_base.into());
        let opened = tokio::task::spawn_blocking(move || {
            let folders = Folders::new(root)?;
            for part in ["blobs", "named", "tmp", "trash"] {
                folders.make(&folders.root().join(part))?;
            }
            blobs::restore_trash(&folders)?;
            let temporary = TemporaryFolder::open(&folders.root().join("tmp"))?;
            Ok(Self(Arc::new(Folder { folders, temporary, signer, link_base })))
        });
        opened.await.map_err(unavailable)?
    }

    /// Does work with files away from the async runtime.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, ArtifactError> + Send + 'static,
    ) -> Result<T, ArtifactError> {
        let folder = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&folder)).await.map_err(unavailable)?
    }
}

#[async_trait]
impl ArtifactStore for FolderStore {
    async fn put_blob(&self, owner: OwnerId, bytes: Bytes) -> Result<BlobRef, ArtifactError> {
        self.blocking(move |folder| folder.put_blob(owner, &bytes)).await
    }

    async fn get_blob(&self, owner: OwnerId, blob: BlobRef) -> Result<Bytes, ArtifactError> {
        self.blocking(move |folder| folder.get_blob(owner, blob)).await
    }

    async fn delete_blob(&self, owner: OwnerId, digest: Digest) -> Result<bool, ArtifactError> {
        self.blocking(move |folder| folder.delete_blob(owner, digest)).await
    }

    async fn delete_blob_put_before(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<bool, ArtifactError> {
        self.blocking(move |folder| folder.delete_blob_put_before(owner, digest, time)).await
    }

    async fn list_blobs(
        &self,
        owner: OwnerId,
        after: Option<Digest>,
        max: usize,
    ) -> Result<Vec<BlobEntry>, ArtifactError> {
        self.blocking(move |folder| folder.list_blobs(owner, after, max.min(LIST_BLOBS_MAX))).await
    }

    async fn list_owners(&self, after: Option<OwnerId>) -> Result<Vec<OwnerId>, ArtifactError> {
        self.blocking(move |folder| folder.list_owners(after)).await
    }

    async fn put_file(&self, key: &ArtifactKey, from: &Path) -> Result<Stored, ArtifactError> {
        let (key, from) = (key.clone(), from.to_owned());
        self.blocking(move |folder| folder.put_file(&key, &from)).await
    }

    async fn get_file(&self, key: &ArtifactKey, to: &Path, expected: Option<Digest>) -> Result<Stored, ArtifactError> {
        let (key, to) = (key.clone(), to.to_owned());
        self.blocking(move |folder| folder.get_file(&key, &to, expected)).await
    }

    async fn read_file(&self, key: &ArtifactKey) -> Result<ArtifactReader, ArtifactError> {
        let opened = key.clone();
        let (file, size) = self.blocking(move |folder| folder.open_file(&opened)).await?;
        Ok(ArtifactReader { size, bytes: Box::pin(tokio::fs::File::from_std(file)) })
    }

    async fn delete_file(&self, key: &ArtifactKey) -> Result<bool, ArtifactError> {
        let key = key.clone();
        self.blocking(move |folder| folder.delete_file(&key)).await
    }

    async fn link(&self, key: &ArtifactKey, now: Timestamp) -> Result<Link, ArtifactError> {
        let (query, expires_at) = self.0.signer.sign(key, now);
        Ok(Link { url: format!("{}/{key}?{query}", self.0.link_base), expires_at })
    }
}
