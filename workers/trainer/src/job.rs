//! `job.json` of a training: `{"kind": "train", "base_model_dir": …}` and the parameters below, all optional but these.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stash_model::config::ModelConfig;
use stash_model::{arch, files};

use crate::device::DeviceChoice;
use crate::error::TrainError;
use crate::model::Lora;
use crate::schedule::{Order, Schedule};

/// Name of the file in a job directory.
pub const FILE: &str = "job.json";
/// Parameters from which a model counts as large: it is then trained gently, in bf16 where the machine has it, with its
/// embedding frozen. The bundled small base has under half a million, the smallest published base 135 million.
pub const LARGE_PARAMETERS: usize = 50_000_000;
/// Longest training accepted, in passes over the pairs.
pub const EPOCHS_MAX: u32 = 1_000;
/// Highest rank of adapters accepted.
pub const LORA_RANK_MAX: usize = 1_024;
/// Most tokens of a text accepted.
pub const TOKENS_MAX: usize = 32_768;

/// The number type that a step is computed in. Weights are kept and updated in fp32 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    Fp32,
    /// bfloat16; norms, softmax and the loss in fp32.
    Bf16,
}

/// The file as written; see [`Job`] for the meanings. Fields of the coordinator's own are passed over.
#[derive(Debug, Clone, Deserialize)]
struct JobFile {
    kind: String,
    base_model_dir: PathBuf,
    #[serde(default)]
    method: Option<Method>,
    #[serde(default)]
    lora_rank: Option<usize>,
    #[serde(default)]
    lora_alpha: Option<f64>,
    #[serde(default)]
    epochs: Option<u32>,
    #[serde(default)]
    learning_rate: Option<f64>,
    #[serde(default)]
    batch_pairs: Option<usize>,
    #[serde(default)]
    schedule: Option<Schedule>,
    #[serde(default)]
    warmup: Option<f64>,
    #[serde(default)]
    weight_decay: Option<f64>,
    #[serde(default)]
    clip_norm: Option<f64>,
    #[serde(default)]
    center: Option<f64>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    max_tokens: Option<usize>,
    #[serde(default)]
    tokens_per_pass: Option<usize>,
    #[serde(default)]
    precision: Option<Precision>,
    #[serde(default)]
    freeze_embeddings: Option<bool>,
    #[serde(default)]
    threads: Option<usize>,
    #[serde(default)]
    device: Option<DeviceChoice>,
    #[serde(default)]
    order: Option<Order>,
    #[serde(default)]
    kernels: Option<Kernels>,
    #[serde(default)]
    resume_every_s: Option<f64>,
}

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every weight, the embedding perhaps apart.
    Full,
    /// Low-rank adapters of all projections ([`crate::model::Lora`]), and the head; the checkpoint holds the sums.
    Lora,
}

/// How a step is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernels {
    /// [`crate::model::fused`] on the CPU, libtorch's graph elsewhere.
    Auto,
    /// libtorch's graph.
    Plain,
}

/// A training job with every parameter decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// `base_model_dir`, required: folder of the base model. A relative path is taken from the job directory.
    pub base_model_dir: PathBuf,
    /// `method`, `full` or `lora`: the default is `full`. On a CPU `lora` takes about a third less time and much less memory.
    pub method: Method,
    /// `lora_rank`, 16, and `lora_alpha`, twice the rank: an adapter's product is multiplied by alpha over rank.
    pub lora: Lora,
    /// `epochs`, 1: passes over the training pairs.
    pub epochs: u32,
    /// `learning_rate`: the highest reached. 1e-5 for a large model, 1e-3 for a small one; ten times that for adapters of a
    /// large one, twice that for adapters of a small one.
    pub learning_rate: f64,
    /// `batch_pairs`, 16: pairs of an optimizer step.
    pub batch_pairs: usize,
    /// `schedule`, `linear`: how the rate goes on after the warm-up; `linear` and `cosine` fall to 0, `constant` stays.
    pub schedule: Schedule,
    /// `warmup`, 0.05: share of the steps over which the rate rises from 0.
    pub warmup: f64,
    /// `weight_decay`, 0.01: of projections only, not of norms, biases, the embedding or the head.
    pub weight_decay: f64,
    /// `clip_norm`, 1: the gradient is scaled down to this length.
    pub clip_norm: f64,
    /// `center`, 0 (off): coefficient of `mean((r_c + r_r)^2)`, which keeps rewards around 0 (arXiv 2312.09244).
    pub center: f64,
    /// `seed`, 0: of the head's first weights and of the order of pairs.
    pub seed: u64,
    /// `order`, `shuffled`: in which order pairs are seen.
    pub order: Order,
    /// `max_tokens`, 1024: texts are cut to this many tokens, from the left.
    pub max_tokens: usize,
    /// `tokens_per_pass`: tokens, padding included, that are computed at once. A step of more is split into passes whose
    /// gradients are added. What a pass remembers for its gradient decides how much memory is needed: about 3.5 MB a
    /// token for Qwen3-0.6B in bf16, hence the default of 4,096 for a large model (a GPU of 24 GiB); 16,384 for a small.
    pub tokens_per_pass: usize,
    /// `precision`, `fp32` or `bf16`: the default is bf16 for a large model on a machine that multiplies it fast.
    pub precision: Option<Precision>,
    /// `freeze_embeddings`: whether the token embedding stays as it is. True for a large model, false for a small one.
    pub freeze_embeddings: bool,
    /// `threads`: CPU threads. By default what `OMP_NUM_THREADS` says; else all cores for a large model and 1 for a small
    /// one, whose operations are too short to be shared (two threads made the bundled base slower by a quarter).
    pub threads: Option<usize>,
    /// `device`, `auto`: see [`DeviceChoice`].
    pub device: DeviceChoice,
    /// `kernels`, `auto`: `plain` computes by libtorch's graph on the CPU too, more slowly; for comparison.
    pub kernels: Kernels,
    /// `resume_every_s`, 300: seconds between two saved states of the training ([`crate::resume`]); 0 saves after every
    /// step. Where writing one takes long, they are farther apart.
    pub resume_every_s: f64,
    /// Parameters of the model that the base's config describes.
    pub parameters: usize,
}

impl Job {
    /// Reads `job.json` of a job directory, and the config of the base it names, on which some defaults depend.
    ///
    /// # Errors
    /// When a file is missing or malformed, a parameter out of range, or the base of an unknown kind.
    pub fn read(job_dir: &Path) -> Result<Self, TrainError> {
        let file: JobFile =
            files::read_json(&job_dir.join(FILE)).map_err(|error| TrainError::Job(error.to_string()))?;
        if file.kind != "train" {
            return Err(TrainError::Job(format!("job.json: kind {:?} is not \"train\"", file.kind)));
        }
        let base_model_dir = job_dir.join(&file.base_model_dir);
        let config = ModelConfig::read(&base_model_dir)?;
        let parameters = arch::tensors(&config).iter().map(|spec| spec.shape.iter().product::<usize>()).sum();
        let large = parameters >= LARGE_PARAMETERS;
        let method = file.method.unwrap_or(Method::Full);
        let rank = file.lora_rank.unwrap_or(16);
        let learning_rate = match (method, large) {
            (Method::Full, true) => 1e-5,
            (Method::Full, false) => 1e-3,
            (Method::Lora, true) => 1e-4,
            (Method::Lora, false) => 2e-3,
        };
        let job = Self {
            base_model_dir,
            method,
            lora: Lora { rank, alpha: file.lora_alpha.unwrap_or(2.0 * rank as f64) },
            epochs: file.epochs.unwrap_or(1),
            learning_rate: file.learning_rate.unwrap_or(learning_rate),
            batch_pairs: file.batch_pairs.unwrap_or(16),
            schedule: file.schedule.unwrap_or(Schedule::Linear),
            warmup: file.warmup.unwrap_or(0.05),
            weight_decay: file.weight_decay.unwrap_or(0.01),
            clip_norm: file.clip_norm.unwrap_or(1.0),
            center: file.center.unwrap_or(0.0),
            seed: file.seed,
            max_tokens: file.max_tokens.unwrap_or(stash_model::tokenize::TOKEN_LIMIT),
            tokens_per_pass: file.tokens_per_pass.unwrap_or(if large { 4_096 } else { 16_384 }),
            precision: file.precision,
            freeze_embeddings: file.freeze_embeddings.unwrap_or(large),
            threads: file.threads,
            device: file.device.unwrap_or(DeviceChoice::Auto),
            order: file.order.unwrap_or(Order::Shuffled),
            kernels: file.kernels.unwrap_or(Kernels::Auto),
            resume_every_s: file.resume_every_s.unwrap_or(300.0),
            parameters,
        };
        job.check(&config)?;
        Ok(job)
    }

    fn check(&self, config: &ModelConfig) -> Result<(), TrainError> {
        let positions = config.max_positions.min(TOKENS_MAX);
        let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
        let checks = [
            ("lora_rank", (1..=LORA_RANK_MAX).contains(&self.lora.rank), format!("between 1 and {LORA_RANK_MAX}")),
            ("lora_alpha", self.lora.alpha > 0.0 && self.lora.alpha <= 1e6, "above 0".to_owned()),
            ("epochs", (1..=EPOCHS_MAX).contains(&self.epochs), format!("between 1 and {EPOCHS_MAX}")),
            (
                "learning_rate",
                self.learning_rate > 0.0 && self.learning_rate <= 1.0,
                "above 0 and at most 1".to_owned(),
            ),
            ("batch_pairs", (1..=4_096).contains(&self.batch_pairs), "between 1 and 4096".to_owned()),
            ("warmup", within(self.warmup, 0.0, 1.0), "between 0 and 1".to_owned()),
            ("weight_decay", within(self.weight_decay, 0.0, 10.0), "between 0 and 10".to_owned()),
            ("clip_norm", self.clip_norm > 0.0 && self.clip_norm.is_finite(), "above 0".to_owned()),
            ("center", within(self.center, 0.0, 100.0), "between 0 and 100".to_owned()),
            ("max_tokens", (1..=positions).contains(&self.max_tokens), format!("between 1 and {positions}")),
            ("tokens_per_pass", self.tokens_per_pass > 0, "at least 1".to_owned()),
            ("resume_every_s", within(self.resume_every_s, 0.0, 86_400.0), "between 0 and 86400".to_owned()),
            ("threads", self.threads.is_none_or(|n| (1..=1_024).contains(&n)), "between 1 and 1024".to_owned()),
        ];
        match checks.into_iter().find(|(_, holds, _)| !holds) {
            Some((field, _, range)) => Err(TrainError::Job(format!("job.json: {field} must be {range}"))),
            None => Ok(()),
        }
    }

    /// Whether the model counts as large, see [`LARGE_PARAMETERS`].
    pub fn large(&self) -> bool {
        self.parameters >= LARGE_PARAMETERS
    }
}
