//! Ends attempts whose worker is not heard of any more.
//!
//! A worker renews its lease six times in the lease's length; an attempt whose lease has run out is declared over by `JobLeaseExpired`, named
//! with the version of the job's stream, so that an end which the worker says at the same moment either comes first or is void.
//! After the last attempt the job is parked.

use crate::claim;
use crate::context::{Worker, WorkerError};
use stash_domain::error::Code;
use stash_domain::events::{Event, JobLeaseExpired, JobParked};
use stash_domain::limits::JOB_ATTEMPTS_MAX;
use stash_domain::record::{Append, Expected, StreamId};

/// Looks at all running jobs once. Returns how many attempts it ended.
///
/// # Errors
/// [`WorkerError`]; the next look finds what is left.
pub async fn reap(worker: &Worker) -> Result<usize, WorkerError> {
    let leases = worker.leases();
    let mut reaped = 0;
    for job in claim::running(worker).await? {
        // A claim gets its lease a moment after its record: until then, and for a worker that died in between, its own time counts.
        let since_us = worker.now().0.saturating_sub(job.updated_at.0);
        let fresh = since_us < i64::try_from(worker.lease.as_micros()).unwrap_or(i64::MAX);
        if fresh || leases.is_held(job.job).await? {
            continue;
        }
        let mut events: Vec<Event> = vec![JobLeaseExpired { job_id: job.job, attempt: job.attempt }.into()];
        if u32::try_from(job.attempt).unwrap_or(u32::MAX) >= JOB_ATTEMPTS_MAX {
            events.push(
                JobParked {
                    job_id: job.job,
                    attempt: job.attempt,
                    code: Code::Unavailable.as_str().to_owned(),
                    message: format!(
                        "the worker was lost {} times in a row, perhaps for want of memory; see its log, then start the job anew",
                        job.attempt
                    ),
                }
                .into(),
            );
        }
        let append = Append { stream: StreamId::Job(job.job), expected: Expected::Version(job.version), events };
        worker.say(job.owner, job.job, &format!("expired/{}/{}", job.attempt, job.version), vec![append]).await?;
        reaped += 1;
        metrics::counter!("stash_job_leases_expired_total").increment(1);
    }
    Ok(reaped)
}
