//! A conversation, one action of it, and what a judge should find.

use crate::ids::{AnnotationId, StepId, TraceId, derive};
use crate::json::Object;
use crate::learning::extraction::{Assessment, Comment, Dropout, Finding, IdStep, Label, Material, Settings};
use crate::learning::frame::Source;
use crate::trace::{Role, Step};

/// What a finding should say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whose word it should rest on.
    pub source: Source,
    /// The labels that are right; empty: any.
    pub labels: &'static [Label],
    /// Where the person said it: the evidence must be part of it or hold it; none: anywhere.
    pub evidence: Option<&'static str>,
    /// Whether it should make a pair; none: it may.
    pub pair: Option<bool>,
}

/// What a finding got wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It takes something for feedback that is none, or passes over what is.
    #[error("a person's feedback was seen where there is none, or passed over where there is some")]
    Source,
    /// Its label is wrong.
    #[error("the label is wrong")]
    Label,
    /// It cites another message.
    #[error("another text than the one that says so is cited")]
    Evidence,
    /// It makes a pair and should not, or the other way round.
    #[error("a pair was made where there is none, or not made where there is one")]
    Pair,
}

/// A case of a suite.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it tries, in a few words.
    pub name: &'static str,
    /// What should be found.
    pub expected: Expected,
    steps: Vec<Step>,
    comments: Vec<&'static str>,
    /// Index of the action.
    action: usize,
}

impl Case {
    /// A case about the action at this index.
    pub(super) fn of(name: &'static str, action: usize, steps: Vec<Step>, expected: Expected) -> Self {
        Self { name, expected, steps, comments: Vec::new(), action }
    }

    /// The same with a reviewer's comment on the action.
    pub(super) fn commented(mut self, comment: &'static str) -> Self {
        self.comments.push(comment);
        self
    }

    /// The assessment of the action, by all four criteria. Always some for the cases of the suites.
    pub fn assessment(&self) -> Option<Assessment> {
        let trace_id = TraceId(derive("evaluation", &[self.name.as_bytes()]));
        let id = |place: usize| derive("evaluation-step", &[trace_id.0.as_bytes(), &place.to_be_bytes()]);
        let steps: Vec<IdStep> = self
            .steps
            .iter()
            .enumerate()
            .map(|(place, step)| IdStep { id: StepId(id(place)), step: step.clone() })
            .collect();
        let comment = |text: &&'static str| Comment {
            annotation_id: AnnotationId(derive("evaluation-comment", &[trace_id.0.as_bytes(), text.as_bytes()])),
            step_id: Some(StepId(id(self.action))),
            text: (*text).to_owned(),
            label_error: false,
            by_person: true,
        };
        let material = Material::of(trace_id, steps, self.comments.iter().map(comment).collect());
        let place = u32::try_from(self.action).ok()?;
        let target = material.targets().iter().position(|target| target.step_index == place)?;
        Assessment::of(&material, target, Settings { dropout: Dropout::None, seed: 0 })
    }

    /// What a finding got wrong; none if it is right.
    pub fn grade(&self, finding: &Finding) -> Option<Fault> {
        let expected = &self.expected;
        let quote = finding.evidence_quote.as_str();
        if finding.source != expected.source {
            Some(Fault::Source)
        } else if !expected.labels.is_empty() && !expected.labels.contains(&finding.label) {
            Some(Fault::Label)
        } else if expected.evidence.is_some_and(|text| !text.contains(quote) && !quote.contains(text)) {
            Some(Fault::Evidence)
        } else if expected.pair.is_some_and(|pair| pair != finding.exclusion.is_none()) {
            Some(Fault::Pair)
        } else {
            None
        }
    }
}

fn say(role: Role, content: &str) -> Step {
    Step { role, content: content.to_owned(), tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

/// A person's message.
pub(super) fn user(content: &str) -> Step {
    say(Role::User, content)
}

/// A response of the agent.
pub(super) fn agent(content: &str) -> Step {
    say(Role::Assistant, content)
}

/// A tool call with one argument.
pub(super) fn call(tool: &str, argument: &str, value: &str) -> Step {
    let input = Object::of(argument, value);
    Step { tool_name: Some(tool.to_owned()), tool_input: Some(input), ..agent("") }
}

/// A tool's result.
pub(super) fn result(tool: &str, content: &str) -> Step {
    Step { tool_name: Some(tool.to_owned()), ..say(Role::Tool, content) }
}
