//! Files that could not be imported as they are, so that they are tried and told of again only when they change.

use crate::intake::Stamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files that are remembered; beyond, all are forgotten, and tried once more.
const FILES_MAX: usize = 10_000;

/// The files, with their looks; none for a place that could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<PathBuf, Option<Stamp>>);

impl Failures {
    /// Whether a file of this look failed.
    pub(super) fn has(&self, path: &Path, stamp: Stamp) -> bool {
        self.0.get(path) == Some(&Some(stamp))
    }

    /// Notes a failure; whether it was not known yet.
    pub(super) fn is_new(&mut self, path: &Path, stamp: Option<Stamp>) -> bool {
        if self.0.len() >= FILES_MAX && !self.0.contains_key(path) {
            self.0.clear();
        }
        self.0.insert(path.to_owned(), stamp) != Some(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_holds_until_the_file_changes() {
        let mut failures = Failures::default();
        let (path, stamp) = (Path::new("a"), Stamp { bytes: 1, modified_ns: 1 });
        assert!(failures.is_new(path, Some(stamp)) && !failures.is_new(path, Some(stamp)));
        assert!(failures.has(path, stamp) && !failures.has(path, Stamp { bytes: 2, ..stamp }));
        assert!(failures.is_new(path, Some(Stamp { bytes: 2, ..stamp })));
    }
}
