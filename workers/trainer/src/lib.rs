//! `stash-trainer <job-dir>`: trains a reward model from a job directory, in a process of its own, so that a crash or a
//! lack of memory here fails one job and nothing else.
//!
//! - [`job`]: `job.json`, every parameter with its default
//! - [`pairs`]: `pairs.jsonl` to token ids, cut to the limit
//! - [`pack`]: the two texts of a pair behind their shared beginning, batches of pairs as tensors
//! - [`device`]: CPU, CUDA or MPS, by what the machine has
//! - [`model`]: the decoder in libtorch, from a checkpoint's `config.json` and `model.safetensors`
//! - [`kernels`]: loops over numbers on the CPU that libtorch has no good equal for
//! - [`loss`], [`optimizer`], [`schedule`]: Bradley-Terry, AdamW, order and learning rate
//! - [`train`]: the loop; [`checkpoint`]: what it leaves; [`output`]: what it tells meanwhile; [`resume`]: what it goes on
//!   from after it was killed
//!
//! What a job directory holds afterwards: `model/` (Hugging Face layout), then `result.json`, both whole or absent.
//! `progress.jsonl`, `worker.log` and `resume/` grow while it runs; the last is gone at the end. Texts held out (`split: "eval"`) are not read beyond their
//! line: no figure of the training depends on them.
//!
//! Equal job directories give equal checkpoints on the same machine's CPU with the same number of threads.

pub mod checkpoint;
pub mod device;
pub mod error;
pub mod job;
pub mod kernels;
pub mod loss;
pub mod model;
pub mod optimizer;
pub mod output;
pub mod pack;
pub mod pairs;
pub mod resume;
pub mod run;
pub mod schedule;
pub mod train;

pub use error::TrainError;
