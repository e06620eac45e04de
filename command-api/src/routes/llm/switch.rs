//! `PATCH /llm-processing`

use crate::CommandState;
use crate::dispatch::Refused;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::accounts::switch_llm;
use stash_domain::llm::LlmPurpose;
use stash_infra::http::{At, Idempotency, JsonBody};
use stash_infra::identity::Caller;
use stash_query_api::types::LlmProcessing;
use utoipa::ToSchema;

/// Uses of language models on the account's content; an absent one stays as it is.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct SwitchBody {
    /// Titles of traces that come without one.
    #[serde(default)]
    pub titles: Option<bool>,
    /// Judging what agents did, for trainings.
    #[serde(default)]
    pub learning: Option<bool>,
}

/// Allows uses of language models on the account's content, or forbids them.
///
/// It holds from the next call of a model on, also for jobs that have begun. What was sent before stays where it is.
#[utoipa::path(patch, operation_id = "switch_llm_processing", path = "/llm-processing", tag = "account", request_body = SwitchBody,
    responses((status = 200, description = "what holds now", body = LlmProcessing), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    body: JsonBody<SwitchBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let decision = async {
        // Not without the tables, as no command: a switch that cannot be looked up would hold for nobody.
        drop(state.read(&caller).await?);
        let wanted = [(LlmPurpose::Titles, body.value.titles), (LlmPurpose::Learning, body.value.learning)];
        state.submit(&caller, &command, switch_llm::decide(caller.owner_id, wanted)?).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let mut tx = state.read(&caller).await?;
    let now = stash_query_api::load::llm_processing(&mut tx, caller.owner_id, &state.llm).await?;
    Ok((At(position), axum::Json(now)).into_response())
}
