//! `DELETE /annotations/{annotation_id}`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::Id;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use stash_domain::commands::annotations::delete;
use stash_domain::ids::AnnotationId;
use stash_infra::http::{At, Idempotency, IfMatch};
use stash_infra::identity::Caller;

/// Removes an annotation.
#[utoipa::path(delete, operation_id = "delete_annotation", path = "/annotations/{annotation_id}", tag = "annotations",
    params(("annotation_id" = uuid::Uuid, Path, description = "the annotation")),
    responses((status = 204, description = "removed"), crate::openapi::Pending, crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    if_match: IfMatch,
    Id(annotation_id): Id<AnnotationId>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(b"")).await?;
    let decision = async {
        let existing = state.annotation(&caller, annotation_id).await?;
        let appends = delete::decide(annotation_id, existing.trace_id, if_match.expected());
        state.submit(&caller, &command, appends).await
    };
    let done = state.decide(&caller, &command, decision).await?;
    Ok((StatusCode::NO_CONTENT, At(done.position)).into_response())
}
