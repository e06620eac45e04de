//! Files and folders, with the flushes that make them durable, and errors by kind.

use super::ArtifactError;
use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The error of a failed call on the disk.
pub(in crate::artifacts) fn error(source: std::io::Error) -> ArtifactError {
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            ArtifactError::Full(source.to_string())
        }
        _ => unavailable(source),
    }
}

pub(super) fn unavailable(source: impl std::fmt::Display) -> ArtifactError {
    ArtifactError::Unavailable(source.to_string())
}

/// None when the thing is not there.
pub(super) fn if_there<T>(result: std::io::Result<T>) -> Result<Option<T>, ArtifactError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(error(source)),
    }
}

/// Writes and flushes a file's content.
pub(super) fn write_durably(file: &mut File, bytes: &[u8]) -> Result<(), ArtifactError> {
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(error)
}

/// Flushes the names in a folder.
pub(super) fn sync_folder(folder: &Path) -> Result<(), ArtifactError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(error)
}

/// Folders known to be durable, so that they need no flush any more. More are forgotten and flushed again: 4,096 are the folders
/// of 16 owners, in half a megabyte.
const DURABLE_FOLDERS_MAX: usize = 4096;

/// Folders under a root.
pub(super) struct Folders {
    root: PathBuf,
    durable: Mutex<HashSet<PathBuf>>,
}

impl Folders {
    /// Makes the root, durably in the folder that holds it.
    pub(super) fn new(root: PathBuf) -> Result<Self, ArtifactError> {
        std::fs::create_dir_all(&root).map_err(error)?;
        let root = root.canonicalize().map_err(error)?;
        root.parent().map_or(Ok(()), sync_folder)?;
        Ok(Self { root, durable: Mutex::new(HashSet::new()) })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes a folder and those above it, each durable in the one that holds it. That a folder is there is not enough: whoever
    /// made it may not have flushed yet.
    pub(super) fn make(&self, folder: &Path) -> Result<(), ArtifactError> {
        let known = self.durable.lock().unwrap_or_else(PoisonError::into_inner).contains(folder);
        if known && folder.is_dir() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(error)?;
        for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(&self.root)) {
            sync_folder(above)?;
        }
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if durable.len() >= DURABLE_FOLDERS_MAX {
            durable.clear();
        }
        durable.insert(folder.to_owned());
        Ok(())
    }
}

/// Moves a flushed file to its place, durably. The folder must be there.
pub(super) fn move_into_place(from: &Path, to: &Path) -> Result<(), ArtifactError> {
    std::fs::rename(from, to).map_err(error)?;
    to.parent().map_or(Ok(()), sync_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_troubles() {
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        assert!(matches!(write_durably(&mut full, b"bytes"), Err(ArtifactError::Full(_))));
        let quota = std::io::Error::from_raw_os_error(nix::libc::EDQUOT);
        assert!(matches!(error(quota), ArtifactError::Full(_)));
        let denied = std::io::Error::from_raw_os_error(nix::libc::EACCES);
        assert!(matches!(error(denied), ArtifactError::Unavailable(_)));
    }
}
