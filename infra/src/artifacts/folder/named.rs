//! Named artifacts in a folder.

use super::Folder;
use super::disk::{error, if_there, move_into_place, sync_folder};
use crate::artifacts::{ArtifactError, ArtifactKey, Stored};
use sha2::{Digest as _, Sha256};
use stash_domain::ids::Digest;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes copied at a time.
const COPY_BYTES: usize = 256 * 1024;

impl Folder {
    pub(super) fn put_file(&self, key: &ArtifactKey, from: &Path) -> Result<Stored, ArtifactError> {
        let path = self.named_path(key);
        self.folders.make(path.parent().unwrap_or(self.folders.root()))?;
        let mut source = File::open(from).map_err(error)?;
        let (mut file, temporary) = self.temporary.file()?;
        let stored = copy(&mut source, &mut file)?;
        move_into_place(temporary.path(), &path)?;
        Ok(stored)
    }

    pub(super) fn get_file(
        &self,
        key: &ArtifactKey,
        to: &Path,
        expected: Option<Digest>,
    ) -> Result<Stored, ArtifactError> {
        let (mut source, _) = self.open_file(key)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(to).map_err(error)?;
        let copied = copy(&mut source, &mut file).and_then(|stored| match expected {
            Some(digest) if digest != stored.digest => Err(ArtifactError::Damaged(format!("artifact {key}"))),
            _ => Ok(stored),
        });
        if copied.is_err() {
            // What is wrong is told already.
            let _ = std::fs::remove_file(to);
        }
        copied
    }

    /// The file of an artifact, and its length.
    pub(super) fn open_file(&self, key: &ArtifactKey) -> Result<(File, u64), ArtifactError> {
        let file = if_there(File::open(self.named_path(key)))?;
        let file = file.ok_or_else(|| ArtifactError::Missing(format!("artifact {key}")))?;
        let size = file.metadata().map_err(error)?.len();
        Ok((file, size))
    }

    pub(super) fn delete_file(&self, key: &ArtifactKey) -> Result<bool, ArtifactError> {
        let path = self.named_path(key);
        let there = if_there(std::fs::remove_file(&path))?.is_some();
        if there {
            path.parent().map_or(Ok(()), sync_folder)?;
        }
        Ok(there)
    }

    /// A key is a relative path that stays below its folder: see [`ArtifactKey`].
    fn named_path(&self, key: &ArtifactKey) -> PathBuf {
        self.folders.root().join("named").join(key.as_str())
    }
}

/// Copies a file and flushes the copy.
fn copy(from: &mut impl Read, to: &mut File) -> Result<Stored, ArtifactError> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut hash = Sha256::new();
    let mut size = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(source) if source.kind() == ErrorKind::Interrupted => continue,
            Err(source) => return Err(error(source)),
        };
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(error)?;
        size += read as u64;
    }
    to.sync_all().map_err(error)?;
    Ok(Stored { digest: Digest(hash.finalize().into()), size })
}
