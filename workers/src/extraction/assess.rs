//! The actions of one trace, a few at a time.
//!
//! Each action's calls come one after another, and at most three actions are assessed at once, so at most three calls about a
//! trace are under way. Findings are taken in the order of the steps. Once there are pairs enough no further action is begun;
//! the ones that are under way come to their end and are taken too, and which ones those are does not depend on time.

use super::ask::ask_next;
use super::calls::Calls;
use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use stash_domain::learning::extraction::{Assessment, CALLS_PER_TRACE_MAX, Finding, Harvest, Material, Settings};
use stash_infra::llm::{Budget, Llm, LlmError};
use std::sync::Arc;

/// Who is asked, and with what.
pub(super) struct Asking<'a> {
    pub(super) llm: &'a dyn Llm,
    pub(super) budget: &'a Budget,
    pub(super) calls: &'a dyn Calls,
    pub(super) settings: Settings,
}

/// Assesses a trace's actions and takes their findings, and adds the calls that they rest on to `asked`. Both hold what was found
/// before a call failed.
pub(super) async fn assess(
    asking: &Asking<'_>,
    material: &Arc<Material>,
    harvest: &mut Harvest,
    asked: &mut u64,
) -> Result<(), LlmError> {
    let mut targets = 0..material.targets().len();
    let mut running = FuturesOrdered::new();
    loop {
        while running.len() < CALLS_PER_TRACE_MAX && !harvest.is_full() {
            let Some(target) = targets.next() else { break };
            running.push_back(assess_one(asking, material, target));
        }
        match running.next().await {
            Some(outcome) => {
                let (finding, calls) = outcome?;
                *asked = asked.saturating_add(calls);
                if let Some(finding) = finding {
                    harvest.take(finding);
                }
            }
            None => return Ok(()),
        }
    }
}

async fn assess_one(
    asking: &Asking<'_>,
    material: &Arc<Material>,
    target: usize,
) -> Result<(Option<Finding>, u64), LlmError> {
    let Some(mut assessment) = Assessment::of(material, target, asking.settings) else { return Ok((None, 0)) };
    let mut calls = 0;
    while ask_next(asking.llm, asking.budget, asking.calls, &mut assessment).await? {
        calls += 1;
    }
    Ok((assessment.finding().cloned(), calls))
}
