//! A scoring of one trace by one model.

use super::{JobFacts, Moment};
use serde::Serialize;
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A scoring run.
#[derive(Clone, Debug, Serialize, ToSchema, FromRow)]
pub struct ScoringRun {
    /// Its id.
    pub id: Uuid,
    /// The trace.
    pub trace_id: Uuid,
    /// The model.
    pub reward_model_id: Uuid,
    /// How the work stands.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub job: JobFacts,
    /// Arithmetic of the scores that it computed, such as `bf16`; null before it has succeeded, and where every text had its score
    /// already.
    #[schema(required = true)]
    pub precision: Option<String>,
    /// When it was asked for.
    pub created_at: Moment,
}
