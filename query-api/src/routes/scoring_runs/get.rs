//! `GET /scoring-runs/{run_id}`: how a scoring of a trace stands.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::load;
use crate::state::QueryState;
use crate::types::ScoringRun;
use axum::Json;
use axum::extract::State;
use stash_infra::identity::Caller;

/// Get a scoring run
#[utoipa::path(
    get,
    operation_id = "get_scoring_run",
    path = "/scoring-runs/{run_id}",
    tag = "scoring",
    params(("run_id" = uuid::Uuid, Path, description = "Its id")),
    responses((status = 200, description = "The run", body = ScoringRun)),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<Json<ScoringRun>, Failure> {
    let id = uuid(&path)?;
    let mut tx = state.begin(caller.owner_id).await?;
    let run = load::scoring_run(&mut tx, caller.owner_id, id.into()).await?;
    run.map(Json).ok_or_else(|| Failure::not_found("scoring run", id))
}
