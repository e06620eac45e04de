//! Why a training ended without a model, and the exit code that says so.

use std::path::{Path, PathBuf};

use stash_model::ModelError;
use tch::TchError;

/// The exit code of a finished training.
pub const EXIT_DONE: u8 = 0;

/// Why a training ended without a model.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// `job.json` or `pairs.jsonl` cannot be trained on; trying again changes nothing.
    #[error("{0}")]
    Job(String),
    /// The base model cannot be used; trying again changes nothing.
    #[error(transparent)]
    Base(#[from] ModelError),
    /// The loss or a gradient is not a number; trying again with the same job changes nothing.
    #[error("step {step} of {steps}: {what} is not finite; a lower learning_rate may help")]
    NotFinite {
        /// The optimizer step, from 1.
        step: usize,
        /// Steps of the job.
        steps: usize,
        /// `the loss` or `the gradient`.
        what: &'static str,
    },
    /// Asked to stop by SIGTERM or SIGINT.
    #[error("stopped at step {step} of {steps}")]
    Stopped {
        /// Optimizer steps done.
        step: usize,
        /// Steps of the job.
        steps: usize,
    },
    /// libtorch failed, most often for lack of memory; trying again elsewhere or later may help.
    #[error("libtorch: {0}")]
    Torch(#[from] TchError),
    /// A file of the job directory cannot be read or written; trying again may help.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl TrainError {
    /// The exit code: 2 for a job that cannot be trained, 3 for a training that diverged, 4 when stopped, 5 for
    /// libtorch, 6 for files. 2 and 3 will come again; 5 and 6 may not. 1 and 101 are left to the unforeseen, and a
    /// process killed by a signal has none of these.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Job(_) | Self::Base(_) => 2,
            Self::NotFinite { .. } => 3,
            Self::Stopped { .. } => 4,
            Self::Torch(_) => 5,
            Self::Io { .. } => 6,
        }
    }

    /// An [`TrainError::Io`] for `path`, as a closure for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}
