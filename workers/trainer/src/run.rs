//! A job from beginning to end.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;
use stash_model::config::ModelConfig;
use stash_model::tokenize::{Form, TextTokenizer};
use stash_model::{checksum, files};
use tch::{Device, Kind};

use crate::checkpoint;
use crate::device::{self, Found};
use crate::error::TrainError;
use crate::job::{Job, Kernels, Method, Precision};
use crate::model::fused::Fused;
use crate::model::{Model, Setup};
use crate::output::Output;
use crate::pairs;
use crate::resume::{self, Keeper};
use crate::train;

/// Name of the result in a job directory.
pub const RESULT_FILE: &str = "result.json";

/// `result.json` of a training: its figures. How good the model is, is measured by the engine that will serve it.
#[derive(Debug, Clone, Serialize)]
pub struct TrainResult {
    /// Pairs trained on.
    pub train_pairs: usize,
    /// Passes over them.
    pub epochs: u32,
    /// Optimizer steps.
    pub steps: usize,
    /// Mean loss of the last ten steps.
    pub final_loss: f64,
    /// Points of step and mean loss since the point before.
    pub loss_curve: Vec<(usize, f64)>,
    /// `cpu`, `cuda` or `mps`.
    pub device: &'static str,
    /// Number type of the computation.
    pub precision: Precision,
    /// What was trained.
    pub method: Method,
    /// Numbers trained.
    pub trained_parameters: usize,
    /// The highest learning rate.
    pub learning_rate: f64,
    /// How segments were tokenised.
    pub form: Form,
    /// Texts that were cut to the token limit.
    pub truncated_texts: usize,
    /// Weights of the model.
    pub parameters: usize,
    /// Tokens computed, each shared beginning once.
    pub tokens: usize,
    /// Tokens of the texts, all epochs.
    pub text_tokens: usize,
    /// `text_tokens` for each second of the training loop.
    pub tokens_per_s: f64,
    /// Seconds of the training loop.
    pub train_seconds: f64,
    /// Seconds from start to finish.
    pub seconds: f64,
    /// The most memory that was resident, in MB (10^6 bytes), where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_mb: Option<f64>,
    /// Seed.
    pub seed: u64,
}

/// Trains the job in `job_dir` and leaves `model/` and `result.json` there. `stop` may be set at any time.
///
/// # Errors
/// See [`TrainError`]; neither `model/` nor `result.json` is there then.
pub fn run(job_dir: &Path, stop: &AtomicBool) -> Result<TrainResult, TrainError> {
    let started = Instant::now();
    let result_path = job_dir.join(RESULT_FILE);
    if result_path.exists() {
        fs::remove_file(&result_path).map_err(TrainError::io("remove", &result_path))?;
    }
    checkpoint::clear(job_dir)?;
    let mut output = Output::begin(job_dir)?;
    let trained = attempt(job_dir, stop, &mut output, started);
    if let Err(TrainError::NotFinite { .. }) = &trained {
        // Another attempt would meet the same numbers.
        resume::clear(job_dir)?;
    }
    match &trained {
        Ok(result) => output.log(&format!("done in {:.1} s, loss {:.4}", result.seconds, result.final_loss)),
        Err(error) => output.log(&format!("error: {error}")),
    }
    trained
}

fn attempt(
    job_dir: &Path,
    stop: &AtomicBool,
    output: &mut Output,
    started: Instant,
) -> Result<TrainResult, TrainError> {
    let job = Job::read(job_dir)?;
    let device = device::choose(job.device, Found::here())?;
    let precision = job.precision.unwrap_or_else(|| default_precision(&job, device));
    set_threads(&job);
    let tokenizer = open_tokenizer(&job)?;
    let pairs = pairs::read(job_dir, &tokenizer, job.max_tokens)?;
    output.log(&format!(
        "{} pairs, {} texts cut to {} tokens; model of {} weights on {device:?} in {precision:?}, {} threads",
        pairs.train.len(),
        pairs.truncated_texts,
        job.max_tokens,
        job.parameters,
        tch::get_num_threads()
    ));
    let setup = Setup {
        device,
        compute: match precision {
            Precision::Fp32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        },
        freeze_embeddings: job.freeze_embeddings,
        lora: (job.method == Method::Lora).then_some(job.lora),
        max_tokens: job.max_tokens,
        seed: job.seed,
    };
    let mut model = Model::load(&job.base_model_dir, &setup)?;
    let fused = (job.kernels == Kernels::Auto && device == Device::Cpu).then(|| Fused::new(&mut model)).transpose()?;
    let base_checksum = checksum::of_model(&job.base_model_dir)?;
    let fingerprint = resume::fingerprint(job_dir, &job, precision, &base_checksum)?;
    let mut keeper = Keeper::new(job_dir, fingerprint, Duration::from_secs_f64(job.resume_every_s));
    let figures = train::train(&job, &pairs, &model, fused, &mut keeper, output, stop)?;
    output.log(&format!("{} steps in {:.1} s, writing the checkpoint", figures.steps, figures.seconds));
    checkpoint::write(job_dir, &job, &model, &tokenizer, base_checksum)?;
    let result = TrainResult {
        train_pairs: pairs.train.len(),
        epochs: job.epochs,
        steps: figures.steps,
        final_loss: figures.final_loss,
        loss_curve: figures.loss_curve,
        device: device::name(device),
        precision,
        method: job.method,
        trained_parameters: model.trained().map(|named| named.tensor.numel()).sum(),
        learning_rate: job.learning_rate,
        form: tokenizer.form(),
        truncated_texts: pairs.truncated_texts,
        parameters: job.parameters,
        tokens: figures.tokens,
        text_tokens: figures.text_tokens,
        tokens_per_s: figures.text_tokens as f64 / figures.seconds.max(f64::MIN_POSITIVE),
        train_seconds: figures.seconds,
        seconds: started.elapsed().as_secs_f64(),
        peak_mb: peak_mb(),
        seed: job.seed,
    };
    files::write_json(&job_dir.join(RESULT_FILE), &result)?;
    resume::clear(job_dir)?;
    Ok(result)
}

/// A tokenizer with ids that the embedding lacks would read past its end.
fn open_tokenizer(job: &Job) -> Result<TextTokenizer, TrainError> {
    let tokenizer = TextTokenizer::open(&job.base_model_dir)?;
    let rows = ModelConfig::read(&job.base_model_dir)?.vocab_size;
    if tokenizer.vocab_size() > rows {
        let ids = tokenizer.vocab_size();
        return Err(TrainError::Job(format!("the tokenizer has {ids} ids, the model's embedding {rows} rows")));
    }
    Ok(tokenizer)
}

/// bf16 for a large model where it is fast. A small model is quick in any case.
fn default_precision(job: &Job, device: Device) -> Precision {
    if job.large() && device::multiplies_bf16(device) { Precision::Bf16 } else { Precision::Fp32 }
}

/// Linux tells it in `/proc`.
fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

fn set_threads(job: &Job) {
    let said = std::env::var_os("OMP_NUM_THREADS").is_some();
    match job.threads {
        Some(threads) => tch::set_num_threads(threads as i32),
        None if !said && !job.large() => tch::set_num_threads(1),
        None => {}
    }
}
