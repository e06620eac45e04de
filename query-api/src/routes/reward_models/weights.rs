//! `GET /reward-models/{reward_model_id}/weights`: a link to the checkpoint.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::state::QueryState;
use crate::types::Weights;
use axum::Json;
use axum::extract::State;
use stash_domain::error::Code;
use stash_infra::artifacts::ArtifactKey;
use stash_infra::http::Problem;
use stash_infra::identity::Caller;

/// Get a link to a model's weights
///
/// The link fetches the checkpoint archive (`tar.gz`, Hugging Face layout) for five minutes, without a key. 404 until the
/// training has succeeded.
#[utoipa::path(
    get,
    operation_id = "get_reward_model_weights",
    path = "/reward-models/{reward_model_id}/weights",
    tag = "reward models",
    params(("reward_model_id" = uuid::Uuid, Path, description = "Its id")),
    responses((status = 200, description = "The link", body = Weights)),
)]
pub(crate) async fn weights(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<Json<Weights>, Failure> {
    let id = uuid(&path)?;
    let mut tx = state.begin(caller.owner_id).await?;
    let key: Option<String> = sqlx::query_scalar(include_str!("weights.sql"))
        .bind(caller.owner_id.0)
        .bind(id)
        .fetch_optional(&mut *tx)
        .await?;
    drop(tx);
    let key = key.ok_or_else(|| Failure::not_found("trained reward model", id))?;
    let key: ArtifactKey = key.parse().map_err(|error| Problem::internal(&error))?;
    // The row is the caller's; that the key is too is a second lock on the same door.
    if key.owner() != caller.owner_id {
        return Err(Problem::internal(&"a reward model's artifact belongs to another owner").into());
    }
    let parts = state.parts();
    let link = parts.artifacts.link(&key, parts.clock.now()).await.map_err(|error| {
        tracing::warn!(%error, "no link to an artifact can be made");
        Problem::new(Code::Unavailable, "the artifact store does not answer at the moment; try again")
    })?;
    Ok(Json(Weights { url: link.url }))
}
