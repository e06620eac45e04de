//! Variables that look like settings and are none: mostly misspelt ones, which would otherwise silently do nothing.

use super::CONCERNS;
use super::environment::Environment;

/// Names with our prefix that are no settings of the server: set-up scripts, tests and the command line's client read them.
const ELSEWHERE: &[&str] =
    &["STASH_API_KEY", "STASH_CACHE_DIR", "STASH_KAFKA_JAVA_OPTS", "STASH_TRAINER_BIN", "STASH_URL"];

/// Prefix of what only tests read.
const TEST_PREFIX: &str = "STASH_TEST_";

/// Changes to a name up to which a known one counts as meant.
const CHANGES_MAX: usize = 3;

/// One warning per unknown `STASH_*` variable, with the setting that may have been meant.
pub fn unknown_settings(environment: &Environment) -> Vec<String> {
    let known: Vec<&str> =
        CONCERNS.iter().flat_map(|concern| concern.settings).map(|setting| setting.row().name).collect();
    let is_unknown = |name: &&str| {
        name.starts_with("STASH_")
            && !name.starts_with(TEST_PREFIX)
            && !known.contains(name)
            && !ELSEWHERE.contains(name)
    };
    let warn = |name: &str| {
        let nearest = known.iter().map(|known| (changes(name, known), known)).min();
        match nearest.filter(|(count, _)| *count <= CHANGES_MAX) {
            Some((_, meant)) => format!("{name} is not a setting; was {meant} meant?"),
            None => format!("{name} is not a setting; docs/settings.md lists them"),
        }
    };
    environment.names().filter(is_unknown).map(warn).collect()
}

/// Levenshtein distance: characters to insert, remove or replace.
fn changes(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
