//! Gate 2: a fingerprint leads to one file, and that file is as it was when it landed.
//!
//! `registry.lock` has a line per landed file: fingerprint, path, SHA-256 of the text. It is only ever added to. A fingerprint
//! leaves out documentation, defaults and logical types, so a file that differs from another in these alone collides with it.

use super::{Fault, SchemaFile};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A line of the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// Fingerprint of the schema.
    pub fingerprint: u64,
    /// Path within the schema folder.
    pub path: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
}

impl Landed {
    /// The line for a file as it stands now.
    ///
    /// # Errors
    /// A [`Fault`] when the file is no JSON.
    pub fn of(file: &SchemaFile<'_>) -> Result<Self, Fault> {
        let json =
            serde_json::from_str(file.text).map_err(|error| Fault::new(file.path(), format!("no JSON: {error}")))?;
        Ok(Self {
            fingerprint: crate::fingerprint::of(&json),
            path: file.path(),
            sha256: hex::encode(Sha256::digest(file.text)),
        })
    }

    /// The line, without its end.
    pub fn line(&self) -> String {
        format!("{:016x} {} {}", self.fingerprint, self.path, self.sha256)
    }
}

/// Reads a lock. Empty lines and lines that start with `#` are skipped.
///
/// # Errors
/// A [`Fault`] naming the first line that is none.
pub fn read_lock(text: &str) -> Result<Vec<Landed>, Fault> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| {
            let bad = || Fault::new("registry.lock", format!("line {} is not fingerprint, path, SHA-256", index + 1));
            let [fingerprint, path, sha256] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                return Err(bad());
            };
            let fingerprint = u64::from_str_radix(fingerprint, 16).map_err(|_| bad())?;
            Ok(Landed { fingerprint, path: path.to_owned(), sha256: sha256.to_owned() })
        })
        .collect()
}

/// Compares the files with each other and with the lock.
pub fn check(files: &[SchemaFile<'_>], lock: &[Landed]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut by_fingerprint: BTreeMap<u64, String> = BTreeMap::new();
    let mut by_path: BTreeMap<&str, &Landed> = BTreeMap::new();
    for landed in lock {
        if by_path.insert(&landed.path, landed).is_some() {
            faults.push(Fault::new("registry.lock", format!("lists {} twice", landed.path)));
        }
    }
    for file in files {
        let now = match Landed::of(file) {
            Ok(now) => now,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        if let Some(other) = by_fingerprint.insert(now.fingerprint, now.path.clone()) {
            let what = format!(
                "has the fingerprint of {other}: documentation, defaults and logical types do not tell them apart"
            );
            faults.push(Fault::new(now.path.clone(), what));
        }
        match by_path.get(now.path.as_str()) {
            None => faults
                .push(Fault::new(now.path, "is not in registry.lock: run `cargo run -p stash-schemas --example lock`")),
            Some(landed) if landed.sha256 != now.sha256 => {
                faults
                    .push(Fault::new(now.path, "was edited after it landed: restore it and add a new version instead"));
            }
            Some(landed) if landed.fingerprint != now.fingerprint => {
                let what = format!(
                    "has fingerprint {:016x}, but the log knows it by {:016x}",
                    now.fingerprint, landed.fingerprint
                );
                faults.push(Fault::new(now.path, what));
            }
            Some(_) => {}
        }
    }
    let present: BTreeSet<String> = files.iter().map(SchemaFile::path).collect();
    let gone = lock.iter().filter(|landed| !present.contains(&landed.path));
    faults.extend(
        gone.map(|landed| Fault::new(landed.path.clone(), "is gone, but the log may hold events in it: restore it")),
    );
    faults
}
