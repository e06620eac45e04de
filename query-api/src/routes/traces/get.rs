//! `GET /traces/{trace_id}`: a whole trace with what people and models said about it.
//!
//! One transaction, so that steps, annotations and scores belong together, and an answer written piece by piece: a trace may be
//! larger than memory.

use crate::body::{self, BodyError, Writer};
use crate::content::{Spans, Steps};
use crate::errors::Failure;
use crate::ids::{PathId, trace_id};
use crate::state::QueryState;
use crate::types::{ActionScore, Annotation, JsonText, Moment, ScoringRun, TraceDetail, TraceScore, TraceSummary};
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use sqlx::FromRow;
use stash_domain::ids::OwnerId;
use stash_infra::identity::Caller;
use stash_infra::postgres::OwnerTx;
use uuid::Uuid;

/// The trace as a page of one.
const SUMMARY: &str =
    concat!(include_str!("list/common.sql"), include_str!("get/page.sql"), include_str!("list/summary.sql"));

/// The scores that count.
const SCORES: &str = concat!(include_str!("list/common.sql"), include_str!("get/scores.sql"));

/// Annotations and action scores that are read at once.
const ROWS_MAX: i64 = 1000;

/// What stands before the arrays.
#[derive(FromRow, Serialize)]
struct Head {
    #[serde(flatten)]
    #[sqlx(flatten)]
    summary: TraceSummary,
    #[sqlx(rename = "shown_metadata")]
    metadata: JsonText,
    #[serde(skip)]
    span_count: i32,
}

/// An action score and the index of its step.
#[derive(FromRow)]
struct ActionScoreRow {
    idx: i32,
    #[sqlx(flatten)]
    score: ActionScore,
}

/// Get a trace
///
/// The whole trace: steps, spans, annotations, scores and scoring runs. A large one is streamed.
#[utoipa::path(
    get,
    operation_id = "get_trace",
    path = "/traces/{trace_id}",
    tag = "traces",
    params(("trace_id" = String, Path, description = "Its id, or `external:<id it has where it was recorded>`")),
    responses((status = 200, description = "The trace", body = TraceDetail)),
)]
pub(crate) async fn get(
    State(state): State<QueryState>,
    caller: Caller,
    PathId(path): PathId,
) -> Result<Response, Failure> {
    let owner = caller.owner_id;
    let id = trace_id(owner, &path)?.0;
    let mut tx = state.begin(owner).await?;
    let head: Option<Head> =
        sqlx::query_as(SUMMARY).bind(owner.0).bind(None::<Uuid>).bind(id).fetch_optional(&mut *tx).await?;
    let head = head.ok_or_else(|| Failure::not_found("trace", &path))?;
    let work = |writer| write(writer, tx, owner, head);
    Ok(body::respond(body::JSON, state.long_answers(), work).await?)
}

async fn write(mut writer: Writer, mut tx: OwnerTx, owner: OwnerId, head: Head) -> Result<Writer, BodyError> {
    let trace = head.summary.id;
    writer.open_object(&head)?;
    write_steps(&mut writer, &mut tx, owner, &head).await?;
    write_spans(&mut writer, &mut tx, owner, &head).await?;
    write_annotations(&mut writer, &mut tx, owner, trace).await?;
    let scores: Vec<TraceScore> =
        sqlx::query_as(SCORES).bind(owner.0).bind(None::<Uuid>).bind(trace).fetch_all(&mut *tx).await?;
    writer.raw(",\"scores\":");
    writer.json(&scores)?;
    write_action_scores(&mut writer, &mut tx, owner, trace).await?;
    let runs: Vec<ScoringRun> =
        sqlx::query_as(include_str!("get/scoring_runs.sql")).bind(owner.0).bind(trace).fetch_all(&mut *tx).await?;
    writer.raw(",\"scoring_runs\":");
    writer.json(&runs)?;
    writer.raw("}");
    Ok(writer)
}

async fn write_steps(writer: &mut Writer, tx: &mut OwnerTx, owner: OwnerId, head: &Head) -> Result<(), BodyError> {
    let mut steps = Steps::of(owner, [(head.summary.id, head.summary.step_count)]);
    let mut first = true;
    writer.raw(",\"steps\":[");
    loop {
        let piece = steps.next(tx).await?;
        if piece.is_empty() {
            break;
        }
        for (_, step) in &piece {
            writer.item(&mut first, step)?;
            writer.pause().await?;
        }
    }
    writer.raw("]");
    Ok(())
}

async fn write_spans(writer: &mut Writer, tx: &mut OwnerTx, owner: OwnerId, head: &Head) -> Result<(), BodyError> {
    writer.raw(",\"spans\":");
    Spans::of(owner, head.summary.id, head.span_count).write(tx, writer).await
}

async fn write_annotations(
    writer: &mut Writer,
    tx: &mut OwnerTx,
    owner: OwnerId,
    trace: Uuid,
) -> Result<(), BodyError> {
    let mut first = true;
    let mut after = (Moment(i64::MIN), Uuid::nil());
    writer.raw(",\"annotations\":[");
    loop {
        let rows: Vec<Annotation> = sqlx::query_as(include_str!("get/annotations.sql"))
            .bind(owner.0)
            .bind(trace)
            .bind(after.0)
            .bind(after.1)
            .bind(ROWS_MAX)
            .fetch_all(&mut **tx)
            .await?;
        for row in &rows {
            after = (row.created_at, row.id);
            writer.item(&mut first, row)?;
            writer.pause().await?;
        }
        if i64::try_from(rows.len()).is_ok_and(|count| count < ROWS_MAX) {
            break;
        }
    }
    writer.raw("]");
    Ok(())
}

async fn write_action_scores(
    writer: &mut Writer,
    tx: &mut OwnerTx,
    owner: OwnerId,
    trace: Uuid,
) -> Result<(), BodyError> {
    let mut first = true;
    let mut after = (Uuid::nil(), -1);
    writer.raw(",\"action_scores\":[");
    loop {
        let rows: Vec<ActionScoreRow> = sqlx::query_as(include_str!("get/action_scores.sql"))
            .bind(owner.0)
            .bind(trace)
            .bind(after.0)
            .bind(after.1)
            .bind(ROWS_MAX)
            .fetch_all(&mut **tx)
            .await?;
        for row in &rows {
            after = (row.score.reward_model_id, row.idx);
            writer.item(&mut first, &row.score)?;
            writer.pause().await?;
        }
        if i64::try_from(rows.len()).is_ok_and(|count| count < ROWS_MAX) {
            break;
        }
    }
    writer.raw("]");
    Ok(())
}
