//! Redaction: secrets, and what else an operator names, are taken out of imported text before anything is stored.
//!
//! 1. [`Redactor`] is made once, from [`Kind`]s and an operator's own patterns.
//! 2. [`RedactingSink`] stands between a format's reader and whoever stores the traces. It goes over every text of a trace that a
//!    person or an agent wrote: title, content, inputs of tools, metadata, spans, comments. Ids and names of tools stay.
//! 3. What is found becomes `[redacted:<name>]`, which nothing finds again, and is counted by name.
//!
//! Patterns run in time linear in the text, whatever the text: they are those of the `regex` crate, without backtracking.

mod kinds;
mod sink;
mod spans;

pub use kinds::Kind;
pub use sink::RedactingSink;

use crate::json::{Object, Value};
use crate::limits::{REDACTION_PATTERN_CHARS_MAX, REDACTION_PATTERNS_MAX};
use kinds::{BEGINNINGS, EMAIL, Secret};
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

/// Bytes that a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Name of what an operator's own pattern finds.
const PATTERN: &str = "pattern";

/// Name of an address.
const EMAIL_NAME: &str = "email";

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// It is no regular expression, or one that takes too much room.
    #[error("the pattern {pattern:?} cannot be used: {reason}")]
    Unusable {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There are too many, or one is too long.
    #[error("at most {REDACTION_PATTERNS_MAX} patterns of at most {REDACTION_PATTERN_CHARS_MAX} characters")]
    TooMuch,
}

/// How often something of each name was replaced.
pub type Counts = BTreeMap<&'static str, u64>;

/// What to look for. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// All secrets at once, to pass over text that has none at the speed of a search for their beginnings.
    any: Option<Regex>,
    /// Each of them, to name what was found.
    secrets: Vec<(Secret, Regex)>,
    /// How they begin.
    beginnings: Option<Regex>,
    emails: Option<Regex>,
    patterns: Vec<Regex>,
}

impl Redactor {
    /// Looks for these kinds, and for what the patterns match.
    ///
    /// # Errors
    /// [`BadPattern`], for one of the patterns.
    pub fn new(kinds: &[Kind], patterns: &[String]) -> Result<Self, BadPattern> {
        let too_long = |pattern: &String| pattern.chars().count() > REDACTION_PATTERN_CHARS_MAX;
        if patterns.len() > REDACTION_PATTERNS_MAX || patterns.iter().any(too_long) {
            return Err(BadPattern::TooMuch);
        }
        let mut secrets = Vec::new();
        for secret in kinds::SECRETS.iter().filter(|secret| kinds.contains(&secret.kind)) {
            secrets.push((*secret, compile(secret.pattern)?));
        }
        let all: Vec<&str> = secrets.iter().map(|(secret, _)| secret.pattern).collect();
        let any = if all.is_empty() { None } else { Some(compile(&format!("(?:{})", all.join(")|(?:")))?) };
        let beginnings = if all.is_empty() { None } else { Some(compile(BEGINNINGS)?) };
        let emails = if kinds.contains(&Kind::Emails) { Some(compile(EMAIL)?) } else { None };
        let patterns = patterns.iter().map(|pattern| compile(pattern)).collect::<Result<_, _>>()?;
        Ok(Self { any, secrets, beginnings, emails, patterns })
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.any.is_none() && self.emails.is_none() && self.patterns.is_empty()
    }

    /// Whether anything can be found in what a text of JSON says, told without reading it.
    fn may_find_in_json(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        !self.patterns.is_empty()
            || memchr::memmem::find(bytes, b"\\u").is_some()
            || self.beginnings.as_ref().is_some_and(|beginnings| beginnings.is_match(text))
            || self.emails.is_some() && memchr::memchr(b'@', bytes).is_some()
    }

    /// Replaces what is found in a text, and counts it.
    pub fn text(&self, text: &mut String, counts: &mut Counts) {
        if let Some(any) = &self.any {
            replace(text, any, counts, |found| self.name(found));
        }
        if let Some(emails) = &self.emails
            && memchr::memchr(b'@', text.as_bytes()).is_some()
        {
            replace(text, emails, counts, |_| Some(EMAIL_NAME));
        }
        for pattern in &self.patterns {
            replace(text, pattern, counts, |found| (!found.is_empty()).then_some(PATTERN));
        }
    }

    /// Replaces what is found in the texts of an object; its keys stay.
    pub fn object(&self, object: &mut Object, counts: &mut Counts) {
        for value in object.values_mut() {
            self.value(value, counts);
        }
    }

    /// Replaces what is found in a value. As deep as the reader of the JSON went, which bounds its depth.
    pub fn value(&self, value: &mut Value, counts: &mut Counts) {
        match value {
            Value::Text(text) => self.text(text, counts),
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item, counts)),
            Value::Object(object) => self.object(object, counts),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The name of a secret that was found; none if it only looks like one.
    fn name(&self, found: &str) -> Option<&'static str> {
        let is = |pattern: &Regex| pattern.find(found).is_some_and(|part| part.range() == (0..found.len()));
        let secret = self.secrets.iter().find(|(_, pattern)| is(pattern)).map(|(secret, _)| secret)?;
        let digits = found.bytes().any(|byte| byte.is_ascii_digit());
        (digits || !secret.needs_digit).then_some(secret.name)
    }
}

fn compile(pattern: &str) -> Result<Regex, BadPattern> {
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| BadPattern::Unusable { pattern: pattern.to_owned(), reason: error.to_string() })
}

/// Replaces each match that has a name.
fn replace(text: &mut String, pattern: &Regex, counts: &mut Counts, name: impl Fn(&str) -> Option<&'static str>) {
    let mut replaced = String::new();
    let mut copied = 0;
    for found in pattern.find_iter(text) {
        let Some(name) = name(found.as_str()) else { continue };
        replaced.push_str(text.get(copied..found.start()).unwrap_or_default());
        replaced.push_str("[redacted:");
        replaced.push_str(name);
        replaced.push(']');
        copied = found.end();
        *counts.entry(name).or_default() += 1;
    }
    if copied > 0 {
        replaced.push_str(text.get(copied..).unwrap_or_default());
        *text = replaced;
    }
}

#[cfg(test)]
mod tests;
