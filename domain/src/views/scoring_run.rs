//! A scoring run. Its status, error and times of work are those of its job, joined when it is read, so it never changes.

use super::Context;
use crate::events::Event;
use crate::ids::{JobId, RewardModelId, ScoringRunId, TraceId};
use crate::time::Timestamp;

/// A scoring run's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoringRun {
    /// Its id.
    pub id: ScoringRunId,
    /// The job that does it.
    pub job_id: JobId,
    /// The trace.
    pub trace_id: TraceId,
    /// The model.
    pub reward_model_id: RewardModelId,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// The row that an event makes; none for any other event.
pub fn made(event: &Event, context: Context) -> Option<ScoringRun> {
    match event {
        Event::ScoringRequested(event) => Some(ScoringRun {
            id: event.run_id,
            job_id: event.job_id,
            trace_id: event.trace_id,
            reward_model_id: event.reward_model_id,
            created_at: context.recorded_at,
        }),
        _ => None,
    }
}
