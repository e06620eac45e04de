//! `POST /traces/{trace_id}/title`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use stash_domain::commands::traces::request_title;
use stash_domain::ids::TraceId;
use stash_infra::http::{At, Idempotency};
use stash_infra::identity::Caller;
use stash_query_api::types::TraceTitle;

/// Asks for a generated title: after one failed, for a trace that was imported a while ago, or in the place of the one there is.
///
/// The title is written in the background; `title_error` says why if it cannot be.
#[utoipa::path(post, operation_id = "request_title", path = "/traces/{trace_id}/title", tag = "traces",
    params(("trace_id" = String, Path, description = "its id, or `external:` and its external id")),
    responses((status = 202, description = "asked for; the title as it is now", body = TraceTitle), crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    path: TracePath,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(b"")).await?;
    let decision = async {
        let title = state.title_of(&caller, &path).await?;
        let mut tx = state.read(&caller).await?;
        let allowed = stash_query_api::load::llm_processing(&mut tx, caller.owner_id, &state.llm).await?.titles;
        drop(tx);
        let about = request_title::State {
            title_source: &title.title_source,
            is_configured: allowed.model.is_some(),
            is_allowed: allowed.allowed,
        };
        state.submit(&caller, &command, request_title::decide(TraceId(title.id), about)?).await
    };
    let position = state.decide(&caller, &command, decision).await?.position;
    let title = state.title_of(&caller, &path).await?;
    Ok((StatusCode::ACCEPTED, At(position), axum::Json(title)).into_response())
}
