//! Rendered texts to scores, by the rules a checkpoint was trained by.

use std::path::Path;

use stash_model::ModelError;
use stash_model::manifest::Manifest;
use stash_model::tokenize::{Segmented, TextTokenizer, Truncation};

use super::{OrtOptions, OrtScorer, ScoreError, Scorer};

/// A text's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The reward; comparable with those of the same model only.
    pub score: f32,
    /// What was cut away before the model read the text, if anything.
    pub truncation: Option<Truncation>,
}

/// A model with its tokenizer.
#[derive(Debug)]
pub struct TextScorer<S = OrtScorer> {
    tokenizer: TextTokenizer,
    scorer: S,
}

impl TextScorer {
    /// Opens a checkpoint with ONNX Runtime.
    ///
    /// # Errors
    /// As [`OrtScorer::open`]; also when the tokenizer is not the one the manifest describes.
    pub fn open(checkpoint: &Path, options: OrtOptions) -> Result<Self, ScoreError> {
        let tokenizer = TextTokenizer::open(checkpoint)?;
        let form = Manifest::read(checkpoint)?.form;
        if tokenizer.form() != form {
            let found = tokenizer.form();
            return Err(
                ModelError::Manifest(format!("trained on the form {form:?}, the tokenizer has {found:?}")).into()
            );
        }
        Ok(Self { tokenizer, scorer: OrtScorer::open_with(checkpoint, options)? })
    }
}

impl<S: Scorer> TextScorer<S> {
    /// A scorer of texts from its parts.
    pub fn new(tokenizer: TextTokenizer, scorer: S) -> Self {
        Self { tokenizer, scorer }
    }

    /// The score of each text, in order.
    ///
    /// # Errors
    /// When a text's cuts do not describe it, or as [`Scorer::score`].
    pub fn score_texts(&self, texts: &[Segmented<'_>]) -> Result<Vec<Scored>, ScoreError> {
        let limit = self.scorer.token_limit();
        let mut windows = Vec::with_capacity(texts.len());
        for text in texts {
            let encoded = self.tokenizer.encode(text)?;
            let window = encoded.window(limit);
            windows.push((window.ids.to_vec(), window.truncation));
        }
        let ids: Vec<&[u32]> = windows.iter().map(|(ids, _)| ids.as_slice()).collect();
        let scores = self.scorer.score(&ids)?;
        let scored = scores.into_iter().zip(&windows);
        Ok(scored.map(|(score, (_, truncation))| Scored { score, truncation: *truncation }).collect())
    }

    /// The base's tokenizer.
    pub(super) fn tokenizer(&self) -> &TextTokenizer {
        &self.tokenizer
    }

    /// What scores tokens.
    pub fn scorer(&self) -> &S {
        &self.scorer
    }
}
