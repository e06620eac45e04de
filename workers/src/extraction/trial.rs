//! A judge on trial: it is asked about made-up cases as a training would ask it, and what it says is compared with what is right.
//!
//! Nothing is kept and nothing of anybody's traces is sent.

use super::ask::{Judge, ask_next};
use super::calls::Calls;
use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream;
use stash_domain::ids::Digest;
use stash_domain::learning::evaluation::{Case, Fault};
use stash_domain::learning::extraction::{CALLS_PER_TRACE_MAX, Call as Question, Finding};
use stash_infra::llm::budget::Spent;
use stash_infra::llm::{Budget, Finished, Kept, LlmError};

/// How one case went.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The case.
    pub case: Case,
    /// What the judge made of it.
    pub outcome: Outcome,
    /// Questions that it took.
    pub questions: u64,
}

/// What a judge made of a case.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A finding, and what is wrong with it; nothing if it is right.
    Found {
        /// The finding.
        finding: Box<Finding>,
        /// What is wrong.
        fault: Option<Fault>,
    },
    /// No answer of the kind that was asked for, also after a repair; it would have failed a training.
    Malformed {
        /// What the check says, without anything of the answer.
        reason: String,
    },
}

impl Tried {
    /// Whether the judge was right.
    pub fn is_right(&self) -> bool {
        matches!(self.outcome, Outcome::Found { fault: None, .. })
    }
}

/// Asks about all cases, at most three at once; results have the order of the cases. `on_tried` sees each when it is there.
///
/// # Errors
/// Those of a call that say nothing about the judge: it cannot be reached, takes no calls, or has no budget left.
pub async fn try_judge(
    judge: &Judge,
    cases: Vec<Case>,
    mut on_tried: impl FnMut(&Tried),
) -> Result<(Vec<Tried>, Spent), LlmError> {
    let budget = Budget::new(Some(judge.tokens_max), judge.cost_microusd_max);
    let mut all = Vec::with_capacity(cases.len());
    {
        let asked = stream::iter(cases).map(|case| try_one(judge, &budget, case));
        let mut asked = std::pin::pin!(asked.buffered(CALLS_PER_TRACE_MAX));
        while let Some(tried) = asked.next().await {
            let Some(tried) = tried? else { continue };
            on_tried(&tried);
            all.push(tried);
        }
    }
    Ok((all, budget.spent()))
}

/// Asks about one case; none for one without an action, which no suite has.
async fn try_one(judge: &Judge, budget: &Budget, case: Case) -> Result<Option<Tried>, LlmError> {
    let Some(mut assessment) = case.assessment() else { return Ok(None) };
    let mut questions = 0;
    let malformed = loop {
        match ask_next(&*judge.llm, budget, &Nowhere, &mut assessment).await {
            Ok(true) => questions += 1,
            Ok(false) => break None,
            Err(LlmError::Malformed { reason, .. }) => break Some(reason),
            Err(error) => return Err(error),
        }
    };
    let outcome = match (malformed, assessment.finding()) {
        (Some(reason), _) => Outcome::Malformed { reason },
        (None, Some(finding)) => Outcome::Found { fault: case.grade(finding), finding: Box::new(finding.clone()) },
        (None, None) => return Ok(None),
    };
    Ok(Some(Tried { case, outcome, questions }))
}

/// Keeps no calls.
struct Nowhere;

#[async_trait]
impl Calls for Nowhere {
    async fn find(&self, _: &Question, _: Digest) -> Result<Option<Kept>, String> {
        Ok(None)
    }

    async fn keep(&self, _: &Question, _: Finished<'_>) -> Result<(), String> {
        Ok(())
    }
}
