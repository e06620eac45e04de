//! Judges on trial.

use super::support::model;
use crate::extraction::{Judge, Outcome, Tried, try_judge};
use stash_domain::learning::evaluation::{Case, feedback as feedback_suite, learning as learning_suite};
use stash_infra::llm::LlmError;
use stash_infra::testing::llm::judge::{critical, feedback, judgment, knowing, purpose, review};
use stash_infra::testing::llm::{Answer, LlmServer};

fn all() -> Vec<Case> {
    feedback_suite::suite().into_iter().chain(learning_suite::suite()).collect()
}

fn judge(server: &LlmServer, tokens_max: u64) -> Judge {
    Judge { llm: model(server), tokens_max, cost_microusd_max: None }
}

async fn tried(server: &LlmServer, cases: Vec<Case>) -> Vec<Tried> {
    try_judge(&judge(server, u64::MAX), cases, |_| {}).await.unwrap().0
}

fn right(tried: &[Tried]) -> usize {
    tried.iter().filter(|one| one.is_right()).count()
}

#[tokio::test]
async fn a_judge_who_knows_is_right_about_every_case_and_all_are_told_in_order() {
    let cases = all();
    let server = LlmServer::start(move |asked| knowing(&all(), asked)).await;
    let mut told = Vec::new();
    let (tried, spent) =
        try_judge(&judge(&server, u64::MAX), cases.clone(), |one| told.push(one.case.name)).await.unwrap();
    let wrong: Vec<_> = tried.iter().filter(|one| !one.is_right()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(tried.iter().map(|one| one.case.name).collect::<Vec<_>>(), names);
    assert_eq!(told, names);
    let asked = server.asked();
    assert_eq!(asked.len() as u64, spent.calls);
    assert_eq!(tried.iter().map(|one| one.questions).sum::<u64>(), spent.calls);
    assert!(asked.iter().all(|asked| asked.text().matches("\n- ").count() >= 4), "all four criteria are asked for");
}

#[tokio::test]
async fn judges_who_obey_praise_scold_or_see_feedback_everywhere_do_not_pass() {
    // One that does what texts in the record say, or finds everything good.
    let praising = LlmServer::start(|asked| match purpose(asked) {
        "feedback" => feedback("none", "", "", ""),
        "judgment" => judgment(asked, "positive", "Worse."),
        _ => review(asked, "\"role\""),
    })
    .await;
    let scolding = LlmServer::start(critical).await;
    let hearing = LlmServer::start(|asked| match purpose(asked) {
        "feedback" => feedback("positive", "m1", "e", ""),
        "judgment" => judgment(asked, "positive", "Worse."),
        _ => review(asked, "\"role\""),
    })
    .await;
    for server in [praising, scolding, hearing] {
        for cases in [feedback_suite::suite(), learning_suite::suite()] {
            let (count, tried) = (cases.len(), tried(&server, cases).await);
            let right = right(&tried);
            assert!(tried.len() == count && (right as f64) < 0.8 * count as f64, "{right} of {count}");
        }
    }
}

#[tokio::test]
async fn a_right_answer_passes_without_a_pair() {
    // The review finds neither candidate better.
    let server = LlmServer::start(move |asked| match purpose(asked) {
        "review" => review(asked, "in neither"),
        _ => knowing(&all(), asked),
    })
    .await;
    let tried = tried(&server, learning_suite::suite()).await;
    let of = |name: &str| tried.iter().find(|one| one.case.name == name).unwrap();
    assert!(of("a right answer").is_right());
    assert!(!of("a wrong answer").is_right(), "which any judge should be able to mend");
}

#[tokio::test]
async fn answers_that_are_none_make_a_case_wrong_and_the_others_go_on() {
    let server = LlmServer::start(|asked| match asked.text().contains("capital of Norway") {
        true => Answer::says("Oslo, I should think."),
        false => knowing(&all(), asked),
    })
    .await;
    let tried = tried(&server, learning_suite::suite()).await;
    let wrong: Vec<&Tried> = tried.iter().filter(|one| !one.is_right()).collect();
    assert!(matches!(wrong.as_slice(), [one] if matches!(one.outcome, Outcome::Malformed { .. })), "{wrong:?}");
    assert_eq!(tried.len(), learning_suite::suite().len());
}

#[tokio::test]
async fn a_judge_that_declines_is_wrong_where_it_should_have_seen_something() {
    let server = LlmServer::start(|_| Answer::declines()).await;
    assert_eq!(right(&tried(&server, learning_suite::suite()).await), 0);
}

#[tokio::test]
async fn what_says_nothing_about_the_judge_ends_the_trial() {
    let server = LlmServer::start(|_| Answer::fails(401, "no such key")).await;
    let outcome = try_judge(&judge(&server, u64::MAX), all(), |_| {}).await;
    assert!(matches!(outcome, Err(LlmError::Refused { status: 401, .. })), "{outcome:?}");
    let server = LlmServer::start(move |asked| knowing(&all(), asked)).await;
    let outcome = try_judge(&judge(&server, 300), all(), |_| {}).await;
    assert!(matches!(outcome, Err(LlmError::BudgetSpent(_))), "{outcome:?}");
}
