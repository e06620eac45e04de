//! Asks a job to stop. One that no worker has begins no more; a running one is stopped by its worker.

use crate::commands::Rejection;
use crate::error::Code;
use crate::events::{JobCancelRequested, JobCancelled};
use crate::record::{Append, Expected, StreamId};
use crate::views::job::{Job, JobState};

/// The events. The version is named, so that a worker which claims the job at the same moment either comes first, and then is
/// the one to stop, or not at all.
///
/// # Errors
/// [`Code::VersionConflict`] when the job is over.
pub fn decide(job: &Job) -> Result<Vec<Append>, Rejection> {
    if job.state.is_over() {
        return Err(Rejection::new(
            Code::VersionConflict,
            format!("the job is over ({}): there is nothing to cancel", job.state.name()),
        ));
    }
    let mut events = vec![JobCancelRequested { job_id: job.id }.into()];
    if job.state == JobState::Queued {
        events.push(JobCancelled { job_id: job.id, attempt: job.attempt }.into());
    }
    Ok(vec![Append { stream: StreamId::Job(job.id), expected: Expected::Version(job.version), events }])
}
