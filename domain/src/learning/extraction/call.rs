//! A question to a judge, in the parts in which it is sent.

use super::PROMPT_VERSION;
use super::criteria::Sample;
use super::evidence::{Evidence, text_of};
use super::material::{Material, Target};
use super::shown::{ACTION_CHARS, BETWEEN_CHARS, EVIDENCE_CHARS, context, push_step, push_text, step_line};
use crate::ids::{Digest, TraceId};
use crate::trace::Step;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Whether a person reacted to the action.
    Feedback,
    /// What a model thinks of the action.
    Judgment,
    /// Whether the alternative holds against the action.
    Review,
}

impl Purpose {
    /// The name, as in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feedback => "feedback",
            Self::Judgment => "judgment",
            Self::Review => "review",
        }
    }

    /// The schema of the answer, within the subset that all providers' structured output takes. It never changes with a target,
    /// so that a provider compiles it once; which criteria are meant stands in the task.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Feedback => include_str!("prompts/feedback.schema.json"),
            Self::Judgment => include_str!("prompts/judgment.schema.json"),
            Self::Review => include_str!("prompts/review.schema.json"),
        }
        .trim_ascii_end()
    }

    fn task(self) -> &'static str {
        match self {
            Self::Feedback => include_str!("prompts/feedback.txt"),
            Self::Judgment => include_str!("prompts/judgment.txt"),
            Self::Review => include_str!("prompts/review.txt"),
        }
    }
}

/// What every call begins with, the same for all: what a provider's cache holds longest.
pub const INSTRUCTIONS: &str = include_str!("prompts/instructions.txt");

/// A question to a judge. It is sent in this order: [`INSTRUCTIONS`], `context`, `task`; the first two are worth caching.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What it is for.
    pub purpose: Purpose,
    /// The trace.
    pub trace_id: TraceId,
    /// The action.
    pub step_index: u32,
    /// The record before the action: equal for all calls about one action.
    pub context: String,
    /// The action and what is asked of it.
    pub task: String,
}

impl Call {
    /// What the call is told apart by: version of the prompts, purpose, criteria and content, which all stand in its text. Equal
    /// keys mean equal questions, whatever job asks them; the answer also depends on model and parameters.
    pub fn key(&self) -> Digest {
        let mut hash = Sha256::new();
        let version = PROMPT_VERSION.to_string();
        for part in [&version, self.purpose.name(), INSTRUCTIONS, &self.context, &self.task, self.purpose.schema()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Digest(hash.finalize().into())
    }
}

const RECORD: &str = "THE RECORD BEFORE THE ACTION\n";

/// Steps right after the action that are shown: mostly the result of a call, and what was made of it.
const AFTER: usize = 4;

/// Steps right before a message that are shown: what the person has just seen.
const BEFORE_MESSAGE: usize = 3;

fn call(purpose: Purpose, material: &Material, target: &Target, task: String) -> Call {
    let context = format!("{RECORD}{}", context(material, target));
    Call { purpose, trace_id: material.trace_id(), step_index: target.step_index, context, task }
}

fn place_of(target: &Target) -> usize {
    usize::try_from(target.step_index).unwrap_or(usize::MAX)
}

/// Asks for a person's feedback. Shown besides the action: all evidence, and a few steps around it.
pub(super) fn feedback(material: &Material, target: &Target, evidence: &[Evidence], criteria: &Sample) -> Call {
    let at = place_of(target);
    let mut task = String::from("\nTHE ACTION\n");
    if let Some(step) = material.step_of(target) {
        task.push_str(&step_line(at, step, ACTION_CHARS));
    }
    task.push_str("\nWHAT CAME AFTER IT\n");
    let mut shown: BTreeSet<usize> = (at.saturating_add(1)..=at.saturating_add(AFTER)).collect();
    for place in evidence.iter().filter_map(|evidence| evidence.place) {
        shown.extend(place.saturating_sub(BEFORE_MESSAGE).max(at.saturating_add(1))..=place);
    }
    for place in shown {
        let Some(found) = material.steps().get(place) else { continue };
        match evidence.iter().find(|evidence| evidence.place == Some(place)) {
            None => task.push_str(&step_line(place, &found.step, BETWEEN_CHARS)),
            Some(evidence) => {
                let _ = write!(task, "{{\"evidence\": \"{}\", \"step\": {place}, ", evidence.name);
                push_step(&mut task, &found.step, EVIDENCE_CHARS);
                task.push_str("}\n");
            }
        }
    }
    for comment in evidence.iter().filter(|evidence| evidence.place.is_none()) {
        let _ = write!(task, "{{\"evidence\": \"{}\", \"by\": \"a reviewer, about this action\"", comment.name);
        push_text(&mut task, "comment", text_of(material, comment), EVIDENCE_CHARS);
        task.push_str("}\n");
    }
    let _ = write!(task, "\n{}", Purpose::Feedback.task());
    let _ = write!(task, "An alternative is compared with the action by these criteria:\n{}", criteria.questions());
    call(Purpose::Feedback, material, target, task)
}

/// Asks for a judgment. Nothing after the action is shown.
pub(super) fn judgment(material: &Material, target: &Target, criteria: &Sample) -> Call {
    let mut task = String::from("\nTHE ACTION\n");
    if let Some(step) = material.step_of(target) {
        task.push_str(&step_line(place_of(target), step, ACTION_CHARS));
    }
    let _ = write!(task, "\n{}", Purpose::Judgment.task());
    let _ = write!(task, "Criteria:\n{}", criteria.questions());
    call(Purpose::Judgment, material, target, task)
}

/// Asks which of two candidates is better. Nothing after the action is shown, nor what was thought of it.
pub(super) fn review(material: &Material, target: &Target, a: &Step, b: &Step, criteria: &Sample) -> Call {
    let mut task = String::from("\nTHE CANDIDATES\n");
    for (name, step) in [("a", a), ("b", b)] {
        let _ = write!(task, "{{\"candidate\": \"{name}\", ");
        push_step(&mut task, step, ACTION_CHARS);
        task.push_str("}\n");
    }
    let _ = write!(task, "\n{}", Purpose::Review.task());
    let _ = write!(task, "Criteria:\n{}", criteria.questions());
    call(Purpose::Review, material, target, task)
}
