//! Why texts could not be scored.

use stash_model::ModelError;

/// Why texts could not be scored.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// The variable that says where the library is, is not set.
    #[error(
        "ONNX Runtime is neither named by ORT_DYLIB_PATH (its library, libonnxruntime.so) nor among the fetched dependencies (.deps)"
    )]
    RuntimeNotNamed,
    /// The library does not load.
    #[error("ONNX Runtime at {path} (from ORT_DYLIB_PATH) does not load: {detail}")]
    RuntimeNotLoaded {
        /// Where it was looked for.
        path: String,
        /// What the loader said.
        detail: String,
    },
    /// The arithmetic that was asked for cannot be had.
    #[error("{name}, asked for in RM_SCORE_PRECISION, cannot be had: {detail}")]
    Precision {
        /// Its name.
        name: &'static str,
        /// What is missing.
        detail: String,
    },
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// ONNX Runtime failed.
    #[error("ONNX Runtime: {0}")]
    Engine(String),
    /// A text that no score is defined for.
    #[error("text {index}: {detail}")]
    Text {
        /// Index among the texts given.
        index: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// The model's answer is not a number.
    #[error("the score of text {index} is not finite")]
    NotFinite {
        /// Index among the texts given.
        index: usize,
    },
}

impl<T> From<ort::Error<T>> for ScoreError {
    fn from(error: ort::Error<T>) -> Self {
        Self::Engine(error.to_string())
    }
}
