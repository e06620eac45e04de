//! The one error type of this crate. Every message names the file or the field at fault.

use std::path::{Path, PathBuf};

/// Why a model directory could not be read, used or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The operating system refused a file.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: `read`, `write`, `rename`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// `config.json` names an architecture that no graph here computes.
    #[error("unknown architecture {name:?} in config.json; supported model types are qwen3, qwen2 and llama")]
    UnknownArchitecture {
        /// The `model_type` (or the first of `architectures`) found.
        name: String,
    },
    /// `config.json` is of a known family but asks for something unsupported, or lacks a field.
    #[error("config.json: {0}")]
    Config(String),
    /// A weight file is malformed, or a tensor is missing or of another shape than the config says.
    #[error("{}: {detail}", path.display())]
    Weights {
        /// The weight file or the model folder.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// A GGUF file is malformed, or holds something that is not read.
    #[error("{}: {detail}", path.display())]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// `tokenizer.json` or `tokenizer_config.json` cannot be used.
    #[error("tokenizer: {0}")]
    Tokenizer(String),
    /// A rendered text's cuts do not describe it.
    #[error("segments: {0}")]
    Segments(String),
    /// A JSON file of the checkpoint does not parse.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The checkpoint's manifest names a rule that this version does not implement.
    #[error("stash_manifest.json: {0}")]
    Manifest(String),
}

impl ModelError {
    /// An [`ModelError::Io`] for `path`, as a closure for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// A [`ModelError::Weights`] for `path`.
    pub fn weights(path: &Path, detail: impl Into<String>) -> Self {
        Self::Weights { path: path.to_path_buf(), detail: detail.into() }
    }
}
