//! A model's own judgment.

use crate::support::*;
use serde_json::json;
use stash_domain::learning::extraction::{
    Assessment, Dropout, EvidenceId, Exclusion, Label, Preferred, Purpose, Settings,
};
use stash_domain::learning::frame::Source;

#[test]
fn a_trace_without_any_feedback_is_learnt_from() {
    let material = material(vec![user("What is the capital of Norway?"), agent("Bergen.")]);
    let (finding, calls) = run(assessment(&material, 1), opinionated("negative", "Oslo.", "Oslo."));
    assert_eq!(calls.iter().map(|call| call.purpose).collect::<Vec<_>>(), [Purpose::Judgment, Purpose::Review]);
    assert_eq!((finding.label, finding.source), (Label::Negative, Source::AiJudgment));
    assert_eq!((finding.preferred, finding.exclusion), (Some(Preferred::Revision), None));
}

#[test]
fn its_evidence_is_an_excerpt_of_the_action_that_code_selects() {
    let material = material(vec![user("Capital?"), agent("Bergen, I am sure.")]);
    let (finding, _) = run(assessment(&material, 1), opinionated("negative", "Oslo.", "Oslo."));
    assert_eq!(finding.evidence_id, EvidenceId::Step(step_id(1)));
    assert_eq!(finding.evidence_quote, "Bergen, I am sure.");
    // The judge has no field for a quote: it cannot make up a reaction.
    let mut answer = judgment(&assessment(&material, 1).call().unwrap(), "positive", "");
    answer["evidence_quote"] = json!("Thank you!");
    assert!(assessment(&material, 1).answer(&answer, "m").is_err());
}

#[test]
fn it_is_made_without_what_came_after_the_action() {
    let material = material(vec![
        user("Weather?"),
        call("weather", json!({"city": "Oslo"})),
        result("weather", "SECRET RESULT"),
        agent("LATER WORDS"),
    ]);
    let (_, calls) = run(assessment(&material, 1), opinionated("unclear", "", ""));
    for call in calls.iter().filter(|call| call.purpose != Purpose::Feedback) {
        assert!(call.context.contains("Weather?"));
        for later in ["SECRET RESULT", "LATER WORDS"] {
            assert!(!call.context.contains(later) && !call.task.contains(later));
        }
    }
}

#[test]
fn two_criteria_are_asked_for_recorded_and_the_same_in_the_review() {
    let material = material(vec![user("Capital?"), agent("Bergen.")]);
    let subject = assessment(&material, 1);
    let names = subject.criteria().names();
    let ids: Vec<&str> = subject.criteria().criteria().iter().map(|criterion| criterion.id()).collect();
    let (finding, calls) = run(subject, opinionated("negative", "Oslo.", "Oslo."));
    assert_eq!(ids.len(), 2);
    for call in &calls {
        assert_eq!(criteria_of(call), ids);
    }
    assert_eq!(finding.reason, format!("Criteria: {names}. It is so."));
    assert_eq!(finding.criteria.criteria().len(), 2);
}

#[test]
fn evaluations_ask_for_all_four_criteria() {
    let material = material(vec![user("Capital?"), agent("Bergen.")]);
    let settings = Settings { dropout: Dropout::None, seed: 0 };
    let subject = Assessment::of(&material, 0, settings).unwrap();
    assert_eq!(criteria_of(&subject.call().unwrap()).len(), 4);
}

#[test]
fn other_criteria_than_those_asked_for_are_malformed() {
    let material = material(vec![user("Capital?"), agent("Bergen.")]);
    let mut subject = assessment(&material, 1);
    let good = judgment(&subject.call().unwrap(), "unclear", "");
    let mut one = good.clone();
    one["criteria"].as_array_mut().unwrap().pop();
    let mut twice = good.clone();
    twice["criteria"][1] = twice["criteria"][0].clone();
    for answer in [one, twice] {
        let refused = subject.answer(&answer, "m").unwrap_err();
        assert!(refused.0.contains("exactly one entry for each of"), "{refused}");
    }
    assert_eq!(subject.check(&good), Ok(()));
    assert!(subject.call().is_some(), "a check changes nothing");
}

#[test]
fn abstention_is_a_finding_without_a_pair() {
    let material = material(vec![user("?"), agent("!")]);
    let (finding, calls) = run(assessment(&material, 1), opinionated("unclear", "?", "?"));
    assert_eq!((finding.label, finding.exclusion, calls.len()), (Label::Unclear, Some(Exclusion::Unclear), 1));
}

#[test]
fn a_judge_that_declines_abstains_whatever_it_was_asked() {
    let material = material(vec![user("Capital?"), agent("Bergen.")]);
    let mut at_once = assessment(&material, 1);
    at_once.declined("m");
    assert_eq!(at_once.finding().unwrap().exclusion, Some(Exclusion::Unclear));
    let mut later = assessment(&material, 1);
    let answer = judgment(&later.call().unwrap(), "negative", "Oslo.");
    later.answer(&answer, "m").unwrap();
    assert!(later.call().is_some());
    later.declined("m");
    let finding = later.finding().unwrap();
    assert_eq!((finding.label, finding.exclusion), (Label::Negative, Some(Exclusion::Unsupported)));
    assert!(finding.reason.ends_with("declined to answer."));
}

#[test]
fn an_alternative_its_judge_does_not_vouch_for_makes_no_pair() {
    let material = material(vec![user("Capital?"), agent("Bergen.")]);
    let (finding, calls) = run(assessment(&material, 1), |call| {
        let mut answer = judgment(call, "negative", "Oslo, with 717,710 people.");
        answer["alternative_supported"] = json!(false);
        answer
    });
    assert_eq!((finding.exclusion, calls.len()), (Some(Exclusion::Unsupported), 1));
    assert_eq!(finding.label, Label::Negative);
}

#[test]
fn a_call_is_judged_by_its_name_and_arguments() {
    let material = material(vec![user("Weather in Oslo?"), call("weather", json!({"city": "Bergen"}))]);
    let better = r#"{"tool_name": "weather", "tool_input": {"city": "Oslo"}, "content": ""}"#;
    let (finding, _) = run(assessment(&material, 1), opinionated("negative", better, "\"Oslo\"}"));
    assert_eq!(finding.evidence_quote, r#"weather {"city": "Bergen"}"#);
    assert_eq!((finding.exclusion, finding.tool_name.as_deref()), (None, Some("weather")));
}
