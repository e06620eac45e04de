//! `PATCH /reward-models/{reward_model_id}`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::Id;
use crate::state::reward_model::not_found;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::reward_models::rename;
use stash_domain::ids::RewardModelId;
use stash_infra::http::{At, Idempotency, JsonBody};
use stash_infra::identity::Caller;
use stash_query_api::types::RewardModel;
use utoipa::ToSchema;

/// What to change.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct RenameBody {
    /// The new name.
    pub name: String,
}

/// Renames a reward model.
///
/// Also while it is being trained. The last write stands.
#[utoipa::path(patch, operation_id = "rename_reward_model", path = "/reward-models/{reward_model_id}", tag = "reward models",
    request_body = RenameBody,
    params(("reward_model_id" = uuid::Uuid, Path, description = "the model")),
    responses((status = 200, description = "renamed", body = RewardModel), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    Id(model_id): Id<RewardModelId>,
    body: JsonBody<RenameBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let decision = async {
        let name = rename::check(&body.value.name)?;
        state.training(&caller, model_id).await?;
        let name = state.seal_model_name(caller.owner_id, model_id, &name).await?;
        state.submit(&caller, &command, rename::decide(model_id, name)).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let mut tx = state.read(&caller).await?;
    let model = stash_query_api::load::reward_model(&mut tx, caller.owner_id, model_id).await?;
    // Deleted meanwhile.
    let model = model.ok_or_else(|| not_found(model_id))?;
    Ok((At(position), axum::Json(model)).into_response())
}
