//! Titles for traces that come without one.
//!
//! Beside the jobs, since a title takes a second and must not wait behind a training:
//!
//! 1. [`turn`]: of all workers of a deployment, one writes titles.
//! 2. [`wanted`]: traces that somebody asked a title for, then the newest without one, of accounts that allow it.
//! 3. [`write`]: the beginning of the trace is shown to the model; what it answers, or why it gave nothing, becomes an event.
//!
//! Invariants: what an account forbids is not sent, not even within a round that has begun. A trace whose title failed is not asked
//! about again by itself; only faults that say nothing about the trace are (a provider that is away, a key that is wrong), with
//! growing pauses. At most [`AT_ONCE`] calls are under way, and after a crash at most those are made again.

#[cfg(test)]
mod tests;
mod turn;
mod wanted;
mod write;

use crate::context::Worker;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use stash_infra::llm::Llm;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use turn::Turn;
use write::Outcome;

/// Calls under way.
const AT_ONCE: usize = 4;

/// Traces of a round.
const ROUND: usize = 16;

/// The shortest pause when there is nothing to do.
const IDLE: Duration = Duration::from_secs(2);

/// A look that finds nothing costs at most one part in so many of the time.
const IDLE_SHARE: u32 = 20;

/// How often a worker whose turn it is not asks again.
const ELSEWHERE: Duration = Duration::from_secs(15);

/// The first pause after a fault that may pass; each further one is twice as long.
const FAULT: Duration = Duration::from_secs(15);

/// The longest.
const FAULT_MAX: Duration = Duration::from_secs(15 * 60);

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// Titles were written, or are known to fail.
    Done,
    /// There was nothing to do; how long it took to find out.
    Nothing(Duration),
    /// It is another worker's turn.
    Elsewhere,
    /// The provider, the database or the log is away.
    Fault,
}

/// Writes titles until the token is cancelled. Calls under way are then dropped where they are.
pub async fn run(worker: Arc<Worker>, stop: CancellationToken) {
    let Some(llm) = worker.titles.clone() else { return };
    let mut turn = Turn::default();
    let mut faults = 0;
    loop {
        let round = tokio::select! {
            () = stop.cancelled() => return,
            round = round(&worker, &*llm, &mut turn) => round,
        };
        faults = if round == Round::Fault { faults + 1 } else { 0 };
        let pause = match round {
            Round::Done => continue,
            Round::Nothing(took) => IDLE.max(took * IDLE_SHARE),
            Round::Elsewhere => ELSEWHERE,
            Round::Fault => pause_after(faults),
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// The pause after so many faults in a row.
fn pause_after(faults: u32) -> Duration {
    FAULT.saturating_mul(1 << faults.saturating_sub(1).min(10)).min(FAULT_MAX)
}

/// Writes the titles of some traces.
async fn round(worker: &Worker, llm: &dyn Llm, turn: &mut Turn) -> Round {
    let began = Instant::now();
    let found = match turn.take(&worker.pool).await {
        Ok(None) => return Round::Elsewhere,
        Ok(Some(connection)) => wanted::find(connection, worker.now(), ROUND).await,
        Err(error) => Err(error),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "traces without a title cannot be looked for");
            turn.give_up();
            return Round::Fault;
        }
    };
    let (mut running, mut outcomes) = (FuturesUnordered::new(), Vec::with_capacity(found.len()));
    for wanted in &found {
        if running.len() >= AT_ONCE {
            outcomes.extend(running.next().await);
        }
        running.push(write::write(worker, llm, wanted));
    }
    while let Some(outcome) = running.next().await {
        outcomes.push(outcome);
    }
    if outcomes.contains(&Outcome::Later) {
        Round::Fault
    } else if outcomes.contains(&Outcome::Told) {
        Round::Done
    } else {
        Round::Nothing(began.elapsed())
    }
}
