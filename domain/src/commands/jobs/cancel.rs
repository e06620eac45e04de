//! Asks a job to stop. One that no worker has begins no more; a running one is stopped by its worker.

use crate::commands::Rejection;
use crate::error::Code;
use crate::events::{JobCancelRequested, JobCancelled};
use crate::ids::JobId;
use crate::record::{Append, Expected, StreamId};
use crate::views::job::JobState;

/// What the command depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The job.
    pub job_id: JobId,
    /// Where it is.
    pub state: JobState,
    /// Its latest attempt.
    pub attempt: i32,
    /// Version of its stream.
    pub version: u64,
}

/// The events. The version is named, so that a worker which claims the job at the same moment either comes first, and then is
/// the one to stop, or not at all.
///
/// # Errors
/// [`Code::VersionConflict`] when the job is over.
pub fn decide(job: &View) -> Result<Vec<Append>, Rejection> {
    if job.state.is_over() {
        let detail = format!("the job is over ({}): there is nothing to cancel", job.state.name());
        return Err(Rejection::new(Code::VersionConflict, detail));
    }
    let mut events = vec![JobCancelRequested { job_id: job.job_id }.into()];
    if job.state == JobState::Queued {
        events.push(JobCancelled { job_id: job.job_id, attempt: job.attempt }.into());
    }
    Ok(vec![Append { stream: StreamId::Job(job.job_id), expected: Expected::Version(job.version), events }])
}
