//! `GET /commands/{command_id}`: what became of a command that was answered with "pending".
//!
//! 1. Ask the log for its end, then wait until the read models have come that far.
//! 2. Look for the verdict. If there is none, the command was in no record that stood in the log when it was asked for: unknown.
//! 3. If the wait was too short to say so: pending.

use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::state::QueryState;
use crate::types::{CommandConflict, CommandState, CommandStatus};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use sqlx::FromRow;
use stash_domain::ids::OwnerId;
use stash_domain::position::{Offset, Partition, Position, PositionToken, partition_of};
use stash_infra::http::{At, Problem};
use stash_infra::identity::Caller;
use uuid::Uuid;

/// A row of the verdicts.
#[derive(FromRow)]
struct Row {
    verdict: String,
    stream: Option<String>,
    expected: Option<i64>,
    actual: Option<i64>,
    partition: i32,
    offset: i64,
}

impl Row {
    fn position(&self) -> Option<Position> {
        Some(Position {
            partition: Partition(u16::try_from(self.partition).ok()?),
            offset: Offset(u64::try_from(self.offset).ok()?),
        })
    }
}

/// Get the status of a command
///
/// For a command that was answered with 202 and `{"state": "pending"}`. Verdicts are remembered for at least seven days.
#[utoipa::path(
    get,
    operation_id = "get_command",
    path = "/commands/{command_id}",
    tag = "commands",
    params(("command_id" = Uuid, Path, description = "Its id, as the 202 named it")),
    responses((status = 200, description = "What became of it", body = CommandStatus)),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<impl IntoResponse, Failure> {
    let id = uuid(&path)?;
    let owner = caller.owner_id;
    if let Some(row) = find(&state, owner, id).await? {
        return answer(&state, id, row);
    }
    let current = read_models_are_current(&state, owner).await?;
    match find(&state, owner, id).await? {
        Some(row) => answer(&state, id, row),
        None if current => Err(Failure::not_found("command", id)),
        None => {
            let status = CommandStatus { command_id: id, state: CommandState::Pending, position: None, conflict: None };
            Ok((At(None), Json(status)))
        }
    }
}

async fn find(state: &QueryState, owner: OwnerId, id: Uuid) -> Result<Option<Row>, Failure> {
    let mut tx = state.begin(owner).await?;
    Ok(sqlx::query_as(include_str!("get.sql")).bind(owner.0).bind(id).fetch_optional(&mut *tx).await?)
}

/// Waits until the read models hold every record of the owner that is in the log now; false when the time runs out.
async fn read_models_are_current(state: &QueryState, owner: OwnerId) -> Result<bool, Failure> {
    let (log, gate) = (&state.parts().log, &state.parts().gate);
    let partition = partition_of(owner, log.partitions());
    let tail = log.tail(partition).await.map_err(Problem::from)?;
    let Some(last) = tail.0.checked_sub(1) else { return Ok(true) };
    Ok(gate.marks.wait_for(Position { partition, offset: Offset(last) }, gate.wait_budget).await)
}

fn answer(state: &QueryState, id: Uuid, row: Row) -> Result<(At, Json<CommandStatus>), Failure> {
    let position = row.position().map(|position| PositionToken::new(state.parts().gate.log, position));
    let conflict = match (row.stream, row.expected, row.actual) {
        (Some(stream), Some(expected), Some(actual)) => Some(CommandConflict { stream, expected, actual }),
        _ => None,
    };
    let state = match row.verdict.as_str() {
        "accepted" => CommandState::Accepted,
        "conflict" => CommandState::Conflict,
        other => return Err(Problem::internal(&format_args!("unknown verdict {other:?}")).into()),
    };
    let status = CommandStatus { command_id: id, state, position: position.map(|token| token.to_string()), conflict };
    Ok((At(position), Json(status)))
}
