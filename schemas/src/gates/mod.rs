//! The rules that a change of a schema must keep, as pure functions over the files; the tests of this crate run them on the real
//! files, and so does CI.
//!
//! 1. [`compatibility`]: every version of a family reads every other, fully, both ways.
//! 2. [`fingerprint`]: no two files share a fingerprint, and no landed file was edited.
//! 3. [`structure`]: a new version differs from the one before by new fields only; logical types, units, defaults, names and
//!    order stay. The Avro library's own checker lets several of those pass.
//! 4. [`golden`]: bytes written when a version landed still decode to what they meant, and are still what is written; [`sample`]
//!    makes such bytes for a new version.

pub mod compatibility;
pub mod fingerprint;
pub mod golden;
pub mod sample;
pub mod structure;

use crate::sources::Source;
use std::collections::BTreeMap;
use std::fmt;

/// A schema file under check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaFile<'a> {
    /// Its folder.
    pub family: &'a str,
    /// Its version.
    pub version: u32,
    /// Its text.
    pub text: &'a str,
}

impl SchemaFile<'_> {
    /// Its path within the schema folder, as in the lock.
    pub fn path(&self) -> String {
        format!("{}/v{}.avsc", self.family, self.version)
    }
}

impl From<&Source> for SchemaFile<'static> {
    fn from(source: &Source) -> Self {
        Self { family: source.family, version: source.version, text: source.text }
    }
}

/// A rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file, within the schema folder.
    pub file: String,
    /// What is wrong with it, and the cure where it is not plain.
    pub what: String,
}

impl Fault {
    pub(crate) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.what)
    }
}

/// The files of each family by rising version.
fn by_family<'f, 'a>(files: &'f [SchemaFile<'a>]) -> BTreeMap<&'a str, Vec<&'f SchemaFile<'a>>> {
    let mut families: BTreeMap<&str, Vec<&SchemaFile<'_>>> = BTreeMap::new();
    for file in files {
        families.entry(file.family).or_default().push(file);
    }
    for versions in families.values_mut() {
        versions.sort_by_key(|file| file.version);
    }
    families
}
