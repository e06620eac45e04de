//! Blobs in a folder.
//!
//! How a put and the collector, in two processes, never lose a blob that the put answered for:
//!
//! 1. the collector sees an old blob, moves it to the trash, and looks at its time again;
//! 2. a put that finds the blob sets its time to now, and then looks whether the blob still has its name.
//!
//! If the put's second look comes before the move, its new time was set before the collector's second look, which moves the blob
//! back. If it comes after, the put sees that the name is gone and writes the blob anew. Readers look into the trash too. What a
//! killed collector left there is moved back when the folder is next opened.

use super::Folder;
use super::disk::{Folders, error, if_there, move_into_place, sync_folder, write_durably};
use super::temporary::same_file;
use crate::artifacts::{ArtifactError, BlobEntry, LIST_OWNERS_MAX};
use bytes::Bytes;
use stash_domain::ids::{Digest, OwnerId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes compared at a time.
const COMPARE_BYTES: usize = 64 * 1024;

impl Folder {
    pub(super) fn put_blob(&self, owner: OwnerId, bytes: &[u8]) -> Result<BlobRef, ArtifactError> {
        let digest = Digest::of(bytes);
        let path = blob_path(self.folders.root(), owner, digest);
        let folder = path.parent().unwrap_or(self.folders.root());
        if renew(&path, bytes)? {
            // Whoever wrote it may not have come to this yet.
            sync_folder(folder)?;
        } else {
            self.folders.make(folder)?;
            let (mut file, temporary) = self.temporary.file()?;
            write_durably(&mut file, bytes)?;
            move_into_place(temporary.path(), &path)?;
        }
        Ok(BlobRef { digest, size: length(bytes.len() as u64) })
    }

    pub(super) fn get_blob(&self, owner: OwnerId, blob: BlobRef) -> Result<Bytes, ArtifactError> {
        let path = blob_path(self.folders.root(), owner, blob.digest);
        let name = || format!("blob {}", blob.digest);
        let mut found = None;
        // The collector may move it to the trash and back meanwhile.
        for path in [&path, &trash_path(self.folders.root(), owner, blob.digest), &path] {
            found = if_there(File::open(path))?;
            if found.is_some() {
                break;
            }
        }
        let mut file = found.ok_or_else(|| ArtifactError::Missing(name()))?;
        let size = file.metadata().map_err(error)?.len();
        if length(size) != blob.size {
            return Err(ArtifactError::Damaged(name()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        (&mut file).take(size).read_to_end(&mut bytes).map_err(error)?;
        if Digest::of(&bytes) == blob.digest { Ok(bytes.into()) } else { Err(ArtifactError::Damaged(name())) }
    }

    pub(super) fn delete_blob(&self, owner: OwnerId, digest: Digest) -> Result<bool, ArtifactError> {
        let path = blob_path(self.folders.root(), owner, digest);
        let trashed = if_there(std::fs::remove_file(trash_path(self.folders.root(), owner, digest)))?.is_some();
        let there = if_there(std::fs::remove_file(&path))?.is_some();
        if there {
            path.parent().map_or(Ok(()), sync_folder)?;
        }
        Ok(there || trashed)
    }

    pub(super) fn delete_blob_put_before(
        &self,
        owner: OwnerId,
        digest: Digest,
        time: Timestamp,
    ) -> Result<bool, ArtifactError> {
        let path = blob_path(self.folders.root(), owner, digest);
        let trash = trash_path(self.folders.root(), owner, digest);
        let Some(put_at) = if_there(std::fs::metadata(&path).and_then(|metadata| metadata.modified()))? else {
            return Ok(false);
        };
        if timestamp(put_at) >= time || if_there(std::fs::rename(&path, &trash))?.is_none() {
            return Ok(false);
        }
        let put_at = if_there(std::fs::metadata(&trash).and_then(|metadata| metadata.modified()))?;
        if put_at.is_some_and(|put_at| timestamp(put_at) >= time) {
            restore(&trash, &path)?;
            return Ok(false);
        }
        if_there(std::fs::remove_file(&trash))?;
        path.parent().map_or(Ok(()), sync_folder)?;
        Ok(true)
    }

    pub(super) fn list_blobs(
        &self,
        owner: OwnerId,
        after: Option<Digest>,
        max: usize,
    ) -> Result<Vec<BlobEntry>, ArtifactError> {
        let folder = self.folders.root().join("blobs").join(owner.to_string());
        let mut entries = Vec::new();
        for shard in names(&folder)? {
            let first = after.map(|digest| digest.to_string()[..2].to_owned()).unwrap_or_default();
            if shard < first || entries.len() >= max {
                continue;
            }
            for name in names(&folder.join(&shard))? {
                let Ok(digest) = name.parse::<Digest>() else { continue };
                if entries.len() >= max || after.is_some_and(|after| digest <= after) {
                    continue;
                }
                // One that was removed meanwhile is not listed.
                if let Some(metadata) = if_there(std::fs::metadata(folder.join(&shard).join(&name)))? {
                    let blob = BlobRef { digest, size: length(metadata.len()) };
                    entries.push(BlobEntry { blob, put_at: timestamp(metadata.modified().map_err(error)?) });
                }
            }
        }
        Ok(entries)
    }

    pub(super) fn list_owners(&self, after: Option<OwnerId>) -> Result<Vec<OwnerId>, ArtifactError> {
        let mut owners: Vec<OwnerId> =
            names(&self.folders.root().join("blobs"))?.iter().filter_map(|name| name.parse().ok()).collect();
        owners.sort_unstable();
        owners.retain(|owner| after.is_none_or(|after| *owner > after));
        owners.truncate(LIST_OWNERS_MAX);
        Ok(owners)
    }
}

/// Moves back what a killed collector left in the trash.
pub(super) fn restore_trash(folders: &Folders) -> Result<(), ArtifactError> {
    let root = folders.root();
    for name in names(&root.join("trash"))? {
        let parsed = name.split_once('.').and_then(|(owner, digest)| Some((owner.parse().ok()?, digest.parse().ok()?)));
        if let Some((owner, digest)) = parsed {
            let path = blob_path(root, owner, digest);
            folders.make(path.parent().unwrap_or(root))?;
            restore(&root.join("trash").join(&name), &path)?;
        }
    }
    Ok(())
}

/// Gives a blob in the trash its name back, unless it was written anew meanwhile.
fn restore(trash: &Path, path: &Path) -> Result<(), ArtifactError> {
    match std::fs::hard_link(trash, path) {
        Ok(()) => path.parent().map_or(Ok(()), sync_folder)?,
        // Written anew; or another process has restored or removed it.
        Err(source) if matches!(source.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
        Err(source) => return Err(error(source)),
    }
    if_there(std::fs::remove_file(trash))?;
    Ok(())
}

/// Whether the blob is there, with exactly these bytes and from now on counting as new. A damaged one counts as not there, so
/// that a put repairs it.
fn renew(path: &Path, bytes: &[u8]) -> Result<bool, ArtifactError> {
    let Some(mut file) = if_there(OpenOptions::new().read(true).write(true).open(path))? else { return Ok(false) };
    if file.metadata().map_err(error)?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let mut read = vec![0; COMPARE_BYTES.min(bytes.len())];
    for expected in bytes.chunks(COMPARE_BYTES) {
        let read = &mut read[..expected.len()];
        file.read_exact(read).map_err(error)?;
        if read != expected {
            return Ok(false);
        }
    }
    file.set_modified(SystemTime::now()).map_err(error)?;
    same_file(&file, path)
}

fn blob_path(root: &Path, owner: OwnerId, digest: Digest) -> PathBuf {
    let digest = digest.to_string();
    root.join("blobs").join(owner.to_string()).join(&digest[..2]).join(digest)
}

fn trash_path(root: &Path, owner: OwnerId, digest: Digest) -> PathBuf {
    root.join("trash").join(format!("{owner}.{digest}"))
}

/// The names in a folder, in order; none if it is not there.
fn names(folder: &Path) -> Result<Vec<String>, ArtifactError> {
    let Some(entries) = if_there(std::fs::read_dir(folder))? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries {
        // A name that is no text is not ours.
        if let Ok(name) = entry.map_err(error)?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Microseconds since the epoch; times before it count as the epoch.
fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

fn length(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
