//! The cut at the token limit, rule `strict`: the left goes, to the token.

use serde::{Deserialize, Serialize};

/// What a cut took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    /// Tokens dropped from the left.
    pub dropped_tokens: usize,
    /// Whether the segment the score is for lost its beginning, not only the context before it.
    pub target_cut: bool,
}

/// The part of a text that a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<'a> {
    /// At most the limit, always ending where the text ends.
    pub ids: &'a [u32],
    /// What was cut, if anything.
    pub truncation: Option<Truncation>,
}

/// The last `limit` of `ids`. `target_start` is the index of the first id of the segment the score is for.
pub fn window(ids: &[u32], target_start: usize, limit: usize) -> Window<'_> {
    let dropped_tokens = ids.len().saturating_sub(limit);
    let truncation =
        (dropped_tokens > 0).then_some(Truncation { dropped_tokens, target_cut: dropped_tokens > target_start });
    Window { ids: &ids[dropped_tokens..], truncation }
}
