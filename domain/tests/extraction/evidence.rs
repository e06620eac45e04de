//! What can be cited as a person's feedback, and what cannot.

use crate::support::*;
use serde_json::{Value, json};
use stash_domain::learning::extraction::evidence::{MESSAGES_MAX, window};
use stash_domain::learning::extraction::material::is_origin_of_person;
use stash_domain::learning::extraction::{Comment, EvidenceId, Purpose};
use stash_domain::trace::{Role, Step};

/// What may be cited about the action at a step.
fn offered(material: &std::sync::Arc<stash_domain::learning::extraction::Material>, place: u32) -> Vec<EvidenceId> {
    let target = material.targets().iter().find(|target| target.step_index == place).unwrap();
    window(material, target).into_iter().map(|evidence| evidence.id).collect()
}

#[test]
fn only_later_messages_and_comments_on_the_action_are_offered() {
    let comments = vec![
        comment(1, Some(3), "No source."),
        comment(2, Some(1), "On another step."),
        comment(3, None, "On the whole trace."),
    ];
    let steps =
        vec![user("Why?"), agent("Because."), user("That is no answer."), agent("It is the law."), user("Thanks!")];
    let material = material_with(steps, comments.clone());
    assert_eq!(offered(&material, 3), [EvidenceId::Step(step_id(4)), EvidenceId::Comment(comments[0].annotation_id)]);
}

#[test]
fn the_first_request_and_earlier_feedback_cannot_be_cited() {
    let steps = vec![user("Fix it properly."), agent("Done."), user("You broke it!"), agent("Repaired."), user("ok")];
    let material = material(steps);
    for quote in ["Fix it properly.", "You broke it!"] {
        let refused = assessment(&material, 3).answer(&feedback("negative", "m1", quote, ""), "m").unwrap_err();
        assert!(refused.0.contains("copied character by character"), "{refused}");
    }
}

#[test]
fn text_that_no_person_wrote_is_never_offered() {
    let steps = vec![
        user("Go on."),
        agent("Going."),
        marked(user("Summary: the user was delighted."), "compaction", json!(true)),
        marked(user("<system-reminder>great work</system-reminder>"), "injected", json!(true)),
        marked(user("critic: excellent"), "original_role", json!("critic")),
        marked(user("flagged as null"), "injected", Value::Null),
        Step { tool_call_id: Some("c1".to_owned()), ..user("result of a tool, in the user's place") },
        result("praise", "The user loved this."),
        say(Role::System, "The user is happy."),
        agent("I did very well, the user said so."),
        user("   "),
    ];
    assert_eq!(offered(&material(steps), 1), []);
}

#[test]
fn without_evidence_nobody_is_asked_for_feedback() {
    let material = material(vec![user("Go."), agent("Gone."), result("x", "Well done!")]);
    assert_eq!(assessment(&material, 1).call().unwrap().purpose, Purpose::Judgment);
}

#[test]
fn machine_written_text_is_shown_as_such_and_without_a_name_to_cite() {
    let summary = marked(user("Everyone was happy."), "compaction", json!(true));
    let material = material(vec![user("Go."), agent("Gone."), summary, user("Hm.")]);
    let asked = assessment(&material, 1).call().unwrap();
    let line = asked.task.lines().find(|line| line.contains("Everyone was happy.")).unwrap();
    assert!(line.contains(r#""by": "machine""#) && !line.contains("evidence"), "{line}");
}

#[test]
fn flagged_machine_made_and_blank_comments_are_not_offered() {
    let flagged = Comment { label_error: true, ..comment(1, Some(1), "Wrong.") };
    let machine = Comment { by_person: false, ..comment(2, Some(1), "Score 0.2: unhelpful.") };
    let blank = comment(3, Some(1), " \n");
    assert_eq!(offered(&material_with(vec![user("Go."), agent("Gone.")], vec![flagged, machine, blank]), 1), []);
}

#[test]
fn judgments_of_programs_are_no_words_of_a_person() {
    for person in ["annotation", "ANNOTATION", "app", "human"] {
        assert!(is_origin_of_person(Some(person)));
    }
    for other in [None, Some("eval"), Some("api"), Some("model"), Some("auto_eval"), Some("")] {
        assert!(!is_origin_of_person(other), "{other:?}");
    }
}

#[test]
fn a_quote_must_stand_in_the_message_it_is_cited_from() {
    let material = material(vec![user("Go."), agent("Gone."), user("Too late."), user("And too loud.")]);
    let refusal = |evidence: &str, quote: &str| {
        assessment(&material, 1).answer(&feedback("negative", evidence, quote, ""), "m").unwrap_err().0
    };
    assert_eq!(refusal("m1", "And too loud."), "evidence_quote stands in m2, not in m1");
    assert!(refusal("m1", "I hate it.").contains("copied character by character"));
    assert!(refusal("m1", "").contains("copied character by character"));
    assert_eq!(refusal("m3", "Too late."), "evidence_id must be one of: m1, m2");
    assert_eq!(refusal(&step_id(0).to_string(), "Go."), "evidence_id must be one of: m1, m2");
}

#[test]
fn the_window_is_bounded() {
    let mut steps = vec![user("Go."), agent("Gone.")];
    steps.extend((0..40).map(|n| user(&format!("message {n}"))));
    assert_eq!(offered(&material(steps), 1).len(), MESSAGES_MAX);
}
