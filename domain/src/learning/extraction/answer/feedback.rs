//! The answer to whether a person reacted to the action.

use super::{Malformed, Opinion, Sure, read};
use crate::learning::extraction::evidence::{Evidence, EvidenceId, text_of, verbatim};
use crate::learning::extraction::finding::{Label, QUOTE_CHARS_MAX};
use crate::learning::extraction::material::Material;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answered {
    Positive,
    Negative,
    Unclear,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    reason: String,
    label: Answered,
    confidence: Sure,
    evidence_id: String,
    evidence_quote: String,
    alternative: String,
    alternative_supported: bool,
}

/// A person's feedback as a judge found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// What it says.
    pub opinion: Opinion,
    /// Where the person said it.
    pub evidence: EvidenceId,
    /// The person's own words, as they stand there.
    pub quote: String,
}

/// Reads the answer: the feedback, or none on this action.
///
/// # Errors
/// [`Malformed`]: not of the schema; or what it cites was not offered, or does not say what it is made to say.
pub fn read_feedback(answer: &Value, material: &Material, offered: &[Evidence]) -> Result<Option<Feedback>, Malformed> {
    let answer: Answer = read(answer)?;
    let label = match answer.label {
        Answered::None => return Ok(None),
        Answered::Positive => Label::Positive,
        Answered::Negative => Label::Negative,
        Answered::Unclear => Label::Unclear,
    };
    let names = || offered.iter().map(|evidence| evidence.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(cited) = offered.iter().find(|evidence| evidence.name == answer.evidence_id.trim()) else {
        return Err(Malformed::new(format!("evidence_id must be one of: {}", names())));
    };
    let Some(quote) = verbatim(text_of(material, cited), &answer.evidence_quote) else {
        let elsewhere = offered
            .iter()
            .find(|other| other.id != cited.id && verbatim(text_of(material, other), &answer.evidence_quote).is_some());
        return Err(Malformed::new(match elsewhere {
            Some(other) => format!("evidence_quote stands in {}, not in {}", other.name, cited.name),
            None => format!("evidence_quote must be an excerpt of {}, copied character by character", cited.name),
        }));
    };
    if quote.chars().count() > QUOTE_CHARS_MAX {
        return Err(Malformed::new(format!("evidence_quote must have at most {QUOTE_CHARS_MAX} characters")));
    }
    Ok(Some(Feedback {
        opinion: Opinion {
            label,
            confidence: answer.confidence.into(),
            reason: answer.reason,
            alternative: answer.alternative,
            supported: answer.alternative_supported,
        },
        evidence: cited.id,
        quote: quote.to_owned(),
    }))
}
