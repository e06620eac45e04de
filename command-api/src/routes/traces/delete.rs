//! `DELETE /traces/{trace_id}`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use stash_domain::commands::traces::delete;
use stash_infra::http::{At, Idempotency};
use stash_infra::identity::Caller;

/// Deletes a trace.
///
/// Its steps, annotations, scores and the training pairs made from it go with it, and the keys of its content are shredded, so
/// that neither the event log nor a backup of it can show them again. Models that were given it are marked. Spans that were sent live
/// go too, also of a trace that is not shown yet; a span that comes later begins the trace anew.
#[utoipa::path(delete, operation_id = "delete_trace", path = "/traces/{trace_id}", tag = "traces",
    params(("trace_id" = String, Path, description = "its id, or `external:` and its external id")),
    responses((status = 204, description = "deleted"), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    path: TracePath,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(b"")).await?;
    let decision = async {
        let trace = state.deletable_trace(&caller, &path).await?;
        state.submit(&caller, &command, delete::decide(trace)).await
    };
    let done = state.decide(&caller, &command, decision).await?;
    Ok((StatusCode::NO_CONTENT, At(done.position)).into_response())
}
