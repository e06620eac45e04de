//! Trying a judge: `stash eval`, against a server of language models that answers by script.

use crate::support::{Folder, command};
use serde_json::Value;
use stash_domain::learning::evaluation::{Case, feedback, learning};
use stash_infra::testing::llm::judge::{critical, knowing};
use stash_infra::testing::llm::{Answer, LlmServer};
use std::process::Output;

/// Runs `stash eval` with this judge; the server answers meanwhile.
async fn eval(server: &LlmServer, arguments: &[&str]) -> Output {
    let folder = Folder::new();
    let mut command = command(&folder.data(), &[&["eval"], arguments].concat());
    command.env("RM_LEARNING_MODEL", "hosted_vllm/judge").env("HOSTED_VLLM_API_BASE", server.base());
    command.env("HOSTED_VLLM_API_KEY", "sk-test-0123456789");
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn all() -> Vec<Case> {
    feedback::suite().into_iter().chain(learning::suite()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_good_judge_passes_both_suites_with_all_four_criteria() {
    let server = LlmServer::start(move |asked| knowing(&all(), asked)).await;
    for (suite, cases) in [("feedback", feedback::suite()), ("learning", learning::suite())] {
        let shown = eval(&server, &[suite, "--at-least", "1"]).await;
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        let (table, said) = (text(&shown.stdout), text(&shown.stderr));
        let summary = format!("hosted_vllm/judge is right about {0} of {0} cases (100 %)", cases.len());
        assert!(table.contains(&summary) && said.contains("tokens"), "{table}{said}");
        assert!(cases.iter().all(|case| table.contains(case.name)), "{table}");

        let report: Value = serde_json::from_slice(&eval(&server, &[suite, "--json"]).await.stdout).unwrap();
        assert_eq!((&report["suite"], &report["ok"], &report["share"]), (&suite.into(), &true.into(), &1.0.into()));
        assert_eq!(report["cases"].as_array().unwrap().len(), cases.len());
        assert_eq!(report["cost_usd"], Value::Null, "the price of the model is not known");
    }
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.key.as_deref() == Some("sk-test-0123456789")));
    let criteria = |text: &str| {
        let list = text.rsplit("riteria:\n").next().unwrap();
        list.lines().filter(|line| line.starts_with("- ")).count()
    };
    assert!(asked.iter().all(|asked| criteria(asked.last()) == 4), "rubric dropout is off");
}

#[tokio::test]
async fn a_judge_that_scolds_everything_fails_below_the_share_asked_for() {
    let server = LlmServer::start(critical).await;
    let failed = eval(&server, &["learning", "--json"]).await;
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!((failed.status.code(), &report["ok"]), (Some(1), &false.into()), "{report}");
    let of = |name: &str| report["cases"].as_array().unwrap().iter().find(|case| case["case"] == name).unwrap();
    assert_eq!(of("a wrong answer")["right"], true);
    assert_eq!(of("a right answer")["wrong"], "the label is wrong");
    // What it is asked to reach is a choice of the user.
    assert!(eval(&server, &["learning", "--at-least", "0.5"]).await.status.success());
    let shown = eval(&server, &["feedback"]).await;
    assert!(text(&shown.stderr).contains("below 80 %"), "{}", text(&shown.stderr));
}

#[tokio::test]
async fn a_hostile_server_is_told_of_without_what_it_says_of_the_key() {
    for answer in [
        Answer::fails(401, "the key sk-test-0123456789 is not valid"),
        Answer::fails(400, "sk-test-0123456789\u{1b}[2J"),
        Answer::Endless,
    ] {
        let server = LlmServer::start(move |_| answer.clone()).await;
        let failed = eval(&server, &["feedback"]).await;
        let said = text(&failed.stderr) + &text(&failed.stdout);
        assert_eq!(failed.status.code(), Some(1), "{said}");
        assert!(said.contains("error: 127.0.0.1") && !said.contains("0123456789"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
    // Answers that are none count against the judge, not against the run.
    let server = LlmServer::start(|_| Answer::says("\u{1b}[31mNo.")).await;
    let failed = eval(&server, &["learning"]).await;
    let said = text(&failed.stdout);
    assert!(said.contains("right about 0 of") && !said.contains('\u{1b}'), "{said}");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let folder = Folder::new();
    let said = |arguments: &[&str], model: &str| {
        let mut command = command(&folder.data(), arguments);
        command.env("RM_LEARNING_MODEL", model).env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_API_KEY_FILE");
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, text) = said(&["eval", "feedback"], "none");
    assert!(code == Some(1) && text.contains("RM_LEARNING_MODEL") && text.contains("--model"), "{text}");
    let (code, text) = said(&["eval", "feedback"], "anthropic/claude-haiku-4-5");
    assert!(code == Some(1) && text.contains("ANTHROPIC_API_KEY"), "{text}");
    let (code, text) = said(&["eval", "feedback", "--at-least", "1.5"], "none");
    assert!(code == Some(2) && text.contains("from 0 to 1"), "{text}");
}
