//! `POST /traces/{trace_id}/score`

use crate::CommandState;
use crate::dispatch::{Command, Refused};
use crate::path::TracePath;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use stash_domain::commands::scoring_runs::request;
use stash_domain::error::Code;
use stash_domain::ids::{RewardModelId, ScoringRunId, TraceId};
use stash_domain::position::PositionToken;
use stash_domain::time::Timestamp;
use stash_infra::http::{At, Idempotency, JsonBody, Problem};
use stash_infra::identity::Caller;
use stash_query_api::types::ScoringRun;
use utoipa::ToSchema;
use uuid::Uuid;

/// Says why there is no run.
const DELETED: &str = "the trace or the model was deleted meanwhile, and the run with it";

/// Body of a scoring request.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct ScoreBody {
    /// The trained model.
    pub reward_model_id: Uuid,
}

/// Scores a trace's actions with a trained model.
///
/// A run of the same trace and model that is still at work is joined rather than started again; so is one that another request
/// started at the same moment. A repeat with the same idempotency key answers with the same run, also after that is over.
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
    let (trace, model) = (path.id(caller.owner_id), RewardModelId(body.reward_model_id));
    let (run_id, position) = match &command.earlier {
        Some(judged) => {
            let run = run_of(&state, &caller, &command, (trace, model), judged.log_time).await?;
            (run, state.applied(&caller))
        }
        None => start_or_join(&state, &caller, &command, &path, model).await?,
    };
    let mut tx = state.read(&caller).await?;
    let run = stash_query_api::load::scoring_run(&mut tx, caller.owner_id, run_id).await?;
    let run = run.ok_or_else(|| Problem::new(Code::NotFound, DELETED))?;
    Ok((StatusCode::ACCEPTED, At(position), axum::Json(run)).into_response())
}

/// A run and the position at which reads include it.
type Placed = (ScoringRunId, Option<PositionToken>);

/// Joins the run at work, or requests one.
async fn start_or_join(
    state: &CommandState,
    caller: &Caller,
    command: &Command,
    path: &TracePath,
    model: RewardModelId,
) -> Result<Placed, Refused> {
    let trace = state.trace(caller, path).await?;
    let (view, runs) = state.scoring_view(caller, model, trace.id, trace.action_count).await?;
    let joined = runs.run.filter(|_| runs.at_work);
    let appends = match joined {
        // Nothing changes, and the log has the command all the same: a repeat of it is answered alike.
        Some(_) => Vec::new(),
        None => request::decide(command.id, trace.id, model, state.compute()?, &view)?,
    };
    let accepted = match state.submit(caller, command, appends).await {
        // Another request came first, and this one joins its run.
        Err(Refused::Problem(problem)) if problem.code() == Code::VersionConflict => {
            let judged = state.verdict(command).await?.ok_or(Refused::Problem(problem))?;
            let run = run_of(state, caller, command, (trace.id, model), judged.log_time).await?;
            return Ok((run, state.applied(caller)));
        }
        outcome => outcome?,
    };
    Ok((joined.unwrap_or_else(|| request::ids(command.id).0), accepted.position))
}

/// The run that a command got which was in the log at a time.
async fn run_of(
    state: &CommandState,
    caller: &Caller,
    command: &Command,
    of: (TraceId, RewardModelId),
    at: Timestamp,
) -> Result<ScoringRunId, Refused> {
    let found = state.scoring_run_at(caller, of, request::ids(command.id).0, at).await?;
    found.ok_or_else(|| Problem::new(Code::NotFound, DELETED).into())
}
