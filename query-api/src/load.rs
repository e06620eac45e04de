//! Single things as their read routes give them, for commands that answer with what they changed.

use crate::types::{Annotation, LlmModels, LlmProcessing, LlmUse, RewardModel, ScoringRun, TraceTitle};
use sqlx::PgConnection;
use stash_domain::ids::{AnnotationId, OwnerId, RewardModelId, ScoringRunId, TraceId};
use stash_domain::llm::LlmPurpose;
use uuid::Uuid;

/// An annotation of the owner.
///
/// # Errors
/// Those of the database.
pub async fn annotation(
    tx: &mut PgConnection,
    owner: OwnerId,
    id: AnnotationId,
) -> Result<Option<Annotation>, sqlx::Error> {
    Ok(annotations(tx, owner, &[id]).await?.pop())
}

/// Those of these annotations that the owner has, in any order.
pub(crate) async fn annotations(
    tx: &mut PgConnection,
    owner: OwnerId,
    ids: &[AnnotationId],
) -> Result<Vec<Annotation>, sqlx::Error> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    sqlx::query_as(include_str!("routes/annotations/get.sql")).bind(owner.0).bind(ids).fetch_all(tx).await
}

/// A reward model of the owner.
///
/// # Errors
/// Those of the database.
pub async fn reward_model(
    tx: &mut PgConnection,
    owner: OwnerId,
    id: RewardModelId,
) -> Result<Option<RewardModel>, sqlx::Error> {
    sqlx::query_as(include_str!("routes/reward_models/get.sql")).bind(owner.0).bind(id.0).fetch_optional(tx).await
}

/// A scoring run of the owner.
///
/// # Errors
/// Those of the database.
pub async fn scoring_run(
    tx: &mut PgConnection,
    owner: OwnerId,
    id: ScoringRunId,
) -> Result<Option<ScoringRun>, sqlx::Error> {
    sqlx::query_as(include_str!("routes/scoring_runs/get.sql")).bind(owner.0).bind(id.0).fetch_optional(tx).await
}

/// The title of a trace of the owner.
///
/// # Errors
/// Those of the database.
pub async fn trace_title(
    tx: &mut PgConnection,
    owner: OwnerId,
    id: TraceId,
) -> Result<Option<TraceTitle>, sqlx::Error> {
    sqlx::query_as(include_str!("routes/traces/title.sql")).bind(owner.0).bind(id.0).fetch_optional(tx).await
}

/// What the owner allows language models to be used for.
///
/// # Errors
/// Those of the database.
pub async fn llm_processing(
    tx: &mut PgConnection,
    owner: OwnerId,
    models: &LlmModels,
) -> Result<LlmProcessing, sqlx::Error> {
    let said: Vec<(String, bool)> =
        sqlx::query_as(include_str!("routes/llm/processing.sql")).bind(owner.0).fetch_all(tx).await?;
    let of = |purpose: LlmPurpose, model: &Option<String>| LlmUse {
        allowed: said.iter().find(|(name, _)| name == purpose.name()).is_none_or(|(_, allowed)| *allowed),
        model: model.clone(),
    };
    Ok(LlmProcessing {
        titles: of(LlmPurpose::Titles, &models.titles),
        learning: of(LlmPurpose::Learning, &models.learning),
    })
}
