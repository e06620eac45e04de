//! A trace's steps as a job renders them.

use super::Failure;
use crate::context::Worker;
use stash_domain::ids::{OwnerId, StepId, TraceId};
use stash_domain::json::Object;
use stash_domain::trace::Step;
use uuid::Uuid;

/// Most steps of a page.
const PAGE_STEPS: i64 = 256;

/// Bytes of content after which a page takes no further step. A step that alone is larger makes a page by itself.
const PAGE_BYTES: i64 = 4 << 20;

/// A step with its id.
#[derive(Clone, Debug, PartialEq)]
pub struct IdStep {
    /// Its id.
    pub id: StepId,
    /// The step, without metadata, which no model reads.
    pub step: Step,
}

#[derive(sqlx::FromRow)]
struct Row {
    step_id: Uuid,
    role: String,
    content: String,
    tool_name: Option<String>,
    tool_input: Option<String>,
}

#[derive(sqlx::FromRow)]
struct PagedRow {
    idx: i32,
    #[sqlx(flatten)]
    row: Row,
}

/// The next steps of a trace after the one at `after`, and the place of the last of them; none when there are no more.
///
/// # Errors
/// Those of the database.
pub async fn page(
    worker: &Worker,
    owner: OwnerId,
    trace: TraceId,
    after: Option<i32>,
) -> Result<Option<(Vec<IdStep>, i32)>, Failure> {
    let rows: Vec<PagedRow> = sqlx::query_as(include_str!("steps_page.sql"))
        .bind(owner.0)
        .bind(trace.0)
        .bind(after.unwrap_or(-1))
        .bind(PAGE_STEPS)
        .bind(PAGE_BYTES)
        .fetch_all(&worker.pool)
        .await?;
    let Some(last) = rows.last().map(|row| row.idx) else { return Ok(None) };
    let steps: Result<Vec<IdStep>, Failure> = rows.into_iter().map(|paged| step(paged.row)).collect();
    Ok(Some((steps?, last)))
}

/// The steps of a trace in order; empty when it is gone.
///
/// # Errors
/// Those of the database.
pub async fn steps(worker: &Worker, owner: OwnerId, trace: TraceId) -> Result<Vec<IdStep>, Failure> {
    let rows: Vec<Row> =
        sqlx::query_as(include_str!("steps.sql")).bind(owner.0).bind(trace.0).fetch_all(&worker.pool).await?;
    rows.into_iter().map(step).collect()
}

fn step(row: Row) -> Result<IdStep, Failure> {
    let damaged = |column: &str| Failure::internal(format_args!("rm_steps.{column} holds what Stash never writes"));
    let tool_input: Option<Object> =
        row.tool_input.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| damaged("tool_input"))?;
    let step = Step {
        role: row.role.parse().map_err(|_| damaged("role"))?,
        content: row.content,
        tool_name: row.tool_name,
        tool_input,
        tool_call_id: None,
        metadata: None,
    };
    Ok(IdStep { id: row.step_id.into(), step })
}
