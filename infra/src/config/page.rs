//! The text of `docs/settings.md`.

use super::CONCERNS;
use std::fmt::Write as _;

/// The page, made from the tables of all concerns.
pub fn settings_page() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         All settings are environment variables, read once when a process starts. An empty one counts as not set. A wrong value \
         stops the start with its name and what is allowed; an unknown `STASH_*` variable is warned of.\n\n\
         <!-- Written from the code (infra/src/config): change it there, then run the tests of stash-infra with UPDATE_DOCS=1. -->\n",
    );
    for concern in CONCERNS {
        let _ = write!(page, "\n## {}\n\n{}\n\n", concern.title, concern.doc);
        page.push_str("| setting | default | allowed | what it is for |\n|---|---|---|---|\n");
        for setting in concern.settings {
            let row = setting.row();
            let secret = if row.secret { " Secret: never logged." } else { "" };
            let _ = writeln!(page, "| `{}` | {} | {} | {}{secret} |", row.name, row.default, row.allowed, row.doc);
        }
    }
    page
}
