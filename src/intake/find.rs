//! The files of folders.

use std::io;
use std::path::{Path, PathBuf};

/// Files of one listing: at about 100 bytes of path each, 10 MB.
const FILES_MAX: usize = 100_000;

/// Folders below one that is named.
const DEPTH_MAX: usize = 32;

/// Endings of files that are taken from a folder.
pub(crate) const ENDINGS: &[&str] =
    &["jsonl", "json", "ndjson", "jsonl.gz", "json.gz", "ndjson.gz", "jsonl.zst", "json.zst", "ndjson.zst"];

/// A file to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its size when it was found.
    pub(crate) bytes: u64,
    /// Whether it was named, rather than found in a folder.
    pub(crate) named: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The files, in the order of the places and of their names.
    pub(crate) files: Vec<Found>,
    /// What could not be looked at, and why.
    pub(crate) faults: Vec<(PathBuf, String)>,
}

/// Whether a folder's file of this name is taken.
pub(crate) fn is_taken(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.len() > 1 && stem.ends_with('.')))
}

/// Lists the files that are named, and those in the folders and below them. Links in folders are not followed, so there are no
/// circles. What cannot be read stops nothing.
pub(crate) fn list(places: &[PathBuf]) -> Listing {
    let mut listing = Listing::default();
    for place in places {
        match std::fs::metadata(place) {
            Ok(facts) if facts.is_dir() => listing.walk(place, 0),
            Ok(facts) => listing.add(Found { path: place.clone(), bytes: facts.len(), named: true }),
            Err(error) => listing.fault(place, error.to_string()),
        }
    }
    listing
}

impl Listing {
    fn walk(&mut self, folder: &Path, depth: usize) {
        if depth > DEPTH_MAX {
            return self.fault(folder, format!("lies more than {DEPTH_MAX} folders deep"));
        }
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.fault(folder, error.to_string()),
        };
        for entry in entries {
            if self.is_full() {
                return;
            }
            let path = entry.path();
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => self.walk(&path, depth + 1),
                Ok(facts) if facts.is_file() && is_taken(&path) => {
                    self.add(Found { path, bytes: facts.len(), named: false });
                }
                Ok(_) => {}
                // Gone since the folder was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.fault(&path, error.to_string()),
            }
        }
    }

    fn add(&mut self, file: Found) {
        if !self.is_full() {
            self.files.push(file);
            return;
        }
        let fault = format!("more than {FILES_MAX} files; this one and those after it are left for another call");
        self.fault(&file.path, fault);
    }

    fn is_full(&self) -> bool {
        self.files.len() > FILES_MAX || self.faults.len() > FILES_MAX
    }

    fn fault(&mut self, path: &Path, reason: String) {
        if self.faults.len() <= FILES_MAX {
            self.faults.push((path.to_owned(), reason));
        }
    }
}

fn entries(folder: &Path) -> io::Result<Vec<std::fs::DirEntry>> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_by_their_ending() {
        for name in ["a.json", "a.b.jsonl", "rollout-1.jsonl.zst", "a.ndjson.gz"] {
            assert!(is_taken(Path::new(name)), "{name}");
        }
        for name in ["a.txt", "json", ".json", "a.jsonl.bak", "a.jsonx", "a.zst"] {
            assert!(!is_taken(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn folders_are_walked_in_order_and_what_is_missing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/c")).unwrap();
        for name in ["b/c/2.jsonl", "b/1.json", "a.jsonl.zst", "notes.txt"] {
            std::fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), at("b/circle")).unwrap();
        let listing = list(&[folder.path().to_owned(), at("notes.txt"), at("none.json")]);
        let names: Vec<_> = listing.files.iter().map(|file| file.path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a.jsonl.zst", "b/1.json", "b/c/2.jsonl", "notes.txt"].map(Path::new));
        assert!(listing.files.iter().all(|file| file.bytes == 1 && file.named == file.path.ends_with("notes.txt")));
        assert_eq!(listing.faults.len(), 1);
    }
}
