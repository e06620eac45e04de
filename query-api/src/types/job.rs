//! What a reward model and a scoring run tell of their job.

use super::{Moment, names};
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};
use stash_domain::views::job::JobState;
use stash_domain::views::reward_model::{error_of, status_of};
use utoipa::ToSchema;

/// How the work stands: `status`, `error` and the times, as everywhere, and how far it is.
///
/// Read from the columns `job_state`, `job_error`, `job_started_at`, `job_finished_at`, `job_cancel_requested`, `job_phase` and
/// `job_fraction`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobFacts {
    /// `queued`, `running`, `succeeded` or `failed`. A cancelled job has failed, and the error says so.
    #[schema(value_type = names::Status)]
    pub status: &'static str,
    /// Why it failed and what to do; null unless it has.
    #[schema(required = true)]
    pub error: Option<String>,
    /// When the work first began.
    #[schema(required = true)]
    pub started_at: Option<Moment>,
    /// When it ended, well or not.
    #[schema(required = true)]
    pub finished_at: Option<Moment>,
    /// Whether someone asked for it to stop.
    pub cancel_requested: bool,
    /// What it is doing, such as `training`; null before it said so.
    #[schema(required = true)]
    pub phase: Option<String>,
    /// Share done, 0 to 1.
    pub progress: f64,
}

impl FromRow<'_, PgRow> for JobFacts {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        let state: &str = row.try_get("job_state")?;
        let state = JobState::of_name(state).ok_or_else(|| sqlx::Error::ColumnDecode {
            index: "job_state".to_owned(),
            source: format!("unknown state {state:?}").into(),
        })?;
        let error: Option<&str> = row.try_get("job_error")?;
        Ok(Self {
            status: status_of(state),
            error: error_of(state, error),
            started_at: row.try_get("job_started_at")?,
            finished_at: row.try_get("job_finished_at")?,
            cancel_requested: row.try_get("job_cancel_requested")?,
            phase: row.try_get("job_phase")?,
            progress: row.try_get("job_fraction")?,
        })
    }
}
