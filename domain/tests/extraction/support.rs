//! Conversations and judges.

use serde_json::{Value, json};
use stash_domain::ids::{AnnotationId, StepId, TraceId};
use stash_domain::learning::extraction::{Assessment, Call, Comment, Finding, IdStep, Material, Purpose, Settings};
use stash_domain::trace::{Role, Step};
use std::sync::Arc;
use uuid::Uuid;

pub(crate) const TRACE: TraceId = TraceId(Uuid::from_u128(1));

pub(crate) fn say(role: Role, content: &str) -> Step {
    Step { role, content: content.to_owned(), tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

pub(crate) fn user(content: &str) -> Step {
    say(Role::User, content)
}

pub(crate) fn agent(content: &str) -> Step {
    say(Role::Assistant, content)
}

pub(crate) fn call(name: &str, input: Value) -> Step {
    Step { tool_name: Some(name.to_owned()), tool_input: input.as_object().cloned().map(Into::into), ..agent("") }
}

pub(crate) fn result(name: &str, content: &str) -> Step {
    Step { tool_name: Some(name.to_owned()), ..say(Role::Tool, content) }
}

pub(crate) fn marked(step: Step, key: &str, value: Value) -> Step {
    let mut metadata = step.metadata.clone().unwrap_or_default();
    metadata.insert(key, value);
    Step { metadata: Some(metadata), ..step }
}

pub(crate) fn step_id(place: usize) -> StepId {
    StepId(Uuid::from_u128(1000 + place as u128))
}

pub(crate) fn comment(number: u128, place: Option<usize>, text: &str) -> Comment {
    Comment {
        annotation_id: AnnotationId(Uuid::from_u128(5000 + number)),
        step_id: place.map(step_id),
        text: text.to_owned(),
        label_error: false,
        by_person: true,
    }
}

pub(crate) fn material_with(steps: Vec<Step>, comments: Vec<Comment>) -> Arc<Material> {
    let steps = steps.into_iter().enumerate().map(|(place, step)| IdStep { id: step_id(place), step }).collect();
    Material::of(TRACE, steps, comments)
}

pub(crate) fn material(steps: Vec<Step>) -> Arc<Material> {
    material_with(steps, Vec::new())
}

/// The assessment of the action at a step.
pub(crate) fn assessment(material: &Arc<Material>, place: u32) -> Assessment {
    let target = material.targets().iter().position(|target| target.step_index == place).expect("it is a target");
    Assessment::of(material, target, Settings::default()).expect("it can be assessed")
}

/// Asks until the assessment is done: what was found, and what was asked for it.
pub(crate) fn run(mut assessment: Assessment, judge: impl Fn(&Call) -> Value) -> (Finding, Vec<Call>) {
    let mut calls = Vec::new();
    while let Some(call) = assessment.call() {
        assert!(calls.len() < 3, "at most three calls");
        assessment.answer(&judge(&call), "scripted").expect("the answer is taken");
        calls.push(call);
    }
    (assessment.finding().expect("it is done").clone(), calls)
}

pub(crate) fn no_feedback() -> Value {
    json!({"reason": "Nobody reacts.", "label": "none", "confidence": "high", "evidence_id": "", "evidence_quote": "",
        "alternative": "", "alternative_supported": false})
}

pub(crate) fn feedback(label: &str, evidence: &str, quote: &str, alternative: &str) -> Value {
    json!({"reason": "They say so.", "label": label, "confidence": "high", "evidence_id": evidence, "evidence_quote": quote,
        "alternative": alternative, "alternative_supported": true})
}

/// The criteria that a call names.
pub(crate) fn criteria_of(call: &Call) -> Vec<String> {
    let list = call.task.rsplit("riteria:\n").next().expect("a list of criteria");
    list.lines().filter_map(|line| Some(line.strip_prefix("- ")?.split(':').next()?.to_owned())).collect()
}

pub(crate) fn judgment(call: &Call, label: &str, alternative: &str) -> Value {
    let criteria: Vec<Value> =
        criteria_of(call).into_iter().map(|id| json!({"criterion": id, "verdict": "met", "note": ""})).collect();
    json!({"reason": "It is so.", "criteria": criteria, "label": label, "confidence": "high", "alternative": alternative,
        "alternative_supported": true})
}

/// Which candidate of a review is the one whose line holds this text: `a` or `b`.
pub(crate) fn candidate_with(call: &Call, text: &str) -> &'static str {
    let line = call.task.lines().find(|line| line.starts_with("{\"candidate\"") && line.contains(text));
    if line.expect("a candidate with this text").starts_with("{\"candidate\": \"a\"") { "a" } else { "b" }
}

pub(crate) fn review(call: &Call, preferred: &str) -> Value {
    let criteria: Vec<Value> =
        criteria_of(call).into_iter().map(|id| json!({"criterion": id, "better": preferred, "note": ""})).collect();
    json!({"reason": "It is better.", "supported": {"a": true, "b": true}, "safe": {"a": true, "b": true},
        "criteria": criteria, "preferred": preferred})
}

/// A judge that finds no feedback, has this opinion, and whose review prefers the candidate with this text.
pub(crate) fn opinionated<'j>(label: &'j str, alternative: &'j str, better: &'j str) -> impl Fn(&Call) -> Value + 'j {
    move |call| match call.purpose {
        Purpose::Feedback => no_feedback(),
        Purpose::Judgment => judgment(call, label, alternative),
        Purpose::Review => review(call, candidate_with(call, better)),
    }
}
