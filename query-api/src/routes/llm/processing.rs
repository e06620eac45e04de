//! `GET /llm-processing`: what language models may be used for on the account's content.

use crate::errors::Failure;
use crate::load;
use crate::state::QueryState;
use crate::types::LlmProcessing;
use axum::Json;
use axum::extract::State;
use stash_infra::identity::Caller;

/// Get what language models are used for
///
/// Each use sends content of traces to the model's provider; an account can forbid it for itself.
#[utoipa::path(
    get,
    operation_id = "get_llm_processing",
    path = "/llm-processing",
    tag = "account",
    responses((status = 200, description = "The uses", body = LlmProcessing)),
)]
pub(crate) async fn processing(
    State(state): State<QueryState>,
    caller: Caller,
) -> Result<Json<LlmProcessing>, Failure> {
    let mut tx = state.begin(caller.owner_id).await?;
    Ok(Json(load::llm_processing(&mut tx, caller.owner_id, &state.parts().llm).await?))
}
