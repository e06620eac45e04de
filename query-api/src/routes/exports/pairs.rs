//! `GET /export/pairs`: the pairs that the caller's ratings make now, or exactly those a model was trained on.

use super::targets;
use super::texts::Texts;
use crate::body::{self, BodyError, Writer};
use crate::errors::Failure;
use crate::params::{Params, invalid};
use crate::state::QueryState;
use crate::types::{JsonText, Pair};
use axum::extract::State;
use axum::response::Response;
use http::Uri;
use serde::Serialize;
use sqlx::FromRow;
use stash_domain::ids::OwnerId;
use stash_domain::learning::frame::{Granularity, Source};
use stash_domain::learning::pairs::from_ratings;
use stash_domain::limits::{PAIRS_DEFAULT, PAIRS_MAX};
use stash_domain::trace::ActionType;
use stash_infra::http::Problem;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use utoipa::IntoParams;
use uuid::Uuid;

/// Pairs of a piece.
const PAIRS_PIECE: i64 = 500;

/// Bytes of text of a piece.
const PIECE_BYTES: i64 = 4 * 1024 * 1024;

/// The parameters, for the API description; they are read by hand, strictly.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "only describes")]
pub(crate) struct PairsParams {
    /// Give exactly the pairs that this model was trained and evaluated on, instead of those that the ratings make now.
    reward_model_id: Option<Uuid>,
    /// Most pairs to make of the ratings; as in a training.
    #[param(minimum = 1, maximum = 100_000, default = 4000)]
    max_pairs: Option<i64>,
    /// Seed of the choice among the possible pairs; as in a training.
    #[param(default = 0)]
    seed: Option<i64>,
}

/// Export pairs
///
/// One pair a line: a preferred text, a worse one, and the traces they are from. Without `reward_model_id`, what a training on
/// all traces would be given, of the newest 100,000 ratings.
#[utoipa::path(
    get,
    operation_id = "export_pairs",
    path = "/export/pairs",
    tag = "export",
    params(PairsParams),
    responses((status = 200, description = "JSON lines", content_type = "application/jsonl", body = Pair)),
)]
pub(crate) async fn pairs(State(state): State<QueryState>, caller: Caller, uri: Uri) -> Result<Response, Failure> {
    let mut params = Params::of(&uri)?;
    let model = params.uuid("reward_model_id")?;
    let max_pairs = max_pairs(&mut params)?;
    let seed: i64 = params.parsed("seed", "a whole number")?.unwrap_or(0);
    params.end()?;
    let owner = caller.owner_id;
    let mut tx = state.begin(owner).await?;
    let answer = match model {
        None => {
            let work = |writer| write_of_ratings(writer, tx, owner, max_pairs, seed);
            body::respond(body::JSON_LINES, state.long_answers(), work).await
        }
        Some(model) => {
            let exists: bool = sqlx::query_scalar(include_str!("model_exists.sql"))
                .bind(owner.0)
                .bind(model)
                .fetch_one(&mut *tx)
                .await?;
            if !exists {
                return Err(Failure::not_found("reward model", model));
            }
            body::respond(body::JSON_LINES, state.long_answers(), |writer| write_of_model(writer, tx, owner, model))
                .await
        }
    };
    Ok(answer?)
}

fn max_pairs(params: &mut Params) -> Result<usize, Problem> {
    let max_pairs: u32 = params.parsed("max_pairs", "a whole number")?.unwrap_or(PAIRS_DEFAULT);
    if !(1..=PAIRS_MAX).contains(&max_pairs) {
        return Err(invalid("max_pairs", format_args!("must be from 1 to {PAIRS_MAX}")));
    }
    Ok(usize::try_from(max_pairs).unwrap_or(usize::MAX))
}

/// What stands beside the texts of a pair.
#[derive(Serialize)]
struct Beside {
    trace_ids: Vec<Uuid>,
    granularity: Granularity,
    action_type: Option<ActionType>,
    source: Source,
    /// Both null: people rated what was done.
    generated: Option<()>,
    evidence: Option<()>,
}

async fn write_of_ratings(
    mut writer: Writer,
    mut tx: OwnerTx,
    owner: OwnerId,
    max_pairs: usize,
    seed: i64,
) -> Result<Writer, BodyError> {
    let (targets, places) = targets::load(&mut tx, owner).await?;
    // Of many targets this is work for the processor, which must not hold up other requests.
    let chosen = tokio::task::spawn_blocking(move || {
        let pairs = from_ratings(&targets, max_pairs, seed);
        (targets, pairs)
    });
    let (targets, pairs) = chosen.await.map_err(|_| BodyError::Panicked)?;
    let mut texts = Texts::of(owner, places);
    for pair in pairs {
        let chosen = &targets[pair.chosen];
        let mut trace_ids = vec![texts.place(pair.chosen).trace_id, texts.place(pair.rejected).trace_id];
        trace_ids.dedup();
        let action_type = chosen.action_type;
        let granularity = if action_type.is_some() { Granularity::Action } else { Granularity::Trace };
        writer.raw("{\"chosen\":");
        texts.write(pair.chosen, &mut tx, &mut writer).await?;
        writer.raw(",\"rejected\":");
        texts.write(pair.rejected, &mut tx, &mut writer).await?;
        let beside = serde_json::to_string(&Beside {
            trace_ids,
            granularity,
            action_type,
            source: Source::ExplicitRating,
            generated: None,
            evidence: None,
        })?;
        // The rest of the line's object, its opening brace replaced.
        writer.raw(",");
        writer.raw(&beside[1..]);
        writer.raw("\n");
        writer.pause().await?;
    }
    Ok(writer)
}

/// A stored pair.
#[derive(FromRow)]
struct Row {
    ordinal: i32,
    chosen: String,
    rejected: String,
    chosen_trace_id: Uuid,
    rejected_trace_id: Uuid,
    granularity: String,
    action_type: Option<String>,
    source: String,
    generated: Option<String>,
    evidence: Option<JsonText>,
}

async fn write_of_model(mut writer: Writer, mut tx: OwnerTx, owner: OwnerId, model: Uuid) -> Result<Writer, BodyError> {
    let mut after = -1;
    loop {
        let rows: Vec<Row> = sqlx::query_as(include_str!("model_pairs.sql"))
            .bind(owner.0)
            .bind(model)
            .bind(after)
            .bind(PAIRS_PIECE)
            .bind(PIECE_BYTES)
            .fetch_all(&mut *tx)
            .await?;
        let Some(last) = rows.last() else { return Ok(writer) };
        after = last.ordinal;
        for row in rows {
            let mut trace_ids = vec![row.chosen_trace_id, row.rejected_trace_id];
            trace_ids.dedup();
            writer.json(&Pair {
                chosen: row.chosen,
                rejected: row.rejected,
                trace_ids,
                granularity: row.granularity,
                action_type: row.action_type,
                source: row.source,
                generated: row.generated,
                evidence: row.evidence,
            })?;
            writer.raw("\n");
            writer.pause().await?;
        }
    }
}
