//! `DELETE /reward-models/{reward_model_id}`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::Id;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use stash_domain::commands::reward_models::delete;
use stash_domain::ids::RewardModelId;
use stash_infra::http::{At, Idempotency};
use stash_infra::identity::Caller;

/// Deletes a reward model.
///
/// Its scores, findings, training pairs and scoring runs go with it, and a worker removes its checkpoint. A training that has not
/// begun is cancelled; one that runs is to be cancelled first (409). The event log keeps that there was a model, of which traces
/// and with which figures; its name can be read by nobody any more.
#[utoipa::path(delete, operation_id = "delete_reward_model", path = "/reward-models/{reward_model_id}", tag = "reward models",
    params(("reward_model_id" = uuid::Uuid, Path, description = "the model")),
    responses((status = 204, description = "deleted"), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    Id(model_id): Id<RewardModelId>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(b"")).await?;
    let decision = async {
        let training = state.training(&caller, model_id).await?;
        // Its own class may be one that this deployment has no workers of any more.
        let compute = state.compute.as_deref().unwrap_or(&training.compute);
        let appends = delete::decide(command.id, model_id, &training.job, compute)?;
        state.submit(&caller, &command, appends).await
    };
    let done = state.decide(&caller, &command, decision).await?;
    Ok((StatusCode::NO_CONTENT, At(done.position)).into_response())
}
