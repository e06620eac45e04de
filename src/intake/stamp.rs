//! What a file looks like from outside, and what names it.

use sha2::{Digest as _, Sha256};
use stash_domain::ids::{Digest, derive};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How old a file's time must be when it is looked at to be believed: file systems keep times no finer than this, and a file that
/// is written twice within it may keep its size.
const TIME_GRAIN: Duration = Duration::from_secs(2);

/// Bytes read at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// A file's size and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Its size.
    pub(crate) bytes: u64,
    /// When it was last changed, in nanoseconds since 1970; 0 if the file system does not say.
    pub(crate) modified_ns: u64,
}

impl Stamp {
    /// What a file looks like now.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|facts| Self::from(&facts))
    }

    /// Whether a change after this look would show in the stamp.
    pub(super) fn is_settled(self, looked_ns: u64) -> bool {
        let grain = u64::try_from(TIME_GRAIN.as_nanos()).unwrap_or(u64::MAX);
        self.modified_ns.checked_add(grain).is_some_and(|end| end < looked_ns) && self.modified_ns > 0
    }
}

impl From<&Metadata> for Stamp {
    fn from(facts: &Metadata) -> Self {
        Self { bytes: facts.len(), modified_ns: facts.modified().map(nanoseconds).unwrap_or_default() }
    }
}

/// Nanoseconds since 1970 now.
pub(super) fn now_ns() -> u64 {
    nanoseconds(SystemTime::now())
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// The digest of a file's first bytes, and how many there were: fewer than asked for when it was cut meanwhile.
pub(super) fn digest_of(path: &Path, bytes: u64) -> io::Result<(Digest, u64)> {
    let mut reader = File::open(path)?.take(bytes);
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut read = 0;
    loop {
        let length = reader.read(&mut chunk)?;
        if length == 0 {
            return Ok((Digest(hash.finalize().into()), read));
        }
        hash.update(chunk.get(..length).unwrap_or_default());
        read += length as u64;
    }
}

/// The path by which a file is remembered, whatever folder a command is started in.
pub(super) fn full(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Names the file for the server, which numbers the traces in it that have no id: a digest of machine and path, so that neither is
/// told.
pub(super) fn source_of(full: &Path) -> String {
    let machine = nix::unistd::gethostname().unwrap_or_default();
    derive("import-source", &[machine.as_encoded_bytes(), full.as_os_str().as_encoded_bytes()]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_believed_only_when_a_later_change_would_show() {
        let second = 1_000_000_000;
        let stamp = Stamp { bytes: 1, modified_ns: 100 * second };
        assert!(stamp.is_settled(103 * second));
        assert!(!stamp.is_settled(101 * second));
        assert!(!Stamp { modified_ns: 0, ..stamp }.is_settled(103 * second), "no time at all");
        assert!(!Stamp { modified_ns: u64::MAX, ..stamp }.is_settled(u64::MAX), "a time in the future");
    }

    #[test]
    fn a_digest_is_of_the_bytes_that_were_there() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abcdef").unwrap();
        assert_eq!(digest_of(file.path(), 3).unwrap(), (Digest::of(b"abc"), 3));
        assert_eq!(digest_of(file.path(), 9).unwrap(), (Digest::of(b"abcdef"), 6));
    }
}
