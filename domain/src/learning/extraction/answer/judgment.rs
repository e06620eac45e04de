//! A model's own judgment of the action.

use super::{Malformed, Opinion, Sure, check_criteria, read};
use crate::learning::extraction::criteria::{Criterion, Sample};
use crate::learning::extraction::finding::Label;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answered {
    Positive,
    Negative,
    Unclear,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Met,
    NotMet,
    CannotTell,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    criterion: Criterion,
    #[serde(rename = "verdict")]
    _verdict: Verdict,
    #[serde(rename = "note")]
    _note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    reason: String,
    criteria: Vec<Entry>,
    label: Answered,
    confidence: Sure,
    alternative: String,
    alternative_supported: bool,
}

/// Reads the answer.
///
/// # Errors
/// [`Malformed`]: not of the schema, or judged by other criteria than the ones asked for.
pub fn read_judgment(answer: &Value, asked: &Sample) -> Result<Opinion, Malformed> {
    let answer: Answer = read(answer)?;
    check_criteria(asked, answer.criteria.iter().map(|entry| entry.criterion))?;
    Ok(Opinion {
        label: match answer.label {
            Answered::Positive => Label::Positive,
            Answered::Negative => Label::Negative,
            Answered::Unclear => Label::Unclear,
        },
        confidence: answer.confidence.into(),
        reason: answer.reason,
        alternative: answer.alternative,
        supported: answer.alternative_supported,
    })
}
