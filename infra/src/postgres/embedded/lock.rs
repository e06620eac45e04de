//! One process per data folder.
//!
//! The lock is the kernel's (`flock`), so it goes with its holder however that ends; the text in the file only says who the
//! holder is.

use super::error::EmbeddedError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Bytes read of what the holder wrote about itself.
const HOLDER_BYTES_MAX: u64 = 256;

/// Held while a process works on a data folder; released when dropped, or when the process ends in any way.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder.
    ///
    /// # Errors
    /// [`EmbeddedError::InUse`], naming the holder.
    pub(super) fn acquire(data: &Path) -> Result<Self, EmbeddedError> {
        let path = data.join("stash.lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(EmbeddedError::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let known =
                    file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
                let holder = if known { holder.trim().to_owned() } else { "another process".to_owned() };
                return Err(EmbeddedError::InUse { folder: data.to_path_buf(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(EmbeddedError::file("lock", &path)(source)),
        }
        let since = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC");
        let text = format!("process {} (since {since})\n", std::process::id());
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        // On a full disk the lock holds all the same; only a refusal would be less precise.
        if let Err(error) = written {
            tracing::warn!(%error, "could not write down who holds the data folder");
        }
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_opener_is_told_who_holds_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let held = FolderLock::acquire(data.path()).unwrap();
        let refusal = FolderLock::acquire(data.path()).unwrap_err().to_string();
        assert!(refusal.contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(held);
        FolderLock::acquire(data.path()).unwrap();
    }
}
