//! `POST /otel/v1/logs`

use crate::CommandState;
use crate::otlp::{OtelTaken, Signal, receive};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use stash_infra::http::{Idempotency, Problem, ProblemBody};
use stash_infra::identity::Caller;

/// Takes log records of OpenTelemetry (OTLP over HTTP).
///
/// Records whose event name begins with `gen_ai.` tell of a model call's messages and are added to their span, which may come earlier
/// or later. All others are passed over. Otherwise as for spans.
#[utoipa::path(post, operation_id = "otel_logs", path = "/otel/v1/logs", tag = "otel",
    request_body(content((serde_json::Value = "application/json"), (Vec<u8> = "application/x-protobuf")),
        description = "an OTLP request"),
    responses((status = 200, description = "taken; `partialSuccess` counts what was not", body = OtelTaken),
        (status = 429, description = "more comes in at once than the server holds in memory: send it again",
            body = ProblemBody, content_type = "application/problem+json"),
        crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Problem> {
    receive(&state, &caller, &idempotency, &headers, request, Signal::Logs).await
}
