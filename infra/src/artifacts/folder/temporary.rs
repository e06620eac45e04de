//! A folder for unfinished files, one per process and store, which goes with the process however that ends.
//!
//! The lock file beside it is locked before the folder is made, and stays so until the process is gone. Whoever gets a lock that
//! is not its own has found a dead process's folder. Between making the lock file and locking it, another may take it for dead
//! and remove it; so the file is looked at again after locking, and another name tried if it is gone.

use super::disk::{error, if_there, unavailable};
use crate::artifacts::ArtifactError;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names that are tried before giving up.
const NAME_ATTEMPTS: usize = 16;

const LOCK_ENDING: &str = "lock";

pub(super) struct TemporaryFolder {
    path: PathBuf,
    lock_path: PathBuf,
    next_file: AtomicU64,
    /// Holds the lock.
    _lock: File,
}

impl TemporaryFolder {
    /// Removes what dead processes left under `parent`, and makes a folder of our own in it.
    pub(super) fn open(parent: &Path) -> Result<Self, ArtifactError> {
        clean(parent)?;
        for _ in 0..NAME_ATTEMPTS {
            let path = parent.join(format!("{:032x}", rand::random::<u128>()));
            let lock_path = path.with_extension(LOCK_ENDING);
            let lock = OpenOptions::new().write(true).create_new(true).open(&lock_path).map_err(error)?;
            lock.lock().map_err(error)?;
            if same_file(&lock, &lock_path)? {
                std::fs::create_dir(&path).map_err(error)?;
                return Ok(Self { path, lock_path, next_file: AtomicU64::new(0), _lock: lock });
            }
        }
        Err(unavailable("no folder for unfinished files could be made"))
    }

    /// A new file in it, and where it is. It is removed with the returned value, unless it was moved away.
    pub(super) fn file(&self) -> Result<(File, TemporaryFile), ArtifactError> {
        let path = self.path.join(self.next_file.fetch_add(1, Ordering::Relaxed).to_string());
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(error)?;
        Ok((file, TemporaryFile { path }))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // The next process to open the store removes what is left.
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = std::fs::remove_file(&self.lock_path);
    }
}

pub(super) struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Usually it was moved away; else the folder goes with the process.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes the folders whose process is gone.
fn clean(parent: &Path) -> Result<(), ArtifactError> {
    for entry in std::fs::read_dir(parent).map_err(error)? {
        let lock_path = entry.map_err(error)?.path();
        if lock_path.extension().is_none_or(|ending| ending != LOCK_ENDING) {
            continue;
        }
        let Some(lock) = if_there(OpenOptions::new().write(true).open(&lock_path))? else { continue };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(source)) => return Err(error(source)),
        }
        if same_file(&lock, &lock_path)? {
            if_there(std::fs::remove_dir_all(lock_path.with_extension("")))?;
            if_there(std::fs::remove_file(&lock_path))?;
        }
    }
    Ok(())
}

/// Whether the path still names this open file.
pub(super) fn same_file(file: &File, path: &Path) -> Result<bool, ArtifactError> {
    let open = file.metadata().map_err(error)?;
    let named = if_there(std::fs::metadata(path))?;
    Ok(named.is_some_and(|named| (named.dev(), named.ino()) == (open.dev(), open.ino())))
}
