//! The worker's loop: take a job, do it, say what came of it.
//!
//! ```text
//! reap ─▶ candidate ─▶ claim ─▶ lease ─▶ do ──────────▶ one record: job completed + what it made
//!                                 ▲ heartbeat, watch    └▶ or: failed (retried, or for good), cancelled
//! ```
//! The record that ends an attempt names the version of the job's stream, read right before. If the lease has expired meanwhile,
//! or another attempt has begun, it is void and the work of this attempt is dropped.

use crate::claim::{self, Candidate};
use crate::context::{Said, Worker, WorkerError};
use crate::jobs::{self, Done, Failure, Running};
use crate::{reaper, scratch};
use stash_domain::error::Code;
use stash_domain::events::{Event, JobCancelled, JobCompleted, JobFailed, JobParked};
use stash_domain::limits::JOB_ATTEMPTS_MAX;
use stash_domain::record::{Append, Expected, StreamId};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often an idle worker looks for a job.
const IDLE_LOOK: Duration = Duration::from_millis(500);

/// How often a worker looks for attempts whose lease has expired, and at its own job for a request to stop.
const WATCH_LOOK: Duration = Duration::from_secs(1);

/// How often expired leases are looked for.
const REAP_LOOK: Duration = Duration::from_secs(10);

/// Attempts to say how a job ended, when its stream moves at the same moment.
const END_ATTEMPTS: u32 = 16;

/// Kinds of jobs, as figures name them.
const KINDS: [&str; 3] = ["train", "score", "purge"];

/// Works until the token is cancelled. A job that is running then goes on as long as `stop` gives its child to end; its lease
/// expires and another worker takes it up.
pub async fn run(worker: Arc<Worker>, stop: CancellationToken) {
    let mut reaped_at: Option<Instant> = None;
    while !stop.is_cancelled() {
        if reaped_at.is_none_or(|at| at.elapsed() >= REAP_LOOK) {
            if let Err(error) = reaper::reap(&worker).await {
                tracing::warn!(%error, "cannot look for expired leases");
            }
            if let Err(error) = scratch::sweep(&worker).await {
                tracing::warn!(%error, "cannot look for what jobs left behind");
            }
            reaped_at = Some(Instant::now());
        }
        match next(&worker, &stop).await {
            Ok(true) => {}
            Ok(false) => pause(&stop, IDLE_LOOK).await,
            Err(error) => {
                tracing::warn!(%error, "the worker could not get on with a job");
                pause(&stop, WATCH_LOOK).await;
            }
        }
    }
}

async fn pause(stop: &CancellationToken, time: Duration) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(time) => {}
    }
}

/// Does one job, if there is one.
async fn next(worker: &Arc<Worker>, stop: &CancellationToken) -> Result<bool, WorkerError> {
    let Some(found) = claim::candidate(worker).await? else { return Ok(false) };
    // What came first is to be seen in the read models in a moment; until then the same job would be proposed again.
    let Some(job) = claim::claim(worker, found).await? else { return Ok(false) };
    let (leases, lease) = (worker.leases(), worker.lease_of(&job));
    if !leases.acquire(&lease).await? {
        return Ok(true);
    }
    tracing::info!(job = %job.job, kind = job.kind, attempt = job.attempt, "job begun");
    let begun = Instant::now();
    let cancel = stop.child_token();
    let running = Running { worker: worker.clone(), job: job.clone(), cancel: cancel.clone(), stop: stop.clone() };
    let outcome = tokio::select! {
        outcome = jobs::run(&running) => outcome,
        () = watch(worker, &job, &cancel) => Err(Failure::superseded()),
    };
    if stop.is_cancelled() {
        // Nothing is said: the attempt is taken up by another worker when its lease has expired.
        leases.release(&lease).await?;
        return Ok(true);
    }
    let kind = KINDS.into_iter().find(|kind| *kind == job.kind).unwrap_or("other");
    metrics::histogram!("stash_job_seconds", "kind" => kind).record(begun.elapsed().as_secs_f64());
    end(worker, &job, outcome).await?;
    leases.release(&lease).await?;
    Ok(true)
}

/// Renews the lease and looks for a request to stop, for as long as the job runs. Resolves when the attempt is over for others.
async fn watch(worker: &Worker, job: &Candidate, cancel: &CancellationToken) {
    let (leases, lease) = (worker.leases(), worker.lease_of(job));
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(WATCH_LOOK).await;
        if renewed.elapsed() >= worker.lease / 6 {
            match leases.heartbeat(&lease).await {
                Ok(true) => renewed = Instant::now(),
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "cannot renew the job's lease"),
            }
        }
        match claim::look(worker, job.owner, job.job).await {
            Ok(Some((now, state))) if state == "running" && now.attempt == job.attempt => {
                if now.cancel_requested && !cancel.is_cancelled() {
                    tracing::info!(job = %job.job, "asked to stop");
                    cancel.cancel();
                }
            }
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "cannot look at the job"),
        }
    }
}

/// Says how an attempt ended, in one record with what it made.
async fn end(worker: &Worker, job: &Candidate, outcome: Result<Done, Failure>) -> Result<(), WorkerError> {
    for _ in 0..END_ATTEMPTS {
        let Some((now, state)) = claim::look(worker, job.owner, job.job).await? else { break };
        if state != "running" || now.attempt != job.attempt {
            break;
        }
        let (name, events, others) = ending(job, now.cancel_requested, &outcome);
        let mut appends =
            vec![Append { stream: StreamId::Job(job.job), expected: Expected::Version(now.version), events }];
        appends.extend(others);
        let key = format!("{name}/{}/{}", job.attempt, now.version);
        if worker.say(job.owner, job.job, &key, appends).await? == Said::Accepted {
            tracing::info!(job = %job.job, attempt = job.attempt, outcome = name, "job ended");
            metrics::counter!("stash_jobs_ended_total", "outcome" => name).increment(1);
            return Ok(());
        }
    }
    tracing::warn!(job = %job.job, attempt = job.attempt, "the attempt was over before it could say how it ended");
    Ok(())
}

/// The events that end an attempt, and those that stand beside them.
fn ending(
    job: &Candidate,
    cancel_requested: bool,
    outcome: &Result<Done, Failure>,
) -> (&'static str, Vec<Event>, Vec<Append>) {
    let (job_id, attempt) = (job.job, job.attempt);
    match outcome {
        Ok(done) => ("completed", vec![JobCompleted { job_id, attempt }.into()], done.appends.clone()),
        Err(failure) if failure.code == Code::Cancelled && cancel_requested => {
            ("cancelled", vec![JobCancelled { job_id, attempt }.into()], Vec::new())
        }
        Err(failure) => {
            let last = u32::try_from(attempt).unwrap_or(u32::MAX) >= JOB_ATTEMPTS_MAX;
            let failed = JobFailed {
                job_id,
                attempt,
                code: failure.code.as_str().to_owned(),
                message: failure.message.clone(),
                retry: failure.retry,
            };
            let mut events: Vec<Event> = vec![failed.clone().into()];
            if failure.retry && last {
                let JobFailed { code, message, .. } = failed;
                events.push(JobParked { job_id, attempt, code, message }.into());
            }
            ("failed", events, Vec::new())
        }
    }
}
