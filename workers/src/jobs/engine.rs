//! The scoring engine, as jobs use it: off the async threads, its failures told apart.

use super::Failure;
use crate::scoring::{OrtOptions, ScoreError, TextScorer};
use stash_domain::error::Code;
use std::path::Path;
use std::sync::Arc;

/// How a scorer's failure counts.
pub fn score_failure(error: ScoreError) -> Failure {
    match error {
        ScoreError::RuntimeNotNamed | ScoreError::RuntimeNotLoaded { .. } => {
            Failure::of_input(Code::NotConfigured, error.to_string())
        }
        ScoreError::NotFinite { .. } => {
            Failure::of_input(Code::TrainingDiverged, format!("{error}; nothing was published"))
        }
        error => Failure::internal(error),
    }
}

/// Exports a checkpoint to ONNX and opens it.
pub async fn export(checkpoint: &Path, threads: usize) -> Result<Arc<TextScorer>, Failure> {
    let checkpoint = checkpoint.to_owned();
    blocking(move || {
        stash_model::onnx::export(&checkpoint).map_err(Failure::internal)?;
        open(&checkpoint, threads)
    })
    .await
}

/// Opens an exported checkpoint. Blocking.
pub fn open(checkpoint: &Path, threads: usize) -> Result<Arc<TextScorer>, Failure> {
    let options = OrtOptions { threads: Some(threads) };
    TextScorer::open(checkpoint, options).map(Arc::new).map_err(score_failure)
}

/// Runs blocking work; a panic in it is a fault of ours.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(Failure::internal)?
}

/// Byte offsets at which pieces end, the last one included, as the trainer and the scorer read them.
pub fn ends_of(cuts: &[usize], length: usize) -> Vec<u32> {
    cuts.iter()
        .copied()
        .chain((length > 0).then_some(length))
        .map(|cut| u32::try_from(cut).unwrap_or(u32::MAX))
        .collect()
}
