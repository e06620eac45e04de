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

/// Whether a model was asked about what nobody has rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It was, and these are the findings that it gave.
    Findings(usize),
    /// It was not; why, and what to do about it.
    Nothing(String),
}

/// The refusal of a training with too few pairs.
///
/// # Errors
/// [`Code::TooFewPairs`], saying what would help.
pub fn require_pairs(pairs: usize, positive: usize, negative: usize, judged: &Judged) -> Result<(), Rejection> {
    if pairs >= PAIRS_MIN {
        return Ok(());
    }
    let learnt = match judged {
        Judged::Findings(count) => format!(
            "A language model assessed their actions; of its {count} findings too few make a pair (the model's detail says why for each): select more traces"
        ),
        Judged::Nothing(why) => format!("Nothing was learnt from what is not rated: {why}"),
    };
    let detail = format!(
        "the selected traces give {pairs} preference pairs, and at least {PAIRS_MIN} are needed: rate more traces, or more of their steps, \
         some with + and some with - (there are {positive} positive and {negative} negative ratings that count; a pair is one of each on \
         two traces, two responses or two tool calls). {learnt}"
    );
    Err(Rejection::new(Code::TooFewPairs, detail))
}
