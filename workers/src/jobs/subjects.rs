//! Content keys of traces, for what is derived from them.

use super::Failure;
use crate::context::Worker;
use stash_domain::ids::{OwnerId, SubjectId, TraceId};
use stash_infra::subject_keys::SubjectKey;
use std::collections::HashMap;
use uuid::Uuid;

/// The current content key of each of these traces; none for a trace that was deleted.
///
/// # Errors
/// Those of the database.
pub async fn keys(
    worker: &Worker,
    owner: OwnerId,
    traces: &[TraceId],
) -> Result<HashMap<TraceId, SubjectKey>, Failure> {
    let ids: Vec<Uuid> = traces.iter().map(|id| id.0).collect();
    let rows: Vec<(Uuid, Uuid)> =
        sqlx::query_as(include_str!("subjects.sql")).bind(owner.0).bind(ids).fetch_all(&worker.pool).await?;
    let subjects: Vec<SubjectId> = rows.iter().map(|(_, subject)| SubjectId(*subject)).collect();
    let keys = worker.keys.get(owner, &subjects).await.map_err(Failure::may_pass)?;
    Ok(rows
        .into_iter()
        .filter_map(|(trace, subject)| Some((TraceId(trace), keys.get(&SubjectId(subject))?.clone())))
        .collect())
}
