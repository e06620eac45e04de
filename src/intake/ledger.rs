//! What was imported already, per server and key: a line of JSON for each import, appended when the server has acknowledged it,
//! so that a run that is interrupted at any moment goes on where it stopped. The last line about a file counts.
//!
//! Losing the file, or a line of it, costs only that a file is sent again: its command's key is then the same as before, and the
//! server answers like the first time.

use super::stamp::Stamp;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use stash_domain::ids::Digest;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Files that are remembered; beyond, those that were looked at longest ago are forgotten. At about 300 bytes each, 30 MB.
const ENTRIES_MAX: usize = 100_000;

/// Lines that may be outdated before the file is written anew, beside as many as there are entries.
const OUTDATED_MAX: usize = 10_000;

/// Bytes of a line; a longer one is none of ours.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// What is remembered of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its full path.
    pub(super) path: String,
    /// Digest of its bytes.
    pub(super) digest: Digest,
    /// Its size.
    pub(super) bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub(super) modified_ns: u64,
    /// When it was looked at.
    pub(super) looked_ns: u64,
    /// Format and other parameters of the import.
    pub(super) how: String,
    /// First part of the server's positions: which event log took it.
    pub(super) log: String,
    /// How many imports of the file came before.
    pub(super) round: u64,
}

impl Entry {
    /// Whether a file of this look must have the bytes that were imported.
    pub(super) fn covers(&self, stamp: Stamp) -> bool {
        let known = Stamp { bytes: self.bytes, modified_ns: self.modified_ns };
        known == stamp && known.is_settled(self.looked_ns)
    }
}

/// The entries, and the file that they are kept in.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: HashMap<String, Entry>,
    file: Option<File>,
}

impl Ledger {
    /// Opens the ledger of a client, in the user's state folder; without such a folder nothing is remembered.
    pub(super) fn of_client(state: Option<PathBuf>, identity: &str) -> anyhow::Result<Self> {
        match state {
            Some(state) => Self::open(&state.join("imports").join(format!("{identity}.jsonl"))),
            None => Ok(Self::default()),
        }
    }

    fn open(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("{} cannot be used", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(cannot)?;
        }
        let (mut entries, lines) = load(path).with_context(cannot)?;
        if lines > entries.len() + OUTDATED_MAX || entries.len() > ENTRIES_MAX {
            forget_oldest(&mut entries);
            rewrite(path, &entries).with_context(cannot)?;
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).with_context(cannot)?;
        Ok(Self { entries, file: Some(file) })
    }

    /// What is remembered of a file.
    pub(super) fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Remembers.
    pub(super) fn put(&mut self, entry: Entry) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&entry)?;
            line.push(b'\n');
            // In one piece, so that lines of two commands at once do not mix.
            file.write_all(&line).context("what was imported cannot be noted")?;
        }
        if self.entries.len() < ENTRIES_MAX || self.entries.contains_key(&entry.path) {
            self.entries.insert(entry.path.clone(), entry);
        }
        Ok(())
    }
}

/// The entries and the number of lines. What is no entry, such as a line that was cut off, is passed over.
fn load(path: &Path) -> std::io::Result<(HashMap<String, Entry>, usize)> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file);
    let (mut entries, mut lines, mut line) = (HashMap::new(), 0, Vec::new());
    loop {
        line.clear();
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok((entries, lines));
        }
        lines += 1;
        if let Ok(entry) = serde_json::from_slice::<Entry>(&line) {
            entries.insert(entry.path.clone(), entry);
        }
        if entries.len() > 2 * ENTRIES_MAX {
            forget_oldest(&mut entries);
        }
    }
}

fn forget_oldest(entries: &mut HashMap<String, Entry>) {
    let mut looks: Vec<u64> = entries.values().map(|entry| entry.looked_ns).collect();
    looks.sort_unstable_by(|a, b| b.cmp(a));
    if let Some(oldest) = looks.get(ENTRIES_MAX) {
        entries.retain(|_, entry| entry.looked_ns > *oldest);
    }
}

/// Writes the entries alone, whole or not at all.
fn rewrite(path: &Path, entries: &HashMap<String, Entry>) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    let mut writer = std::io::BufWriter::new(file);
    for entry in entries.values() {
        serde_json::to_writer(&mut writer, entry)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, round: u64) -> Entry {
        let (how, log) = ("format=auto".to_owned(), "5f0c9a31".to_owned());
        let (modified_ns, looked_ns) = (1, 10_000_000_000 + round);
        Entry { path: path.to_owned(), digest: Digest::of(b"x"), bytes: 1, modified_ns, looked_ns, how, log, round }
    }

    #[test]
    fn what_was_noted_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("imports/a.jsonl");
        let mut ledger = Ledger::open(&path).unwrap();
        for entry in [entry("/a", 0), entry("/b", 0), entry("/a", 1)] {
            ledger.put(entry).unwrap();
        }
        drop(ledger);
        // A line that a crash cut off, and bytes that are no text.
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"path\":\"/c\n\xff\xfe\n").unwrap();
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.get("/a"), Some(&entry("/a", 1)));
        assert_eq!(ledger.get("/b"), Some(&entry("/b", 0)));
        assert_eq!(ledger.get("/c"), None);
    }

    #[test]
    fn a_file_with_many_outdated_lines_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut ledger = Ledger::open(&path).unwrap();
        for round in 0..=OUTDATED_MAX as u64 + 1 {
            ledger.put(entry("/a", round)).unwrap();
        }
        drop(ledger);
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.get("/a").unwrap().round, OUTDATED_MAX as u64 + 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }

    #[test]
    fn only_a_settled_look_covers_a_file() {
        let entry = entry("/a", 0);
        assert!(entry.covers(Stamp { bytes: 1, modified_ns: 1 }));
        assert!(!entry.covers(Stamp { bytes: 2, modified_ns: 1 }));
        assert!(!entry.covers(Stamp { bytes: 1, modified_ns: 2 }));
        let looked_at_once = Entry { looked_ns: 2, ..entry };
        assert!(!looked_at_once.covers(Stamp { bytes: 1, modified_ns: 1 }));
    }
}
