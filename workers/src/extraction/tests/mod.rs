//! Extraction against a server of language models that answers by script.

mod crash;
mod replies;
mod support;
mod trial;

use stash_domain::learning::extraction::{CALLS_PER_TRACE_MAX, Exclusion};
use stash_infra::llm::{Budget, LlmError};
use stash_infra::testing::llm::judge::critical;
use stash_infra::testing::llm::{Answer, Held, LlmServer};
use support::{Memory, conversation, extract, extract_up_to, model};

#[tokio::test]
async fn at_most_three_calls_run_at_once_and_findings_keep_the_order_of_the_steps() {
    let held = Held::default();
    let hold = held.clone();
    let server = LlmServer::start(move |asked| critical(asked).held(&hold)).await;
    let (llm, material, memory) = (model(&server), conversation(8), Memory::default());
    let extraction = extract(&*llm, &memory, &material);
    let watch = async {
        server.wait_for(CALLS_PER_TRACE_MAX).await;
        held.let_go(1000);
    };
    let (findings, ()) = tokio::join!(extraction, watch);
    let places: Vec<u32> = findings.unwrap().iter().map(|finding| finding.step_index).collect();
    assert_eq!(places, [1, 3, 5, 7, 9, 11, 13, 15]);
    assert_eq!(server.at_once_most(), CALLS_PER_TRACE_MAX);
}

#[tokio::test]
async fn a_second_run_asks_nothing_and_finds_the_same() {
    let server = LlmServer::start(critical).await;
    let (llm, material, memory) = (model(&server), conversation(3), Memory::default());
    let first = extract(&*llm, &memory, &material).await.unwrap();
    let asked = server.asked().len();
    assert!(first.iter().all(|finding| finding.exclusion.is_none()), "{first:?}");
    assert_eq!(extract(&*llm, &memory, &material).await.unwrap(), first);
    assert_eq!(server.asked().len(), asked);
}

#[tokio::test]
async fn extraction_stops_once_there_are_pairs_enough() {
    let server = LlmServer::start(critical).await;
    let (llm, material) = (model(&server), conversation(20));
    let budget = Budget::unbounded();
    let findings = extract_up_to(&*llm, &Memory::default(), &material, 2, &budget).await.unwrap();
    // Two make pairs, and two more were under way.
    let excluded: Vec<Option<Exclusion>> = findings.iter().map(|finding| finding.exclusion).collect();
    assert_eq!(excluded, [None, None, Some(Exclusion::OverMaxPairs), Some(Exclusion::OverMaxPairs)]);
}

#[tokio::test]
async fn a_spent_budget_ends_extraction_and_what_was_answered_is_kept() {
    let server = LlmServer::start(critical).await;
    let (llm, material, memory) = (model(&server), conversation(10), Memory::default());
    let tokens_of_five_calls = Budget::new(Some(550), None);
    let outcome = extract_up_to(&*llm, &memory, &material, 100, &tokens_of_five_calls).await;
    assert!(matches!(outcome, Err(LlmError::BudgetSpent(_))), "{outcome:?}");
    let asked = server.asked().len();
    assert!((5..5 + CALLS_PER_TRACE_MAX).contains(&asked), "{asked}");
    extract(&*llm, &memory, &material).await.unwrap();
    assert_eq!(memory.repeated(), 0);
}

#[tokio::test]
async fn what_is_still_malformed_after_a_repair_fails() {
    let server = LlmServer::start(|_| Answer::says(r#"{"reason": "I like it"}"#)).await;
    let (llm, memory) = (model(&server), Memory::default());
    let outcome = extract(&*llm, &memory, &conversation(1)).await;
    assert!(matches!(outcome, Err(LlmError::Malformed { .. })), "{outcome:?}");
    assert_eq!((server.asked().len(), memory.calls()), (2, 2), "both rounds are kept");
}
