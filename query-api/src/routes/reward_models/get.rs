//! `GET /reward-models/{reward_model_id}`: a model with the traces it was given and what was learnt from them.
//!
//! There may be a finding for every action of every trace, so that the answer is written piece by piece.

use crate::body::{self, BodyError, Writer};
use crate::errors::Failure;
use crate::ids::{PathId, uuid};
use crate::load;
use crate::state::QueryState;
use crate::types::{Finding, Learning, MadeOf, RewardModel, RewardModelDetail};
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use sqlx::FromRow;
use stash_domain::ids::OwnerId;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use uuid::Uuid;

/// Findings that are read at once, at most about 12 KiB each.
const FINDINGS_PIECE: i64 = 500;

/// What stands before the findings.
#[derive(Serialize)]
struct Head {
    #[serde(flatten)]
    model: RewardModel,
    trace_ids: Vec<Uuid>,
    #[serde(flatten)]
    made_of: MadeOf,
    learning: Option<Learning>,
}

/// A finding and its number.
#[derive(FromRow)]
struct FindingRow {
    ordinal: i32,
    #[sqlx(flatten)]
    finding: Finding,
}

/// Get a reward model
///
/// The model, the traces it was given, and what was learnt from each of their actions.
#[utoipa::path(
    get,
    operation_id = "get_reward_model",
    path = "/reward-models/{reward_model_id}",
    tag = "reward models",
    params(("reward_model_id" = uuid::Uuid, Path, description = "Its id")),
    responses((status = 200, description = "The model", body = RewardModelDetail)),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<Response, Failure> {
    let id = uuid(&path)?;
    let owner = caller.owner_id;
    let mut tx = state.begin(owner).await?;
    let model = load::reward_model(&mut tx, owner, id.into()).await?;
    let model = model.ok_or_else(|| Failure::not_found("reward model", id))?;
    // As many as one model may be given, which is bounded.
    let trace_ids = sqlx::query_scalar(include_str!("traces.sql")).bind(owner.0).bind(id).fetch_all(&mut *tx).await?;
    let made_of = sqlx::query_as(include_str!("provenance.sql")).bind(owner.0).bind(id).fetch_one(&mut *tx).await?;
    let learning: Option<Learning> =
        sqlx::query_as(include_str!("learning.sql")).bind(owner.0).bind(id).fetch_optional(&mut *tx).await?;
    let head = Head { model, trace_ids, made_of, learning };
    Ok(body::respond(body::JSON, state.long_answers(), |writer| write(writer, tx, owner, head)).await?)
}

async fn write(mut writer: Writer, mut tx: OwnerTx, owner: OwnerId, head: Head) -> Result<Writer, BodyError> {
    writer.open_object(&head)?;
    writer.raw(",\"feedback\":");
    match head.learning {
        Some(_) => write_findings(&mut writer, &mut tx, owner, head.model.id).await?,
        // Not an empty list: nobody looked, or not yet.
        None => writer.raw("null"),
    }
    writer.raw("}");
    Ok(writer)
}

async fn write_findings(writer: &mut Writer, tx: &mut OwnerTx, owner: OwnerId, model: Uuid) -> Result<(), BodyError> {
    let (mut first, mut after) = (true, -1);
    writer.raw("[");
    loop {
        let rows: Vec<FindingRow> = sqlx::query_as(include_str!("findings.sql"))
            .bind(owner.0)
            .bind(model)
            .bind(after)
            .bind(FINDINGS_PIECE)
            .fetch_all(&mut **tx)
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.ordinal;
        for row in &rows {
            writer.item(&mut first, &row.finding)?;
            writer.pause().await?;
        }
    }
    writer.raw("]");
    Ok(())
}
