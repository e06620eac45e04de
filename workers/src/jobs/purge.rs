//! Removing what a deleted reward model left in the artifact store.

use super::{Done, Failure, Running};
use stash_infra::artifacts::ArtifactKey;

/// Does the job. One that finds nothing has nothing to do: an attempt before may have removed it, and a training that failed has
/// left nothing.
///
/// # Errors
/// [`Failure`]; another attempt goes on.
pub async fn run(running: &Running) -> Result<Done, Failure> {
    let model = running.job.reward_model.ok_or_else(|| Failure::internal("a removal without a reward model"))?;
    let key = ArtifactKey::reward_model(running.job.owner, model);
    let removed = running.worker.store.delete_file(&key).await?;
    tracing::info!(%model, removed, "the checkpoint of a deleted model is gone");
    Ok(Done::default())
}
