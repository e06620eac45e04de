//! The server's log: what it writes to its standard error, in a file of bounded size.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes of one log file; the one before it is kept, so the log takes at most twice this.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes of the end of the log that an error quotes.
const TAIL_BYTES: u64 = 2048;

/// Copies a stream to the log until it ends. Never stops reading, not even when the disk is full: the server would block on
/// its own log.
pub(super) fn pump(mut from: impl Read, path: &Path) {
    let mut buffer = [0_u8; 8192];
    let mut file: Option<(File, u64)> = None;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if file.as_ref().is_some_and(|(_, size)| *size >= FILE_BYTES_MAX) {
            file = None;
            // A failed rename means that the next open finds a long file and tries again.
            let _ = std::fs::rename(path, older(path));
        }
        if file.is_none() {
            file = open(path).ok();
        }
        if let Some((open, size)) = &mut file {
            match open.write_all(&buffer[..count]) {
                Ok(()) => *size += count as u64,
                Err(_) => file = None,
            }
        }
    }
}

fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

/// Where the log before this one is kept.
fn older(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// The end of the log, for an error message.
pub(super) fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(8).collect();
    if lines.is_empty() {
        return format!("(nothing in {})", path.display());
    }
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_its_end_and_stays_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pg.log");
        let line = "x".repeat(1023) + "\n";
        let text = line.repeat(3 * 4 * 1024) + "the last line\n";
        pump(text.as_bytes(), &path);
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(size(&path) + size(&older(&path)) <= 2 * FILE_BYTES_MAX + 8192);
        assert!(tail(&path).ends_with("the last line"));
    }
}
