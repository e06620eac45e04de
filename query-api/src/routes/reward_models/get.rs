//! `GET /reward-models/{reward_model_id}`: a model with the traces it was given.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::load;
use crate::state::QueryState;
use crate::types::RewardModelDetail;
use axum::Json;
use axum::extract::State;
use stash_infra::identity::Caller;

/// Get a reward model
#[utoipa::path(
    get,
    operation_id = "get_reward_model",
    path = "/reward-models/{reward_model_id}",
    tag = "reward models",
    params(("reward_model_id" = uuid::Uuid, Path, description = "Its id")),
    responses((status = 200, description = "The model", body = RewardModelDetail)),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<Json<RewardModelDetail>, Failure> {
    let id = uuid(&path)?;
    let owner = caller.owner_id.0;
    let mut tx = state.begin(caller.owner_id).await?;
    let model = load::reward_model(&mut tx, caller.owner_id, id.into()).await?;
    let model = model.ok_or_else(|| Failure::not_found("reward model", id))?;
    // As many as one model may be given, which is bounded.
    let trace_ids = sqlx::query_scalar(include_str!("traces.sql")).bind(owner).bind(id).fetch_all(&mut *tx).await?;
    Ok(Json(RewardModelDetail { model, trace_ids, feedback: None }))
}
