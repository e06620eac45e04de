//! Files that have changed and are not imported yet.
//!
//! A file is due when it was quiet for a while, or when it has been changing for so long that waiting on would keep its reader
//! waiting. No clock is asked here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files that wait; beyond, the folder is looked through again later. At about 150 bytes each, 1.5 MB.
const FILES_MAX: usize = 10_000;

/// How long a file may go on changing before it is imported all the same.
const CHANGING_MAX: Duration = Duration::from_secs(15);

/// When a file changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    first: Instant,
    last: Instant,
}

/// The files.
#[derive(Debug)]
pub(super) struct Pending {
    quiet: Duration,
    files: HashMap<PathBuf, Change>,
    lost: bool,
}

impl Pending {
    /// None yet; a file is due after this much quiet.
    pub(super) fn new(quiet: Duration) -> Self {
        Self { quiet, files: HashMap::new(), lost: false }
    }

    /// A file has changed.
    pub(super) fn changed(&mut self, path: PathBuf, now: Instant) {
        if let Some(change) = self.files.get_mut(&path) {
            change.last = now;
        } else {
            self.found(&path, now);
        }
    }

    /// A file was found that may have changed; one that waits already waits no longer for it.
    pub(super) fn found(&mut self, path: &Path, now: Instant) {
        if self.files.contains_key(path) {
            return;
        }
        if self.files.len() < FILES_MAX {
            self.files.insert(path.to_owned(), Change { first: now, last: now });
        } else {
            self.lost = true;
        }
    }

    /// Whether there were too many files to remember since this was asked last.
    pub(super) fn take_lost(&mut self) -> bool {
        std::mem::take(&mut self.lost)
    }

    /// Takes out a file that is due, the one first that has waited longest.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<PathBuf> {
        let path = self.first().filter(|(_, due)| *due <= now)?.0.clone();
        self.files.remove(&path);
        Some(path)
    }

    /// When the next file is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.first().map(|(_, due)| due)
    }

    fn first(&self) -> Option<(&PathBuf, Instant)> {
        let due = |change: &Change| (change.last + self.quiet).min(change.first + CHANGING_MAX.max(self.quiet));
        self.files.iter().map(|(path, change)| (path, due(change))).min_by_key(|(_, due)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_secs(1);

    #[test]
    fn a_file_is_due_when_it_was_quiet() {
        let (mut pending, begin) = (Pending::new(QUIET), Instant::now());
        pending.changed("a".into(), begin);
        pending.changed("a".into(), begin + QUIET / 2);
        assert_eq!(pending.next_due(), Some(begin + QUIET * 3 / 2));
        assert_eq!(pending.take_due(begin + QUIET), None);
        assert_eq!(pending.take_due(begin + QUIET * 3 / 2), Some("a".into()));
        assert_eq!(pending.next_due(), None);
    }

    #[test]
    fn one_that_never_rests_is_due_all_the_same() {
        let (mut pending, begin) = (Pending::new(QUIET), Instant::now());
        for step in 0..1000 {
            let now = begin + QUIET / 10 * step;
            pending.changed("a".into(), now);
            if pending.take_due(now).is_some() {
                assert_eq!(now, begin + CHANGING_MAX);
                return;
            }
        }
        panic!("it was never due");
    }

    #[test]
    fn one_that_is_found_again_waits_no_longer_and_too_many_are_told() {
        let (mut pending, begin) = (Pending::new(QUIET), Instant::now());
        for number in 0..FILES_MAX {
            pending.found(Path::new(&number.to_string()), begin);
        }
        pending.found(Path::new("0"), begin + QUIET);
        assert!(!pending.take_lost());
        pending.found(Path::new("more"), begin);
        assert!(pending.take_lost() && !pending.take_lost());
        assert_eq!(pending.next_due(), Some(begin + QUIET));
    }
}
