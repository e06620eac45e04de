//! The review of an action against its alternative, by a call that knows neither which is which nor what came later.

use super::{Malformed, check_criteria, read};
use crate::ids::Digest;
use crate::learning::extraction::criteria::{Criterion, Sample};
use crate::learning::extraction::finding::{Exclusion, Preferred};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Better {
    A,
    B,
    Tie,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    a: bool,
    b: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    criterion: Criterion,
    #[serde(rename = "better")]
    _better: Better,
    #[serde(rename = "note")]
    _note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    reason: String,
    supported: Each,
    safe: Each,
    criteria: Vec<Entry>,
    preferred: Better,
}

/// Which candidate stands first. It follows from the texts and the seed, so that neither place is favoured over many pairs, and a
/// repeated call is the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whether the original is `a`.
    pub original_first: bool,
}

impl Order {
    /// The order of a comparison.
    pub fn of(original: Digest, alternative: Digest, seed: i64) -> Self {
        let drawn = Digest::of(&[&original.0[..], &alternative.0[..], &seed.to_be_bytes()[..]].concat());
        Self { original_first: drawn.0.first().is_some_and(|byte| byte & 1 == 0) }
    }
}

/// What a review came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// Why, in its words.
    pub reason: String,
    /// What it excludes the pair for; none if it confirms the preference.
    pub exclusion: Option<Exclusion>,
}

/// Reads the answer, and holds it against the preference that is reviewed.
///
/// # Errors
/// [`Malformed`]: not of the schema, or compared by other criteria than the ones asked for.
pub fn read_review(answer: &Value, asked: &Sample, order: Order, expected: Preferred) -> Result<Reviewed, Malformed> {
    let answer: Answer = read(answer)?;
    check_criteria(asked, answer.criteria.iter().map(|entry| entry.criterion))?;
    let sides = |each: &Each| if order.original_first { (each.a, each.b) } else { (each.b, each.a) };
    let (_, supported) = sides(&answer.supported);
    let (original_safe, alternative_safe) = sides(&answer.safe);
    let chosen_safe = match expected {
        Preferred::Original => original_safe,
        Preferred::Revision => alternative_safe,
    };
    let preferred = match answer.preferred {
        Better::Tie => None,
        better if (better == Better::A) == order.original_first => Some(Preferred::Original),
        _ => Some(Preferred::Revision),
    };
    let exclusion = if !supported {
        Some(Exclusion::Unsupported)
    } else if !chosen_safe || !alternative_safe {
        Some(Exclusion::Unsafe)
    } else {
        match preferred {
            None => Some(Exclusion::Tie),
            Some(preferred) if preferred != expected => Some(Exclusion::Reversed),
            Some(_) => None,
        }
    };
    Ok(Reviewed { reason: answer.reason, exclusion })
}
