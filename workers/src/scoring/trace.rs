//! The scores of a trace's beginnings, for a trace of any length.
//!
//! 1. Segments come one after another and are tokenised by themselves, so the tokens of each beginning are a prefix of those of
//!    the next.
//! 2. As long as nothing is cut, only the ends of the wanted beginnings are noted: one pass over the longest gives all their
//!    scores.
//! 3. Beyond the limit each beginning is cut at a place of its own, so all its hidden states differ. Its window is copied, and
//!    windows, all of the limit's length, are scored a batch at a time.
//! 4. What no later window can reach is forgotten.
//!
//! Held at any time: the last [`Scorer::token_limit`] tokens, the tokens of the segment at hand, and the windows of one batch.

use std::sync::Arc;

use stash_model::tokenize::{Piece, Segmented, Truncation};

use super::{OrtScorer, ScoreError, Scored, Scorer, TextScorer, plan};

/// A trace being scored.
#[derive(Debug)]
pub struct TraceScores<S = OrtScorer> {
    scorer: Arc<TextScorer<S>>,
    /// The latest tokens.
    tail: Vec<u32>,
    /// How many came before them.
    dropped: usize,
    /// Where the latest segment begins and ends among all tokens, and whether its score is wanted.
    latest: Option<Beginning>,
    /// Index of the score and end of each wanted beginning of the pass that is not run yet.
    ends: Vec<(usize, usize)>,
    /// Index of the score and tokens of each window that is not run yet.
    windows: Vec<(usize, Vec<u32>)>,
    /// One for each wanted beginning; not a number until it is computed.
    scores: Vec<Scored>,
}

/// A beginning of a trace, by the segment that ends it.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    start: usize,
    end: usize,
    wanted: Option<usize>,
}

impl<S: Scorer> TraceScores<S> {
    /// Begins a trace.
    pub fn new(scorer: Arc<TextScorer<S>>) -> Self {
        let tail: Vec<u32> = scorer.tokenizer().leading().into_iter().collect();
        Self { scorer, tail, dropped: 0, latest: None, ends: vec![], windows: vec![], scores: vec![] }
    }

    /// Takes the next segment, and scores the beginning that it ends if it is `wanted`.
    ///
    /// # Errors
    /// When the text is no segment of the tokenizer's form, or as [`Scorer::score`].
    pub fn push(&mut self, segment: &str, wanted: bool) -> Result<(), ScoreError> {
        if self.latest.is_some() {
            self.scorer.tokenizer().encode_piece(Piece::Newline, &mut self.tail)?;
        }
        let start = if self.latest.is_some() { self.total() } else { 0 };
        let cuts = [u32::try_from(segment.len()).unwrap_or(u32::MAX)];
        for piece in (Segmented { text: segment, cuts: &cuts }).pieces(self.scorer.tokenizer().form()) {
            self.scorer.tokenizer().encode_piece(piece?, &mut self.tail)?;
        }
        let mut beginning = Beginning { start, end: self.total(), wanted: None };
        if wanted {
            beginning.wanted = Some(self.want(beginning)?);
        }
        self.latest = Some(beginning);
        self.forget()
    }

    /// The scores of the wanted beginnings in order, and that of the whole trace; none for a trace without segments.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn finish(mut self) -> Result<Option<(Vec<Scored>, Scored)>, ScoreError> {
        let Some(latest) = self.latest else { return Ok(None) };
        let whole = match latest.wanted {
            Some(index) => index,
            None => self.want(latest)?,
        };
        self.run_ends()?;
        self.run_windows()?;
        let mut scores = self.scores;
        let score = if latest.wanted.is_some() { scores.get(whole).copied() } else { scores.pop() };
        Ok(score.map(|score| (scores, score)))
    }

    /// Tokens held now.
    pub fn resident_tokens(&self) -> usize {
        self.tail.len() + self.windows.iter().map(|(_, window)| window.len()).sum::<usize>()
    }

    fn total(&self) -> usize {
        self.dropped + self.tail.len()
    }

    fn limit(&self) -> usize {
        self.scorer.scorer().token_limit()
    }

    /// Notes that the beginning at hand is to be scored, and returns the index of its score.
    fn want(&mut self, Beginning { start, end, .. }: Beginning) -> Result<usize, ScoreError> {
        let (index, limit) = (self.scores.len(), self.limit());
        let dropped_tokens = end.saturating_sub(limit);
        let truncation =
            (dropped_tokens > 0).then_some(Truncation { dropped_tokens, target_cut: dropped_tokens > start });
        self.scores.push(Scored { score: f32::NAN, truncation });
        if end <= limit {
            self.ends.push((index, end));
            return Ok(index);
        }
        let window = self.tail.get(self.tail.len().saturating_sub(limit)..).unwrap_or_default();
        self.windows.push((index, window.to_vec()));
        if (self.windows.len() + 1) * limit > plan::BATCH_CELLS_MAX || self.windows.len() == plan::BATCH_TEXTS_MAX {
            self.run_windows()?;
        }
        Ok(index)
    }

    /// Drops the tokens that no later window can reach.
    fn forget(&mut self) -> Result<(), ScoreError> {
        let beyond = self.tail.len().saturating_sub(self.limit());
        if beyond > 0 {
            // The pass reads the tokens from the first.
            self.run_ends()?;
            self.tail.drain(..beyond);
            self.dropped += beyond;
        }
        Ok(())
    }

    fn run_ends(&mut self) -> Result<(), ScoreError> {
        let ends: Vec<usize> = self.ends.iter().map(|(_, end)| *end).collect();
        let Some(longest) = ends.last() else { return Ok(()) };
        let tokens = self.tail.get(..*longest).unwrap_or_default();
        let scores = self.scorer.scorer().score_prefixes(tokens, &ends)?;
        let indices: Vec<usize> = self.ends.drain(..).map(|(index, _)| index).collect();
        self.place(&indices, scores);
        Ok(())
    }

    fn run_windows(&mut self) -> Result<(), ScoreError> {
        let windows: Vec<&[u32]> = self.windows.iter().map(|(_, window)| window.as_slice()).collect();
        let scores = self.scorer.scorer().score(&windows)?;
        let indices: Vec<usize> = self.windows.drain(..).map(|(index, _)| index).collect();
        self.place(&indices, scores);
        Ok(())
    }

    fn place(&mut self, indices: &[usize], scores: Vec<f32>) {
        for (index, score) in indices.iter().zip(scores) {
            if let Some(scored) = self.scores.get_mut(*index) {
                scored.score = score;
            }
        }
    }
}
