//! Scoring by ONNX Runtime on the processor: in fp32 and int8 by its own kernels, in bf16 by its OpenVINO plugin.

mod precision;
mod runtime;
#[cfg(test)]
mod tests;

pub use self::precision::lacks;
pub use self::runtime::library;

use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::TensorRef;
use stash_model::ModelError;
use stash_model::config::ModelConfig;
use stash_model::manifest::{Manifest, Precision};
use stash_model::onnx::{self, Attention};

use super::{ScoreError, Scorer, plan};

/// The graph's output.
const SCORES: &str = "scores";

/// In bf16 rows have a multiple of so many tokens, where that is at most a sixteenth more: matrix units take rows in such lots.
/// 1,024 tokens of Qwen3-0.6B took OpenVINO 2 to 10 % less time than 1,000, in turns in one session, and 960 some 7 % less than 900.
const LOT: usize = 64;

/// How a scorer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrtOptions {
    /// Threads of one computation; `None` for as many as there are cores.
    pub threads: Option<usize>,
    /// The arithmetic; `None` for that of the model's statistics, else the fastest, as far as this machine has it.
    pub precision: Option<Precision>,
}

/// A checkpoint opened by ONNX Runtime.
#[derive(Debug)]
pub struct OrtScorer {
    /// A session computes one batch at a time; with all cores in use, two at once would not be quicker.
    session: Mutex<Session>,
    precision: Precision,
    token_limit: usize,
    vocab_size: usize,
}

impl OrtScorer {
    /// Opens a checkpoint.
    ///
    /// # Errors
    /// When the library or the model does not load, or the checkpoint's manifest or config cannot be used.
    pub fn open(checkpoint: &Path) -> Result<Self, ScoreError> {
        Self::open_with(checkpoint, OrtOptions::default())
    }

    /// As [`OrtScorer::open`], with options.
    ///
    /// # Errors
    /// As [`OrtScorer::open`]; also when the arithmetic asked for cannot be had.
    pub fn open_with(checkpoint: &Path, options: OrtOptions) -> Result<Self, ScoreError> {
        let manifest = Manifest::read(checkpoint)?;
        let config = ModelConfig::read(checkpoint)?;
        let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let mut precision = precision::choose(options.precision, manifest.precision, threads)?;
        let session = match session(checkpoint, &config, precision, threads) {
            // A plugin that is there and does not work is told of, but a model can still be scored.
            Err(error) if precision == Precision::Bf16 && options.precision.is_none() => {
                tracing::warn!(%error, "scoring in bf16 failed to start; fp32 is used");
                precision = Precision::Fp32;
                session(checkpoint, &config, precision, threads)?
            }
            session => session?,
        };
        let (token_limit, vocab_size) = (manifest.token_limit, config.vocab_size);
        Ok(Self { session: Mutex::new(session), precision, token_limit, vocab_size })
    }

    /// The arithmetic that it computes in.
    pub fn precision(&self) -> Precision {
        self.precision
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

    /// Tokens of a row that holds each of the texts.
    fn width(&self, texts: &[&[u32]]) -> usize {
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let in_lots = longest.next_multiple_of(LOT);
        let is_little = (in_lots - longest) * 16 <= longest;
        if self.precision == Precision::Bf16 && is_little { in_lots } else { longest }
    }

    /// The scores at positions of texts, one text a row padded on the right. `positions` are indices into the rows laid one
    /// after another, of [`Self::width`] each.
    fn run(&self, texts: &[&[u32]], positions: &[i64]) -> Result<Vec<f32>, ScoreError> {
        let width = self.width(texts);
        let mut ids = vec![0_i64; texts.len() * width];
        for (row, text) in texts.iter().enumerate() {
            for (column, id) in text.iter().enumerate() {
                ids[row * width + column] = i64::from(*id);
            }
        }
        let inputs = ort::inputs! {
            "input_ids" => TensorRef::from_array_view(([texts.len(), width], ids.as_slice()))?,
            "positions" => TensorRef::from_array_view(([positions.len()], positions))?,
        };
        // A panic of an earlier run leaves nothing half done in a session.
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs)?;
        let value =
            outputs.get(SCORES).ok_or_else(|| ScoreError::Engine(format!("the graph has no output {SCORES}")))?;
        Ok(value.try_extract_tensor::<f32>()?.1.to_vec())
    }
}

/// A session on the engine's graph. The graph, and weights in 8 bits, are files beside the weights only while they are read.
fn session(
    checkpoint: &Path,
    config: &ModelConfig,
    precision: Precision,
    threads: usize,
) -> Result<Session, ScoreError> {
    let environment = runtime::environment()?;
    let optimizations = match precision {
        Precision::Fp32 | Precision::Int8 => GraphOptimizationLevel::All,
        // OpenVINO optimizes by itself; what ONNX Runtime made of the graph before took it 4 % longer.
        Precision::Bf16 => GraphOptimizationLevel::Disable,
    };
    let builder = Session::builder(environment)?
        .with_optimization_level(optimizations)?
        // Lengths differ from batch to batch, so a remembered layout of memory would not fit the next.
        .with_memory_pattern(false)?
        // Idle threads sleep: training, Postgres and the API share the machine, and OpenVINO has threads of its own.
        .with_intra_op_spinning(false)?
        .with_intra_threads(threads)?;
    let (mut builder, attention) = match precision {
        // Said outright: a session that says nothing is given to whatever is registered, in its own arithmetic.
        Precision::Fp32 | Precision::Int8 => {
            (builder.with_devices([runtime::cpu(environment)?], None)?, Attention::best_for(config))
        }
        Precision::Bf16 => {
            let settings = serde_json::json!({"CPU": {
                "INFERENCE_PRECISION_HINT": "bf16", "INFERENCE_NUM_THREADS": threads.to_string(), "NUM_STREAMS": "1",
            }});
            let options = [(format!("{}.load_config", runtime::OPENVINO), settings.to_string())];
            (builder.with_devices([runtime::openvino(environment)?], Some(&options))?, Attention::Primitive)
        }
    };
    let beside = |suffix: &str| {
        let file = tempfile::Builder::new().prefix("engine.").suffix(suffix).tempfile_in(checkpoint);
        file.map_err(ModelError::io("create a file in", checkpoint))
    };
    // Held until the session has read it.
    let weights = (precision == Precision::Int8).then(|| beside(".int8")).transpose()?;
    let graph = match weights.as_ref().and_then(|weights| weights.path().file_name()) {
        Some(name) => onnx::int8_engine_graph(checkpoint, attention, &name.to_string_lossy())?,
        None => onnx::engine_graph(checkpoint, attention)?,
    };
    let mut file = beside(".onnx")?;
    file.write_all(&graph).map_err(ModelError::io("write", file.path()))?;
    Ok(builder.commit_from_file(file.path())?)
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
            let width = self.width(&members);
            let ends = members.iter().enumerate().map(|(row, text)| (row * width + text.len() - 1) as i64);
            for (index, score) in batch.iter().zip(self.run(&members, &ends.collect::<Vec<_>>())?) {
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
            let positions: Vec<i64> = whole.iter().map(|index| ends[*index] as i64 - 1).collect();
            for (index, score) in whole.into_iter().zip(self.run(&[&tokens[..longest]], &positions)?) {
                scores[index] = score;
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
