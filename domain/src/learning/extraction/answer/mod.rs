//! What a judge answered: read strictly, and checked against what it was asked.
//!
//! A schema-constrained answer can still be wrong in what a schema cannot say. Every fault is a [`Malformed`] whose words may be
//! sent back for the one repair round; what is still malformed then fails the job.

pub mod feedback;
pub mod judgment;
pub mod review;

use super::criteria::{Criterion, Sample};
use super::finding::{Confidence, Label};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An answer that breaks the rules, in words for the judge. They hold nothing of the trace but names that code gave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Malformed {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// How sure, as answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sure {
    High,
    Low,
}

impl From<Sure> for Confidence {
    fn from(sure: Sure) -> Self {
        match sure {
            Sure::High => Self::High,
            Sure::Low => Self::Low,
        }
    }
}

fn read<T: DeserializeOwned>(answer: &Value) -> Result<T, Malformed> {
    if !answer.is_object() {
        return Err(Malformed::new("the answer must be one JSON object"));
    }
    // The cause may repeat a value of the answer, which may repeat the trace: only its kind is told.
    T::deserialize(answer)
        .map_err(|error| Malformed::new(format!("the answer is not as the schema says: {}", kind(&error))))
}

/// The beginning of a message of serde_json, without values.
fn kind(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let known =
        ["missing field", "unknown field", "unknown variant", "invalid type", "duplicate field", "invalid value"];
    let found = known.into_iter().find(|known| text.starts_with(known)).unwrap_or("it cannot be read");
    match (found, text.split('`').nth(1)) {
        ("missing field", Some(field)) => format!("missing field {field}"),
        _ => found.to_owned(),
    }
}

/// Whether the criteria answered are exactly those asked for, in any order.
fn check_criteria(asked: &Sample, answered: impl IntoIterator<Item = Criterion>) -> Result<(), Malformed> {
    let mut answered: Vec<Criterion> = answered.into_iter().collect();
    answered.sort_unstable();
    if answered == asked.criteria() {
        return Ok(());
    }
    let ids: Vec<&str> = asked.criteria().iter().map(|criterion| criterion.id()).collect();
    Err(Malformed::new(format!("criteria must have exactly one entry for each of: {}", ids.join(", "))))
}

/// A judge's opinion of an action, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// What it thinks.
    pub label: Label,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why, in its words.
    pub reason: String,
    /// The alternative it offers; may be blank.
    pub alternative: String,
    /// Whether it says that the alternative is backed by the context.
    pub supported: bool,
}
