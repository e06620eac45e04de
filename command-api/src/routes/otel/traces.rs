//! `POST /otel/v1/traces`

use crate::CommandState;
use crate::otlp::{OtelTaken, Signal, receive};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use stash_infra::http::{Idempotency, Problem, ProblemBody};
use stash_infra::identity::Caller;

/// Takes spans of OpenTelemetry (OTLP over HTTP).
///
/// Each trace shows, at every moment, what all of its spans give, in whatever order and batches they came; a span that comes again
/// changes nothing. A trace is shown once a call of a model with its messages is among its spans; until then `GET /otel/pending`
/// lists it. Messages that cannot be decoded are answered with 400, and nothing of the request is kept; a span without a valid id is
/// left out and counted in `partialSuccess`. The body is protobuf (`application/x-protobuf`) or JSON, also with gzip; the answer and
/// errors come in the same encoding.
#[utoipa::path(post, operation_id = "otel_traces", path = "/otel/v1/traces", tag = "otel",
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
    receive(&state, &caller, &idempotency, &headers, request, Signal::Traces).await
}
