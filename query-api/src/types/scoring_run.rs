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
    /// When it was asked for.
    pub created_at: Moment,
}
