//! `POST /reward-models/{reward_model_id}/cancel`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::Id;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use stash_domain::commands::jobs::cancel;
use stash_domain::ids::RewardModelId;
use stash_infra::http::{At, Idempotency, Problem};
use stash_infra::identity::Caller;
use stash_query_api::types::RewardModel;

/// Asks a training to stop. A running one stops within a few steps; the model's status is then `failed`, its error `cancelled`.
#[utoipa::path(post, operation_id = "cancel_reward_model", path = "/reward-models/{reward_model_id}/cancel", tag = "reward models",
    params(("reward_model_id" = uuid::Uuid, Path, description = "the model")),
    responses((status = 200, description = "asked to stop", body = RewardModel), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    Id(model_id): Id<RewardModelId>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(b"")).await?;
    let decision = async {
        let training = state.training(&caller, model_id).await?;
        state.submit(&caller, &command, cancel::decide(&training.job)?).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let mut tx = state.read(&caller).await?;
    let model = stash_query_api::load::reward_model(&mut tx, caller.owner_id, model_id).await?;
    let model = model.ok_or_else(|| Problem::internal(&"a reward model that was just changed cannot be read"))?;
    Ok((At(position), axum::Json(model)).into_response())
}
