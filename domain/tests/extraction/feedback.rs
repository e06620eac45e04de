//! Findings from what people said.

use crate::support::*;
use serde_json::json;
use stash_domain::learning::extraction::{Confidence, EvidenceId, Exclusion, Label, Preferred, Purpose};
use stash_domain::learning::frame::Source;
use stash_domain::rendering::Revision;

#[test]
fn sarcasm_is_kept_with_the_persons_own_words() {
    let material = material(vec![
        user("Cancel my order, not the account."),
        agent("I have closed your account."),
        user("Oh brilliant, exactly what I wanted. NOT. I'm locked out."),
    ]);
    let said = feedback("negative", "m1", "Oh brilliant, exactly what I wanted. NOT.", "I have cancelled your order.");
    let (finding, calls) = run(assessment(&material, 1), |_| said.clone());
    assert_eq!(calls.len(), 1);
    assert_eq!((finding.label, finding.source), (Label::Negative, Source::UserFeedback));
    assert_eq!(finding.evidence_id, EvidenceId::Step(step_id(2)));
    assert_eq!(finding.evidence_quote, "Oh brilliant, exactly what I wanted. NOT.");
    assert_eq!(finding.preferred, Some(Preferred::Revision));
    assert_eq!(finding.revision, Some(Revision::Response { content: "I have cancelled your order.".to_owned() }));
    assert_eq!(finding.exclusion, None);
}

#[test]
fn a_failed_action_and_its_repair_have_findings_of_their_own() {
    let material = material(vec![
        user("Book Tuesday."),
        agent("Booked for Thursday."),
        user("I said Tuesday!"),
        agent("Sorry. Moved to Tuesday."),
        user("Perfect, thanks."),
    ]);
    let failed = feedback("negative", "m1", "I said Tuesday!", "Booked for Tuesday.");
    let (failure, _) = run(assessment(&material, 1), |_| failed.clone());
    let repaired = feedback("positive", "m1", "Perfect, thanks.", "Sorry, I will look into it.");
    let (repair, _) = run(assessment(&material, 3), |_| repaired.clone());
    assert_eq!((failure.step_index, failure.label, failure.preferred), (1, Label::Negative, Some(Preferred::Revision)));
    assert_eq!((repair.step_index, repair.label, repair.preferred), (3, Label::Positive, Some(Preferred::Original)));
    // The complaint was made before the repair: it can be cited against the failure only.
    assert!(assessment(&material, 3).answer(&feedback("negative", "m1", "I said Tuesday!", ""), "m").is_err());
}

#[test]
fn ambiguous_feedback_is_kept_and_makes_no_pair() {
    let material = material(vec![user("Go."), agent("Gone."), user("Good, but bad.")]);
    let said = feedback("unclear", "m1", "Good, but bad.", "Going.");
    let (finding, calls) = run(assessment(&material, 1), |_| said.clone());
    assert_eq!((finding.label, finding.exclusion, finding.preferred), (Label::Unclear, Some(Exclusion::Unclear), None));
    // Nor is a model's opinion put in its place.
    assert_eq!(calls.len(), 1);
}

#[test]
fn disappointment_without_a_correction_is_kept_and_invents_none() {
    let material = material(vec![user("Write a poem."), agent("Roses are red."), user("Meh.")]);
    let (finding, _) = run(assessment(&material, 1), |_| feedback("negative", "m1", "Meh.", ""));
    assert_eq!((finding.label, finding.exclusion), (Label::Negative, Some(Exclusion::NoAlternative)));
    assert_eq!(finding.revision, None);
}

#[test]
fn feedback_that_is_not_sure_makes_no_pair() {
    let material = material(vec![user("Go."), agent("Gone."), user("Hm, fine I guess.")]);
    let mut said = feedback("positive", "m1", "fine I guess", "No.");
    said["confidence"] = json!("low");
    let (finding, _) = run(assessment(&material, 1), |_| said.clone());
    assert_eq!((finding.confidence, finding.exclusion), (Confidence::Low, Some(Exclusion::LowConfidence)));
}

#[test]
fn a_comment_of_a_reviewer_is_feedback_on_its_step() {
    let comments = vec![comment(1, Some(1), "Promised a refund without looking at the policy.")];
    let annotation = comments[0].annotation_id;
    let material = material_with(vec![user("Refund?"), agent("I have refunded you.")], comments);
    let said = feedback("negative", "c1", "without looking at the policy", "Let me look at the policy first.");
    let (finding, _) = run(assessment(&material, 1), |_| said.clone());
    assert_eq!(finding.evidence_id, EvidenceId::Comment(annotation));
    assert_eq!(finding.exclusion, None);
}

#[test]
fn silence_and_new_tasks_lead_to_a_judgment_and_never_to_feedback() {
    let material = material(vec![user("Sum 1 and 2."), agent("3."), user("Now sum 3 and 4.")]);
    let (finding, calls) = run(assessment(&material, 1), opinionated("positive", "About 3, I think.", "About 3"));
    assert_eq!(
        calls.iter().map(|call| call.purpose).collect::<Vec<_>>(),
        [Purpose::Feedback, Purpose::Judgment, Purpose::Review]
    );
    assert_eq!(finding.source, Source::AiJudgment);
    assert_eq!(finding.evidence_id, EvidenceId::Step(step_id(1)));
}

#[test]
fn feedback_on_a_tool_call_is_reviewed_without_what_came_later() {
    let material = material(vec![
        user("Weather in Oslo?"),
        call("weather", json!({"city": "Bergen"})),
        result("weather", "Bergen: rain, 9 degrees"),
        user("I asked for Oslo!"),
    ]);
    let better = r#"{"tool_name": "weather", "tool_input": {"city": "Oslo"}, "content": ""}"#;
    let (finding, calls) = run(assessment(&material, 1), |call| match call.purpose {
        Purpose::Feedback => feedback("negative", "m1", "I asked for Oslo!", better),
        _ => review(call, candidate_with(call, "{\"city\": \"Oslo\"}")),
    });
    assert_eq!(calls.iter().map(|call| call.purpose).collect::<Vec<_>>(), [Purpose::Feedback, Purpose::Review]);
    let review = format!("{}{}", calls[1].context, calls[1].task);
    assert!(!review.contains("9 degrees") && !review.contains("I asked for Oslo"), "{review}");
    assert_eq!((finding.source, finding.exclusion), (Source::UserFeedback, None));
    assert_eq!(finding.tool_name.as_deref(), Some("weather"));
}

#[test]
fn an_alternative_that_is_none_keeps_the_finding_and_makes_no_pair() {
    let material = material(vec![user("Go."), call("go", json!({"to": "Oslo"})), result("go", "ok"), user("No!")]);
    for (offered, expected) in [
        ("I would ask first.", Exclusion::InvalidAlternative),
        (r#"{"tool_name": "go", "tool_input": {"to": "Oslo"}, "content": "Going."}"#, Exclusion::SameAlternative),
        (r#"{"tool_name": "go", "tool_input": {"to": "Bergen"}, "result": "ok"}"#, Exclusion::InvalidAlternative),
    ] {
        let (finding, calls) = run(assessment(&material, 1), |_| feedback("negative", "m1", "No!", offered));
        assert_eq!((finding.label, finding.exclusion, calls.len()), (Label::Negative, Some(expected), 1), "{offered}");
    }
}
