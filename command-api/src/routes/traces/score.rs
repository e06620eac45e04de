//! `POST /traces/{trace_id}/score`

use crate::CommandState;
use crate::dispatch::Refused;
use crate::path::TracePath;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::scoring_runs::request;
use stash_domain::error::Code;
use stash_domain::ids::RewardModelId;
use stash_infra::http::{At, Idempotency, JsonBody, Problem};
use stash_infra::identity::Caller;
use stash_query_api::types::ScoringRun;
use utoipa::ToSchema;
use uuid::Uuid;

/// Body of a scoring request.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct ScoreBody {
    /// The trained model.
    pub reward_model_id: Uuid,
}

/// Scores a trace's actions with a trained model.
///
/// A run of the same trace and model that is still at work is joined rather than started again.
#[utoipa::path(post, operation_id = "score_trace", path = "/traces/{trace_id}/score", tag = "traces", request_body = ScoreBody,
    params(("trace_id" = String, Path, description = "its id, or `external:` and its external id")),
    responses((status = 202, description = "queued", body = ScoringRun), crate::openapi::CommandProblems))]
pub async fn handle(
    State(state): State<CommandState>,
    caller: Caller,
    idempotency: Idempotency,
    path: TracePath,
    body: JsonBody<ScoreBody>,
) -> Result<Response, Refused> {
    let command = state.begin(&caller, &idempotency, idempotency.digest(&body.bytes)).await?;
    let (run_id, _) = request::ids(command.id);
    let (run_id, position) = match &command.earlier {
        Some(judged) => (run_id, state.repeat(&caller, judged)?.position),
        None => {
            let trace = state.trace(&caller, &path).await?;
            let model = RewardModelId(body.reward_model_id);
            let (view, active) = state.scoring_view(&caller, model, trace.id, trace.action_count).await?;
            match active {
                Some(active) => (active, state.applied(&caller)),
                None => {
                    let appends = request::decide(command.id, trace.id, model, state.compute()?, &view)?;
                    (run_id, state.submit(&caller, &command, appends).await?.position)
                }
            }
        }
    };
    let mut tx = state.read(&caller).await?;
    let run = stash_query_api::load::scoring_run(&mut tx, caller.owner_id, run_id).await?;
    let run =
        run.ok_or_else(|| Problem::new(Code::NotFound, "the trace was deleted meanwhile, and the run with it"))?;
    Ok((StatusCode::ACCEPTED, At(position), axum::Json(run)).into_response())
}
