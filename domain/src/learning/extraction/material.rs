//! What a trace brings to learning: its steps, the comments on them, and which of its steps are targets.

use crate::ids::{AnnotationId, Digest, StepId, TraceId};
use crate::rendering::{Digester, Revision};
use crate::trace::{ActionType, Role, Step};
use std::sync::Arc;

/// A step with its id. Metadata is needed: it tells whether a person wrote the step.
#[derive(Clone, Debug, PartialEq)]
pub struct IdStep {
    /// Its id.
    pub id: StepId,
    /// The step.
    pub step: Step,
}

/// A comment on the trace or on one of its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its annotation.
    pub annotation_id: AnnotationId,
    /// Its step; none for the whole trace.
    pub step_id: Option<StepId>,
    /// What is said.
    pub text: String,
    /// Whether the annotation was flagged as wrong.
    pub label_error: bool,
    /// Whether a person wrote it; see [`is_origin_of_person`] for comments that another tool brought.
    pub by_person: bool,
}

/// Whether a judgment that came from another tool was made by a person, by the word that the tool has for how it came about
/// ([`AnnotationSource::origin`](crate::annotation::AnnotationSource)): `annotation` in Langfuse, `app` in LangSmith. Judgments of
/// programs, and those of which nobody says, are not taken as words of a person.
pub fn is_origin_of_person(origin: Option<&str>) -> bool {
    origin.is_some_and(|origin| ["annotation", "app", "human"].iter().any(|known| origin.eq_ignore_ascii_case(known)))
}

/// A step that is assessed.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its place among the targets of the trace.
    pub number: usize,
    /// Zero-based index among all steps of the trace.
    pub step_index: u32,
    /// Its id.
    pub step_id: StepId,
    /// Kind of the action.
    pub action_type: ActionType,
    /// Digest of its action text.
    pub digest: Digest,
    /// The hash before it, from which the digests of alternatives follow.
    before: Digester,
}

impl Target {
    /// Digest of the action text that an alternative makes in its place; none for one that renders to nothing.
    pub fn digest_of(&self, revision: &Revision) -> Option<Digest> {
        self.before.clone().step(&revision.to_step())
    }
}

/// A trace, ready to be learnt from.
#[derive(Clone, Debug)]
pub struct Material {
    trace_id: TraceId,
    steps: Vec<IdStep>,
    comments: Vec<Comment>,
    targets: Vec<Target>,
    /// Indices of the steps that a person wrote, in order.
    by_person: Vec<usize>,
}

impl Material {
    /// Finds targets and the words of people in a trace.
    ///
    /// A target is an action of the agent: a tool call, whatever text comes with it, or a response that is more than blank. A
    /// tool's result never is one, nor anything a user or the system says.
    pub fn of(trace_id: TraceId, steps: Vec<IdStep>, comments: Vec<Comment>) -> Arc<Self> {
        let (mut targets, mut by_person, mut digester) = (Vec::new(), Vec::new(), Digester::new());
        for (place, IdStep { id, step }) in steps.iter().enumerate() {
            if is_by_person(step) {
                by_person.push(place);
            }
            let before = digester.clone();
            let digest = digester.step(step);
            let (Some(digest), Some(action_type), Ok(step_index)) = (digest, step.action_type(), u32::try_from(place))
            else {
                continue;
            };
            let blank = action_type == ActionType::Response && step.content.trim().is_empty();
            if !blank {
                targets.push(Target { number: targets.len(), step_index, step_id: *id, action_type, digest, before });
            }
        }
        Arc::new(Self { trace_id, steps, comments, targets, by_person })
    }

    /// The trace.
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Its steps.
    pub fn steps(&self) -> &[IdStep] {
        &self.steps
    }

    /// Its comments.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// What is assessed, in the order of the steps.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The step of a target; none for a target of another trace.
    pub fn step_of(&self, target: &Target) -> Option<&Step> {
        self.steps.get(usize::try_from(target.step_index).ok()?).map(|step| &step.step)
    }

    /// Places of the steps after this one that a person wrote, in order.
    pub(super) fn by_person_after(&self, step_index: u32) -> &[usize] {
        let after = usize::try_from(step_index).unwrap_or(usize::MAX);
        let first = self.by_person.partition_point(|place| *place <= after);
        self.by_person.get(first..).unwrap_or_default()
    }
}

/// Whether a step holds words of a person. A step of the user that answers a tool call does not, whatever its role says; nor does
/// one without words.
pub fn is_by_person(step: &Step) -> bool {
    step.role == Role::User
        && step.is_written_by_person()
        && step.tool_call_id.is_none()
        && step.tool_name.is_none()
        && !step.content.trim().is_empty()
}
