//! What the tests share: a data folder, a running `stash`, a client with its key.

mod client;
mod folder;
pub(crate) mod sessions;
mod stash;

pub(crate) use client::Client;
pub(crate) use folder::Folder;
pub(crate) use stash::{Stash, command, run, run_json};

use std::time::{Duration, Instant};

/// How long anything that is waited for may take before the test fails: far longer than on the slowest machine.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// How long a whole job may take: minutes of computing, on a machine that may do other things beside.
const JOB_MAX: Duration = Duration::from_secs(1200);

/// Asks until there is an answer.
pub(crate) async fn eventually<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(WAIT_MAX, what, look).await
}

/// Asks until a job has ended.
pub(crate) async fn job_end<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(JOB_MAX, what, look).await
}

async fn within<T>(limit: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begin.elapsed() < limit, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
