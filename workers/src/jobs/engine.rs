//! The scoring engine, as jobs use it: off the async threads, its failures told apart.

use super::Failure;
use crate::scoring::{OrtOptions, ScoreError, TextScorer};
use stash_domain::error::Code;
use stash_model::manifest::Manifest;
use std::path::Path;
use std::sync::Arc;

/// How a scorer's failure counts.
pub fn score_failure(error: ScoreError) -> Failure {
    match error {
        ScoreError::RuntimeNotNamed | ScoreError::RuntimeNotLoaded { .. } | ScoreError::Precision { .. } => {
            Failure::of_input(Code::NotConfigured, error.to_string())
        }
        ScoreError::NotFinite { .. } => {
            Failure::of_input(Code::TrainingDiverged, format!("{error}; nothing was published"))
        }
        error => Failure::internal(error),
    }
}

/// Exports a checkpoint to ONNX and opens it. Its manifest then names the arithmetic that it is scored in from now on.
pub async fn export(checkpoint: &Path, options: OrtOptions) -> Result<Arc<TextScorer>, Failure> {
    let checkpoint = checkpoint.to_owned();
    blocking(move || {
        stash_model::onnx::export(&checkpoint).map_err(Failure::internal)?;
        let scorer = open(&checkpoint, options)?;
        let mut manifest = Manifest::read(&checkpoint).map_err(Failure::internal)?;
        manifest.precision = Some(scorer.scorer().precision());
        manifest.write(&checkpoint).map_err(Failure::may_pass)?;
        Ok(scorer)
    })
    .await
}

/// Opens a checkpoint. Blocking.
pub fn open(checkpoint: &Path, options: OrtOptions) -> Result<Arc<TextScorer>, Failure> {
    let scorer = TextScorer::open(checkpoint, options).map_err(score_failure)?;
    tracing::info!(precision = scorer.scorer().precision().name(), "a model is open for scoring");
    Ok(Arc::new(scorer))
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
