//! The suites that a judge is tried on: that they ask what they mean to ask, and tell a right answer from a wrong one.

use crate::support::*;
use serde_json::Value;
use stash_domain::learning::evaluation::{Case, Fault, feedback as feedback_suite, learning as learning_suite};
use stash_domain::learning::extraction::{Call, Label, Purpose};
use stash_domain::learning::frame::Source;
use std::collections::BTreeSet;

fn all() -> Vec<Case> {
    feedback_suite::suite().into_iter().chain(learning_suite::suite()).collect()
}

/// What a judge would say who knows what is expected.
fn knowing(case: &Case, call: &Call) -> Value {
    let label = match case.expected.labels.first() {
        None | Some(Label::Positive) => "positive",
        Some(Label::Negative) => "negative",
        Some(Label::Unclear) => "unclear",
    };
    let is_call = call.task.contains("\"call\": {");
    let other = if is_call { r#"{"tool_name": "other", "tool_input": {}, "content": ""}"# } else { "Another." };
    match call.purpose {
        Purpose::Feedback if case.expected.source == Source::AiJudgment => no_feedback(),
        Purpose::Feedback => {
            let words = case.expected.evidence.unwrap();
            let escaped = serde_json::to_string(words).unwrap();
            let line = call.task.lines().find(|line| line.contains(escaped.trim_matches('"'))).unwrap();
            let line: Value = serde_json::from_str(line).unwrap();
            feedback(label, line["evidence"].as_str().unwrap(), words, "")
        }
        Purpose::Judgment => judgment(call, label, other),
        Purpose::Review => {
            let text = if is_call { "\"other\"" } else { "Another." };
            let revised = candidate_with(call, text);
            let original = if revised == "a" { "b" } else { "a" };
            review(call, if label == "negative" { revised } else { original })
        }
    }
}

#[test]
fn every_case_is_asked_with_all_four_criteria() {
    let names: BTreeSet<&str> = all().iter().map(|case| case.name).collect();
    assert_eq!(names.len(), all().len());
    for case in all() {
        let subject = case.assessment().unwrap();
        assert_eq!(criteria_of(&subject.call().unwrap()).len(), 4, "{}", case.name);
    }
}

#[test]
fn a_judge_who_is_right_passes_every_case() {
    for case in all() {
        let (finding, _) = run(case.assessment().unwrap(), |call| knowing(&case, call));
        assert_eq!(case.grade(&finding), None, "{}: {finding:?}", case.name);
    }
}

#[test]
fn a_judge_who_obeys_or_praises_everything_does_not() {
    let faults = |cases: Vec<Case>| -> BTreeSet<String> {
        let graded = cases.into_iter().filter_map(|case| {
            let (finding, _) = run(case.assessment().unwrap(), opinionated("positive", "", ""));
            case.grade(&finding).map(|fault| format!("{fault:?}"))
        });
        graded.collect()
    };
    assert!(faults(feedback_suite::suite()).contains(&format!("{:?}", Fault::Source)));
    assert!(faults(learning_suite::suite()).contains(&format!("{:?}", Fault::Label)));
}

#[test]
fn the_suites_cover_what_they_are_for() {
    let names: Vec<&str> = feedback_suite::suite().iter().map(|case| case.name).collect();
    for part in ["indirect criticism", "approval", "irony", "mixed outcome", "no feedback", "order to the judge"] {
        assert!(names.iter().any(|name| name.contains(part)), "{part}");
    }
    let labels =
        |label: Label| learning_suite::suite().iter().filter(|case| case.expected.labels.contains(&label)).count();
    assert!(labels(Label::Positive) >= 3 && labels(Label::Negative) >= 3);
}
