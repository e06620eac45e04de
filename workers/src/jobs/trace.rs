//! A trace's steps as a job renders them.

use super::Failure;
use crate::context::Worker;
use serde_json::{Map, Value};
use stash_domain::ids::{OwnerId, StepId, TraceId};
use stash_domain::trace::Step;
use uuid::Uuid;

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
    let tool_input: Option<Map<String, Value>> =
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
