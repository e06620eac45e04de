//! Scoring by ONNX Runtime, on the CPU, in fp32.

mod runtime;
#[cfg(test)]
mod tests;

pub use self::runtime::library;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::TensorRef;
use stash_model::ModelError;
use stash_model::config::ModelConfig;
use stash_model::manifest::Manifest;
use stash_model::onnx;

use super::{ScoreError, Scorer, plan};

/// The graph's output for whole texts.
const SCORE: &str = "score";
/// The graph's output for every token.
const SCORES: &str = "scores";

/// How a scorer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrtOptions {
    /// Threads of one computation; `None` for as many as there are cores.
    pub threads: Option<usize>,
}

/// A checkpoint opened by ONNX Runtime.
#[derive(Debug)]
pub struct OrtScorer {
    /// A session computes one batch at a time; with all cores in use, two at once would not be quicker.
    session: Mutex<Session>,
    token_limit: usize,
    vocab_size: usize,
}

impl OrtScorer {
    /// Opens the exported graph of a checkpoint (`stash_model::onnx::export` makes it).
    ///
    /// # Errors
    /// When the library or the graph does not load, or the checkpoint's manifest or config cannot be used.
    pub fn open(checkpoint: &Path) -> Result<Self, ScoreError> {
        Self::open_with(checkpoint, OrtOptions::default())
    }

    /// As [`OrtScorer::open`], with options.
    ///
    /// # Errors
    /// As [`OrtScorer::open`].
    pub fn open_with(checkpoint: &Path, options: OrtOptions) -> Result<Self, ScoreError> {
        let token_limit = Manifest::read(checkpoint)?.token_limit;
        let vocab_size = ModelConfig::read(checkpoint)?.vocab_size;
        let graph = checkpoint.join(onnx::FILE);
        if !graph.exists() {
            return Err(ModelError::weights(&graph, "the checkpoint has not been exported").into());
        }
        let mut builder = Session::builder(runtime::environment()?)?
            .with_optimization_level(GraphOptimizationLevel::All)?
            // Lengths differ from batch to batch, so a remembered layout of memory would not fit the next.
            .with_memory_pattern(false)?
            // Idle threads sleep: training, Postgres and the API share the machine.
            .with_intra_op_spinning(false)?;
        if let Some(threads) = options.threads {
            builder = builder.with_intra_threads(threads)?;
        }
        let session = Mutex::new(builder.commit_from_file(&graph)?);
        Ok(Self { session, token_limit, vocab_size })
    }

    fn check(&self, index: usize, text: &[u32]) -> Result<(), ScoreError> {
        let refuse = |detail: String| Err(ScoreError::Text { index, detail });
        if text.is_empty() || text.len() > self.token_limit {
            return refuse(format!("{} tokens, where 1 to {} can be scored", text.len(), self.token_limit));
        }
        match text.iter().find(|id| **id as usize >= self.vocab_size) {
            Some(id) => refuse(format!("token id {id} is outside the vocabulary of {}", self.vocab_size)),
            None => Ok(()),
        }
    }

    /// Runs the graph on texts padded on the right and returns one of its outputs, flat.
    fn run(&self, texts: &[&[u32]], output: &str) -> Result<Vec<f32>, ScoreError> {
        let width = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let (mut ids, mut mask) = (vec![0_i64; texts.len() * width], vec![0_i64; texts.len() * width]);
        for (row, text) in texts.iter().enumerate() {
            for (column, id) in text.iter().enumerate() {
                ids[row * width + column] = i64::from(*id);
                mask[row * width + column] = 1;
            }
        }
        let shape = [texts.len(), width];
        let inputs = ort::inputs! {
            "input_ids" => TensorRef::from_array_view((shape, ids.as_slice()))?,
            "attention_mask" => TensorRef::from_array_view((shape, mask.as_slice()))?,
        };
        // A panic of an earlier run leaves nothing half done in a session.
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs)?;
        let value =
            outputs.get(output).ok_or_else(|| ScoreError::Engine(format!("the graph has no output {output}")))?;
        Ok(value.try_extract_tensor::<f32>()?.1.to_vec())
    }
}

impl Scorer for OrtScorer {
    fn token_limit(&self) -> usize {
        self.token_limit
    }

    fn score(&self, texts: &[&[u32]]) -> Result<Vec<f32>, ScoreError> {
        for (index, text) in texts.iter().enumerate() {
            self.check(index, text)?;
        }
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let mut scores = vec![f32::NAN; texts.len()];
        for batch in plan::batches(&lengths) {
            let members: Vec<&[u32]> = batch.iter().map(|index| texts[*index]).collect();
            for (index, score) in batch.iter().zip(self.run(&members, SCORE)?) {
                scores[*index] = score;
            }
        }
        finite(scores)
    }

    fn score_prefixes(&self, tokens: &[u32], ends: &[usize]) -> Result<Vec<f32>, ScoreError> {
        for (index, end) in ends.iter().enumerate() {
            if *end == 0 || *end > tokens.len() {
                let detail = format!("an end at {end} of {} tokens", tokens.len());
                return Err(ScoreError::Text { index, detail });
            }
        }
        let (whole, cut): (Vec<usize>, Vec<usize>) =
            (0..ends.len()).partition(|index| ends[*index] <= self.token_limit);
        let mut scores = vec![f32::NAN; ends.len()];
        if let Some(longest) = whole.iter().map(|index| ends[*index]).max() {
            self.check(0, &tokens[..longest])?;
            let every = self.run(&[&tokens[..longest]], SCORES)?;
            for index in whole {
                scores[index] = every.get(ends[index] - 1).copied().unwrap_or(f32::NAN);
            }
        }
        // A cut text begins elsewhere than the others, so all its hidden states differ: each has a pass of its own.
        let windows: Vec<&[u32]> =
            cut.iter().map(|index| &tokens[ends[*index] - self.token_limit..ends[*index]]).collect();
        for (index, score) in cut.iter().zip(self.score(&windows)?) {
            scores[*index] = score;
        }
        finite(scores)
    }
}

fn finite(scores: Vec<f32>) -> Result<Vec<f32>, ScoreError> {
    match scores.iter().position(|score| !score.is_finite()) {
        Some(index) => Err(ScoreError::NotFinite { index }),
        None => Ok(scores),
    }
}
