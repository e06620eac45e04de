//! From what people said about actions to pairs that a model is trained on.

pub mod evaluation;
pub mod extraction;
pub mod frame;
pub mod pairs;
pub mod ratings;
pub mod split;

use crate::commands::Rejection;
use crate::error::Code;

/// Fewer pairs than this teach nothing that could be told from chance.
pub const PAIRS_MIN: usize = 2;

/// The refusal of a training with too few pairs.
///
/// # Errors
/// [`Code::TooFewPairs`], saying what would help.
pub fn require_pairs(pairs: usize, positive: usize, negative: usize) -> Result<(), Rejection> {
    if pairs >= PAIRS_MIN {
        return Ok(());
    }
    let detail = format!(
        "the selected traces give {pairs} preference pairs, and at least {PAIRS_MIN} are needed: rate more traces, or more of their steps, \
         some with + and some with - (there are {positive} positive and {negative} negative ratings that count; a pair is one of each on \
         two traces, two responses or two tool calls)"
    );
    Err(Rejection::new(Code::TooFewPairs, detail))
}
