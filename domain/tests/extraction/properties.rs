//! What holds for every trace and every answer.

use crate::support::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::learning::extraction::evidence::window;
use stash_domain::learning::extraction::{EvidenceId, Purpose};
use stash_domain::learning::frame::Source;
use stash_domain::rendering::{Form, RenderedTrace};
use stash_domain::trace::{Role, Step};

fn any_step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![Just(String::new()), "[a-z \"\\\\{}\n]{0,12}", any::<String>()];
    (0_u8..9, text).prop_map(|(kind, text)| match kind {
        0 => say(Role::System, &text),
        1..=2 => user(&text),
        3 => marked(user(&text), "compaction", json!(true)),
        4 => marked(user(&text), "injected", json!(true)),
        5 => call("tool", json!({ "x": text })),
        6 => result("tool", &text),
        _ => agent(&text),
    })
}

fn any_trace() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any_step(), 0..14)
}

/// Answers of the right shape, with any content.
fn any_answer() -> impl Strategy<Value = Value> {
    let label = prop::sample::select(vec!["positive", "negative", "unclear", "none", "other"]);
    let sure = prop::sample::select(vec!["high", "low"]);
    let alternative = prop_oneof![
        Just(String::new()),
        any::<String>(),
        Just(r#"{"tool_name": "tool", "tool_input": {"x": 1}, "content": ""}"#.to_owned())
    ];
    let criterion = prop::sample::select(vec![
        "task_completion",
        "instruction_adherence",
        "evidence_grounding",
        "appropriate_uncertainty",
    ]);
    let evidence = prop::sample::select(vec!["m1", "m2", "c1", "", "x"]);
    (0_u8..4, label, sure, alternative, prop::collection::vec(criterion, 0..4), (evidence, "[a-z ]{0,3}", any::<bool>()))
        .prop_map(|(kind, label, sure, alternative, criteria, (evidence, quote, yes))| match kind {
            0 => json!({"reason": quote, "label": label, "confidence": sure, "evidence_id": evidence,
                "evidence_quote": quote, "alternative": alternative, "alternative_supported": yes}),
            1 => json!({"reason": quote, "label": label, "confidence": sure, "alternative": alternative,
                "alternative_supported": yes,
                "criteria": criteria.iter().map(|id| json!({"criterion": id, "verdict": "met", "note": ""})).collect::<Vec<_>>()}),
            2 => json!({"reason": quote, "supported": {"a": yes, "b": yes}, "safe": {"a": true, "b": yes}, "preferred": "a",
                "criteria": criteria.iter().map(|id| json!({"criterion": id, "better": "a", "note": ""})).collect::<Vec<_>>()}),
            _ => json!([alternative]),
        })
}

proptest! {
    #[test]
    fn no_answer_makes_a_finding_that_breaks_a_rule(
        steps in any_trace(),
        answers in prop::collection::vec(any_answer(), 0..12),
    ) {
        let material = material(steps.clone());
        let rendered = RenderedTrace::of(&steps, Form::ChatMl);
        for target in material.targets() {
            let mut subject = assessment(&material, target.step_index);
            let offered = window(&material, target);
            for answer in &answers {
                let before = subject.call();
                let checked = subject.check(answer);
                let taken = subject.answer(answer, "m");
                prop_assert_eq!(&checked, &taken);
                if taken.is_err() {
                    prop_assert_eq!(subject.call(), before);
                }
            }
            let Some(finding) = subject.finding() else { continue };
            prop_assert_eq!(finding.step_index, target.step_index);
            prop_assert_eq!(finding.criteria.criteria().len(), 2);
            let prefix = format!("Criteria: {}.", finding.criteria.names());
            prop_assert!(finding.reason.starts_with(&prefix));
            match (finding.source, finding.evidence_id) {
                (Source::UserFeedback, EvidenceId::Step(id)) => {
                    let place = steps.iter().enumerate().position(|(place, _)| step_id(place) == id).unwrap();
                    prop_assert!(place > target.step_index as usize);
                    prop_assert!(steps[place].is_written_by_person());
                    prop_assert!(steps[place].content.contains(&finding.evidence_quote));
                    prop_assert!(!finding.evidence_quote.trim().is_empty());
                    prop_assert!(offered.iter().any(|evidence| evidence.id == finding.evidence_id));
                }
                (Source::AiJudgment, EvidenceId::Step(id)) => prop_assert_eq!(id, target.step_id),
                other => prop_assert!(false, "{:?}", other),
            }
            if finding.exclusion.is_none() {
                // Both sides share their context and end with the action: no later result, no later turn.
                let revision = finding.revision.as_ref().unwrap();
                let original = rendered.action_text(target.step_index).unwrap().text;
                let revised = rendered.alternative_text(target.step_index, revision).unwrap().text;
                prop_assert_ne!(&original, &revised);
                let context = rendered.prior_context(target.step_index).unwrap().text;
                prop_assert!(original.starts_with(&context) && revised.starts_with(&context));
                prop_assert_eq!(finding.revision_digest, Some(stash_domain::ids::Digest::of(revised.as_bytes())));
                prop_assert_eq!(finding.digest, stash_domain::ids::Digest::of(original.as_bytes()));
            }
        }
    }

    #[test]
    fn judgments_and_reviews_are_the_same_whatever_came_later(before in any_trace(), later in any_trace(), other in any_trace()) {
        let action = agent("The action.");
        let asked = |later: &[Step]| {
            let steps: Vec<Step> = before.iter().chain([&action]).chain(later).cloned().collect();
            let material = material(steps);
            let (_, calls) = run(assessment(&material, before.len() as u32), opinionated("negative", "Another.", "Another."));
            calls.into_iter().filter(|call| call.purpose != Purpose::Feedback).collect::<Vec<_>>()
        };
        prop_assert_eq!(asked(&later), asked(&other));
    }

    #[test]
    fn every_line_of_data_reads_back(steps in any_trace()) {
        let material = material(steps.clone());
        for target in material.targets() {
            let asked = assessment(&material, target.step_index).call().unwrap();
            for line in asked.context.split('\n').chain(asked.task.split('\n')).filter(|line| line.starts_with('{')) {
                let read: Value = serde_json::from_str(line).unwrap();
                if let (Some(place), Some(text)) = (read["step"].as_u64(), read.get("text")) {
                    prop_assert_eq!(text, &json!(steps[place as usize].content));
                }
            }
        }
    }
}
