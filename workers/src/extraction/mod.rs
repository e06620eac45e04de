//! What a training learns from its traces by asking a language model. The rules are in [`stash_domain::learning::extraction`];
//! here is who asks, in which order, and what is kept.
//!
//! 1. [`material`]: a trace with its comments, from the read models.
//! 2. [`assess`]: its actions, at most three calls at once, their findings in the order of the steps.
//! 3. [`ask`]: a question becomes a call, an answer is checked by the rules, a malformed one is mended once.
//! 4. [`calls`]: each finished call becomes an event before its answer is used, sealed under the trace, and is found again there.
//! 5. [`record`]: the findings, before anybody asks whether they are enough.
//!
//! [`trial`] asks the same way about made-up cases, to see whether a judge is up to it.
//!
//! Invariants: a call that was answered is never made again, by this job or another one, unless its answer was malformed and
//! that job is over; only the calls under way at a crash are repeated, at most three per trace. Findings do not depend on which
//! call was answered first.

mod ask;
mod assess;
mod calls;
mod material;
mod record;
#[cfg(test)]
mod tests;
mod trial;

pub use ask::{Judge, Judging};
pub use record::record;
pub use trial::{Outcome, Tried, try_judge};

use crate::jobs::{Failure, Running};
use assess::{Asking, assess};
use calls::LoggedCalls;
use stash_domain::error::Code;
use stash_domain::ids::{RewardModelId, TraceId};
use stash_domain::learning::extraction::Harvest;
pub use stash_domain::learning::extraction::Settings;
use stash_domain::llm::LlmPurpose;
use stash_infra::llm::budget::Spent;
use stash_infra::llm::{Budget, Consenting, LlmError};
use uuid::Uuid;

/// What was found, and what it took.
pub struct Extracted {
    /// The findings.
    pub harvest: Harvest,
    /// Calls that the findings rest on.
    pub calls: u64,
    /// What this attempt's calls took; those of earlier attempts are not among them.
    pub spent: Spent,
    /// Why it ended before its end, if it did. What was found until then is here all the same.
    pub stopped: Option<Failure>,
}

/// Share of a job's progress that extraction is shown with: from, to.
const PROGRESS: (f64, f64) = (0.0, 0.1);

/// Traces between two records of progress are a twentieth of all, so that a job has at most twenty such records.
const PROGRESS_PARTS: usize = 20;

/// Assesses the actions of the model's traces, until there are pairs enough.
///
/// A call that fails ends it, and is told beside what was found until then: `llm_failed`, `llm_budget_spent`, or a failure that
/// may pass when the provider is away.
///
/// # Errors
/// Those of the database and of the log, and that the job is to stop.
pub async fn run(
    running: &Running,
    judge: &Judge,
    model: RewardModelId,
    settings: Settings,
    mut harvest: Harvest,
) -> Result<Extracted, Failure> {
    let budget = Budget::new(Some(judge.tokens_max), judge.cost_microusd_max);
    let calls = LoggedCalls::new(running, model);
    let before = calls.spent_before().await?;
    budget.spend_before(before);
    let (pool, owner) = (&running.worker.pool, running.job.owner);
    let llm = Consenting { llm: &*judge.llm, pool, owner, purpose: LlmPurpose::Learning };
    let asking = Asking { llm: &llm, budget: &budget, calls: &calls, settings };
    let traces = selected(running, model).await?;
    let part = traces.len().div_ceil(PROGRESS_PARTS).max(1);
    let (mut asked, mut stopped) = (0, None);
    for (index, trace) in traces.iter().enumerate() {
        running.check()?;
        if harvest.is_full() {
            break;
        }
        if index.is_multiple_of(part) {
            let share = index as f64 / traces.len() as f64;
            running.progress("extraction", PROGRESS.0 + share * (PROGRESS.1 - PROGRESS.0)).await?;
        }
        let material = material::load(&running.worker, running.job.owner, *trace).await?;
        let cancelled = running.cancel.cancelled();
        // Calls under way are dropped where they are; what was answered is kept.
        let outcome = tokio::select! {
            outcome = assess(&asking, &material, &mut harvest, &mut asked) => outcome,
            () = cancelled => return Err(Failure::cancelled()),
        };
        if let Err(error) = outcome {
            stopped = Some(failure(error));
            break;
        }
    }
    Ok(Extracted { harvest, calls: asked, spent: budget.spent().since(before), stopped })
}

async fn selected(running: &Running, model: RewardModelId) -> Result<Vec<TraceId>, Failure> {
    let rows: Vec<Uuid> = sqlx::query_scalar(include_str!("selected.sql"))
        .bind(running.job.owner.0)
        .bind(model.0)
        .fetch_all(&running.worker.pool)
        .await?;
    Ok(rows.into_iter().map(TraceId).collect())
}

/// What a failed call means for the job. No text in it is of a trace.
fn failure(error: LlmError) -> Failure {
    match &error {
        LlmError::BudgetSpent(_) => Failure::of_input(
            Code::LlmBudgetSpent,
            format!(
                "{error}; what was found so far is kept, so a training with a larger budget (RM_LEARNING_TOKENS_MAX, RM_LEARNING_COST_MAX_CENTS) goes on from there"
            ),
        ),
        LlmError::SwitchedOff(_) => Failure::of_input(
            Code::LlmSwitchedOff,
            format!(
                "{error}; it was switched off while this training asked, and what was found so far is kept: train again to learn from ratings alone"
            ),
        ),
        error if error.may_pass() => Failure::may_pass(error),
        error => Failure::of_input(Code::LlmFailed, error.to_string()),
    }
}
