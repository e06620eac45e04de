//! What is taken out of imported text before it is stored.

use super::environment::{Environment, SettingError};
use super::kinds::{Setting, Text};
use stash_domain::redaction::{Kind, Redactor};

const REDACT: Text = Text {
    name: "STASH_REDACT",
    default: "`api_keys,private_keys,jwts`",
    allowed: "`none`, or some of `api_keys`, `private_keys`, `jwts` and `emails`, with commas in between",
    secret: false,
    is_valid: |text| kinds(text).is_some(),
    doc: "What is taken out of the text of imported traces before it is stored, whoever imports; see \
          [redaction](redaction.md). What was imported before stays as it is.",
};

const PATTERNS: Text = Text {
    name: "STASH_REDACT_PATTERNS",
    default: "none",
    allowed: "regular expressions, each on a line of its own: at most 32 of at most 1,000 characters",
    secret: false,
    is_valid: |text| Redactor::new(&[], &lines(text)).is_ok(),
    doc: "What else is taken out: whatever these match, in the syntax of the Rust crate `regex`.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&REDACT, &PATTERNS];

/// What to take out.
#[derive(Clone, Debug)]
pub struct RedactionSettings {
    /// Finds it.
    pub redactor: Redactor,
}

impl RedactionSettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        let kinds = REDACT.read(environment)?.as_deref().and_then(kinds).unwrap_or_else(|| Kind::DEFAULT.to_vec());
        let patterns = PATTERNS.read(environment)?.as_deref().map(lines).unwrap_or_default();
        let redactor = Redactor::new(&kinds, &patterns).map_err(|error| SettingError {
            name: PATTERNS.name,
            value: error.to_string(),
            allowed: PATTERNS.row().allowed,
        })?;
        Ok(Self { redactor })
    }
}

/// The kinds of a list; none if it is no such list.
fn kinds(text: &str) -> Option<Vec<Kind>> {
    if text == "none" {
        return Some(Vec::new());
    }
    let kind = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name.trim());
    text.split(',').map(kind).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_by_a_list() {
        assert_eq!(kinds("none"), Some(Vec::new()));
        assert_eq!(kinds("jwts, emails"), Some(vec![Kind::Jwts, Kind::Emails]));
        assert_eq!(kinds("jwts,none"), None);
        assert_eq!(kinds(""), None);
        assert_eq!(lines("a b\n\n c\n"), ["a b", "c"]);
    }
}
