//! A trace with its comments, from the read models.

use crate::context::Worker;
use crate::jobs::Failure;
use stash_domain::annotation::AnnotationSource;
use stash_domain::ids::{OwnerId, StepId, TraceId};
use stash_domain::json::Object;
use stash_domain::learning::extraction::material::is_origin_of_person;
use stash_domain::learning::extraction::{Comment, IdStep, Material};
use stash_domain::trace::Step;
use std::sync::Arc;
use uuid::Uuid;

#[derive(sqlx::FromRow)]
struct StepRow {
    step_id: Uuid,
    role: String,
    content: String,
    tool_name: Option<String>,
    tool_input: Option<String>,
    tool_call_id: Option<String>,
    metadata: Option<String>,
}

#[derive(sqlx::FromRow)]
struct CommentRow {
    annotation_id: Uuid,
    step_id: Option<Uuid>,
    comment: String,
    label_error: bool,
    source: Option<String>,
}

/// The trace; without steps when it is gone.
pub(super) async fn load(worker: &Worker, owner: OwnerId, trace: TraceId) -> Result<Arc<Material>, Failure> {
    let steps: Vec<StepRow> =
        sqlx::query_as(include_str!("steps.sql")).bind(owner.0).bind(trace.0).fetch_all(&worker.pool).await?;
    let comments: Vec<CommentRow> =
        sqlx::query_as(include_str!("comments.sql")).bind(owner.0).bind(trace.0).fetch_all(&worker.pool).await?;
    let steps = steps.into_iter().map(step).collect::<Result<_, _>>()?;
    Ok(Material::of(trace, steps, comments.into_iter().map(comment).collect()))
}

fn step(row: StepRow) -> Result<IdStep, Failure> {
    let damaged = |column: &str| Failure::internal(format_args!("rm_steps.{column} holds what Stash never writes"));
    let object = |text: Option<String>, column| -> Result<Option<Object>, Failure> {
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| damaged(column))
    };
    let step = Step {
        role: row.role.parse().map_err(|_| damaged("role"))?,
        content: row.content,
        tool_name: row.tool_name,
        tool_input: object(row.tool_input, "tool_input")?,
        tool_call_id: row.tool_call_id,
        metadata: object(row.metadata, "metadata")?,
    };
    Ok(IdStep { id: row.step_id.into(), step })
}

fn comment(row: CommentRow) -> Comment {
    // One that is written here has no source. A source that cannot be read is not taken for a person.
    let by_person = row.source.is_none_or(|text| {
        serde_json::from_str::<AnnotationSource>(&text)
            .is_ok_and(|source| is_origin_of_person(source.origin.as_deref()))
    });
    Comment {
        annotation_id: row.annotation_id.into(),
        step_id: row.step_id.map(StepId),
        text: row.comment,
        label_error: row.label_error,
        by_person,
    }
}
