//! Scores of texts by a trained reward model.
//!
//! - [`Scorer`]: token ids to scores
//! - [`OrtScorer`]: the one implementation, by ONNX Runtime on the exported graph; the library is loaded by the first
//!   scorer that is opened, so a process that never scores never loads it
//! - [`TextScorer`]: rendered texts to scores, by the rules of the checkpoint's manifest
//! - [`TraceScores`]: the scores of a trace's beginnings, segment by segment, for a trace of any length
//! - [`plan`]: which texts are computed together
//!
//! Invariants:
//! - the score of a text does not depend on what it is computed with, nor on the order of the texts, to the precision it is
//!   computed in: 1e-5 in fp32;
//! - a score that is returned is finite;
//! - memory is bounded by [`plan::BATCH_CELLS_MAX`], whatever the number of texts.
//!
//! Everything here computes for as long as it takes: call it off the async threads.

mod error;
mod ort;
pub mod plan;
#[cfg(test)]
mod tests;
mod text;
mod trace;

pub use self::error::ScoreError;
pub use self::ort::{OrtOptions, OrtScorer, lacks, library as runtime_library};
pub use self::text::{Scored, TextScorer};
pub use self::trace::TraceScores;
pub use stash_model::manifest::Precision;

/// Scores token sequences with one model.
pub trait Scorer: Send + Sync {
    /// The longest text that the model reads, in tokens.
    fn token_limit(&self) -> usize;

    /// The score of each text, in order. Each has 1 to [`Scorer::token_limit`] tokens.
    ///
    /// # Errors
    /// When a text is empty, too long or has an unknown id, the engine fails, or a score is not finite.
    fn score(&self, texts: &[&[u32]]) -> Result<Vec<f32>, ScoreError>;

    /// The scores of `tokens[..end]` for each of `ends`, each cut to the limit from the left as if it were scored by
    /// itself. All that are not cut come from one pass over the longest of them.
    ///
    /// # Errors
    /// As [`Scorer::score`]; also when an end is 0 or beyond the tokens.
    fn score_prefixes(&self, tokens: &[u32], ends: &[usize]) -> Result<Vec<f32>, ScoreError>;
}
