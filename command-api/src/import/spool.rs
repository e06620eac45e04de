//! The body of an import on its way to where it can be read twice: memory for a JSON body, a file without a name for a raw one.

use bytes::Bytes;
use nix::sys::statvfs::fstatvfs;
use sha2::{Digest as _, Sha256};
use stash_domain::ids::Digest;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of the reading buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// Input that can be read more than once.
pub enum Source {
    /// In memory.
    Memory(Cursor<Bytes>),
    /// In a temporary file that is gone when it is closed.
    File(BufReader<File>),
}

impl Source {
    /// Input in memory.
    pub fn of(bytes: Bytes) -> Self {
        Self::Memory(Cursor::new(bytes))
    }

    /// The same input, from its first byte, to be read before this one is.
    ///
    /// # Errors
    /// Those of the file.
    pub fn again(&self) -> io::Result<Self> {
        let mut again = match self {
            Self::Memory(inner) => Self::Memory(Cursor::new(inner.get_ref().clone())),
            Self::File(inner) => Self::File(BufReader::with_capacity(BUFFER_BYTES, inner.get_ref().try_clone()?)),
        };
        again.rewind()?;
        Ok(again)
    }

    /// Back to the first byte.
    ///
    /// # Errors
    /// Those of the file.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.seek(SeekFrom::Start(0)).map(|_| ())
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(inner) => inner.read(buffer),
            Self::File(inner) => inner.read(buffer),
        }
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Memory(inner) => inner.fill_buf(),
            Self::File(inner) => inner.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Memory(inner) => inner.consume(amount),
            Self::File(inner) => inner.consume(amount),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Memory(inner) => inner.seek(to),
            Self::File(inner) => inner.seek(to),
        }
    }
}

/// After so many bytes it is looked at how much room the disk has left.
const LOOK_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes that bodies leave free on the disk, since Postgres and the artifacts may be on the same one: so many, or on a small disk a
/// twentieth. Any number of bodies may come in at once, each as large as the limit.
const RESERVE_BYTES: u64 = 512 * 1024 * 1024;

/// Whether a disk has room for more of a body.
fn has_room(available: u64, whole: u64) -> bool {
    available >= RESERVE_BYTES.min(whole / 20)
}

/// A file being filled.
pub struct Spool {
    file: File,
    bytes: u64,
    looked_at: u64,
    limit: u64,
    hash: Sha256,
}

/// Why a body could not be spooled.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// More bytes than the limit, after inflation.
    #[error("the body has more than {0} bytes after inflation")]
    TooLarge(u64),
    /// The body broke off, or its compressed form is damaged.
    #[error("the body cannot be read to its end: {0}")]
    Broken(io::Error),
    /// The disk is full.
    #[error("there is no room for the body on the server's disk")]
    Full,
    /// The file failed otherwise.
    #[error("the body cannot be kept: {0}")]
    Io(io::Error),
}

impl From<io::Error> for SpoolError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Self::Full,
            _ => Self::Io(error),
        }
    }
}

impl Spool {
    /// A new file in this folder, which takes at most `limit` bytes.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn create(folder: &Path, limit: u64) -> Result<Self, SpoolError> {
        Ok(Self { file: tempfile::tempfile_in(folder)?, bytes: 0, looked_at: 0, limit, hash: Sha256::new() })
    }

    /// Adds bytes. Blocking.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.limit {
            return Err(SpoolError::TooLarge(self.limit));
        }
        if self.bytes - self.looked_at >= LOOK_BYTES {
            self.looked_at = self.bytes;
            // A file system that does not say how much room it has says so when it is full.
            let room = fstatvfs(&self.file).map_or(true, |facts| {
                let bytes = |blocks: u64| blocks.saturating_mul(facts.fragment_size());
                has_room(bytes(facts.blocks_available()), bytes(facts.blocks()))
            });
            if !room {
                return Err(SpoolError::Full);
            }
        }
        self.hash.update(bytes);
        Ok(self.file.write_all(bytes)?)
    }

    /// The filled file, at its beginning, and the digest of its bytes.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn finish(mut self) -> Result<(Source, Digest), SpoolError> {
        self.file.flush()?;
        self.file.rewind()?;
        let digest = Digest(self.hash.finalize().into());
        Ok((Source::File(BufReader::with_capacity(BUFFER_BYTES, self.file)), digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_leave_room_on_a_disk_large_or_small() {
        const GIB: u64 = 1 << 30;
        assert!(has_room(GIB, 100 * GIB) && !has_room(GIB / 4, 100 * GIB));
        assert!(has_room(GIB / 10, GIB) && !has_room(GIB / 100, GIB));
    }
}
