//! The exporters' settings, in the environment and in code, taken from `docs/connect.md` as they are written there: what the page
//! says is what is tried.

use super::agent::{Language, root};
use crate::support::Stash;
use serde_json::Value;

/// The address that the page uses.
const ADDRESS: &str = "http://localhost:8080";

/// Where the page takes the key from.
const KEY: &str = "$STASH_API_KEY";

/// The settings for a language, with the address and the key of a running server.
pub(super) fn of(language: Language, stash: &Stash) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join("docs/connect.md")).unwrap();
    let heading = match language {
        Language::Python => "## Python",
        Language::JavaScript => "## JavaScript",
    };
    let connection = std::fs::read_to_string(stash.data().join("connection.json")).unwrap();
    let connection: Value = serde_json::from_str(&connection).unwrap();
    let key = connection["key"].as_str().unwrap();
    let section = section(&page, heading);
    let mut settings: Vec<(String, String)> = section
        .lines()
        .filter_map(|line| line.trim().strip_prefix("export ")?.split_once('='))
        .map(|(name, value)| {
            let value = value.trim_matches(['"', '\'']).replace(ADDRESS, stash.url()).replace(KEY, key);
            (name.to_owned(), value)
        })
        .collect();
    let has = |part: &str| settings.iter().any(|(_, value)| value.contains(part));
    assert!(has(stash.url()) && has(key), "docs/connect.md has no settings with {ADDRESS} and {KEY} below {heading}");
    settings.push(("STASH_API_KEY".to_owned(), key.to_owned()));
    if let Some((_, rest)) = section.split_once("```js\n") {
        let (code, _) = rest.split_once("```").unwrap();
        let exporter: Vec<&str> = code.lines().filter(|line| !line.starts_with("import ")).collect();
        settings.push(("AGENT_EXPORTER".to_owned(), exporter.join("\n").trim().replace(ADDRESS, stash.url())));
    }
    settings
}

/// What stands below a heading, up to the next one of its level.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) =
        page.split_once(&format!("\n{heading}")).unwrap_or_else(|| panic!("docs/connect.md has no {heading}"));
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}
