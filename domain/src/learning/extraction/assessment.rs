//! The assessment of one target, as a state machine that asks and is told.
//!
//! ```text
//! feedback ──▶ a person reacted ──────▶ draft ──▶ needs no review ─────────▶ done
//!    │ no evidence, or none on this action  ▲        │ AI judgment, or a tool call
//!    └──▶ judgment ─────────────────────────┘        └──▶ review ──────────▶ done
//! ```
//!
//! At most three calls, one after the other. Where a person reacted, that is the finding, also if it is unclear: no model's opinion
//! is put in its place. A draft that can make no pair (unclear, not sure, no alternative or none that is one) is done at once; it
//! keeps its finding.

use super::PROMPT_VERSION;
use super::alternative::{NoAlternative, alternative};
use super::answer::feedback::{Feedback, read_feedback};
use super::answer::judgment::read_judgment;
use super::answer::review::{Order, read_review};
use super::answer::{Malformed, Opinion};
use super::call::{Call, feedback, judgment, review};
use super::criteria::Sample;
use super::dropout::{Dropout, sample};
use super::evidence::{Evidence, EvidenceId, window};
use super::excerpt::excerpt;
use super::finding::{Confidence, Exclusion, Finding, Label, Preferred, REASON_CHARS_MAX, reason};
use super::material::{Material, Target};
use crate::learning::frame::Source;
use crate::rendering::Revision;
use crate::trace::{ActionType, Step};
use serde_json::Value;
use std::sync::Arc;

/// What assessments depend on besides the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How many criteria are left out.
    pub dropout: Dropout,
    /// Seed of the job.
    pub seed: i64,
}

/// The assessment of one target.
#[derive(Clone, Debug)]
pub struct Assessment {
    material: Arc<Material>,
    target: Target,
    step: Step,
    seed: i64,
    criteria: Sample,
    evidence: Vec<Evidence>,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Feedback,
    Judgment,
    Review { finding: Box<Finding>, revision: Revision, order: Order, expected: Preferred },
    Done(Box<Finding>),
}

impl Assessment {
    /// Begins with a target of the material; none if it has no target of this number.
    pub fn of(material: &Arc<Material>, target: usize, settings: Settings) -> Option<Self> {
        let target = material.targets().get(target)?.clone();
        let step = material.step_of(&target)?.clone();
        let criteria = sample(settings.dropout, PROMPT_VERSION, target.digest, settings.seed);
        let evidence = window(material, &target);
        let stage = if evidence.is_empty() { Stage::Judgment } else { Stage::Feedback };
        Some(Self { material: Arc::clone(material), target, step, seed: settings.seed, criteria, evidence, stage })
    }

    /// The criteria of the target.
    pub fn criteria(&self) -> &Sample {
        &self.criteria
    }

    /// What is to be asked next; none when the assessment is done.
    pub fn call(&self) -> Option<Call> {
        let (material, target) = (&*self.material, &self.target);
        match &self.stage {
            Stage::Feedback => Some(feedback(material, target, &self.evidence, &self.criteria)),
            Stage::Judgment => Some(judgment(material, target, &self.criteria)),
            Stage::Review { revision, order, .. } => {
                let revised = revision.to_step();
                let (a, b) = if order.original_first { (&self.step, &revised) } else { (&revised, &self.step) };
                Some(review(material, target, a, b, &self.criteria))
            }
            Stage::Done(_) => None,
        }
    }

    /// Whether [`Self::answer`] would take this answer to the call at hand.
    ///
    /// # Errors
    /// What is wrong, in words that may be sent back to the judge.
    pub fn check(&self, answer: &Value) -> Result<(), Malformed> {
        self.clone().answer(answer, "")
    }

    /// Takes the answer to the call at hand, given by this model.
    ///
    /// # Errors
    /// [`Malformed`]; the assessment is as before.
    pub fn answer(&mut self, answer: &Value, model: &str) -> Result<(), Malformed> {
        self.stage = match &self.stage {
            Stage::Feedback => match read_feedback(answer, &self.material, &self.evidence)? {
                None => Stage::Judgment,
                Some(Feedback { opinion, evidence, quote }) => {
                    self.draft(&opinion, Source::UserFeedback, evidence, quote, model)
                }
            },
            Stage::Judgment => {
                let opinion = read_judgment(answer, &self.criteria)?;
                let evidence = EvidenceId::Step(self.target.step_id);
                self.draft(&opinion, Source::AiJudgment, evidence, excerpt(&self.step), model)
            }
            Stage::Review { finding, order, expected, .. } => {
                let reviewed = read_review(answer, &self.criteria, *order, *expected)?;
                let mut finding = finding.clone();
                let words: String = reviewed.reason.trim().chars().take(REASON_CHARS_MAX).collect();
                if reviewed.exclusion.is_some() && !words.is_empty() {
                    finding.reason = format!("{} Review: {words}", finding.reason);
                }
                finding.exclusion = reviewed.exclusion;
                Stage::Done(finding)
            }
            Stage::Done(_) => return Err(Malformed("nothing was asked".to_owned())),
        };
        Ok(())
    }

    /// Takes note that the judge declined the call at hand: an abstention, since nothing can be told from it. So a provider's
    /// filter that dislikes one trace does not stop the training of all others.
    pub fn declined(&mut self, model: &str) {
        self.stage = match &self.stage {
            Stage::Feedback | Stage::Judgment => {
                let opinion = Opinion {
                    label: Label::Unclear,
                    confidence: Confidence::Low,
                    reason: "The judge declined to answer.".to_owned(),
                    alternative: String::new(),
                    supported: false,
                };
                let evidence = EvidenceId::Step(self.target.step_id);
                self.draft(&opinion, Source::AiJudgment, evidence, excerpt(&self.step), model)
            }
            Stage::Review { finding, .. } => {
                let mut finding = finding.clone();
                finding.reason = format!("{} Review: the judge declined to answer.", finding.reason);
                finding.exclusion = Some(Exclusion::Unsupported);
                Stage::Done(finding)
            }
            Stage::Done(finding) => Stage::Done(finding.clone()),
        };
    }

    /// The finding; none before the assessment is done.
    pub fn finding(&self) -> Option<&Finding> {
        match &self.stage {
            Stage::Done(finding) => Some(finding),
            _ => None,
        }
    }

    /// What follows from an opinion: a finding, and a review if it may make a pair and must have one.
    fn draft(&self, opinion: &Opinion, source: Source, evidence_id: EvidenceId, quote: String, model: &str) -> Stage {
        let offered = alternative(&self.step, &opinion.alternative);
        let revision = offered.clone().ok();
        let revision_digest = revision.as_ref().and_then(|revision| self.target.digest_of(revision));
        let preferred = match opinion.label {
            Label::Positive => Some(Preferred::Original),
            Label::Negative => Some(Preferred::Revision),
            Label::Unclear => None,
        };
        let exclusion = exclusion_of(opinion, &offered).or_else(|| {
            // White space alone may still render to the same text.
            (revision_digest.is_none() || revision_digest == Some(self.target.digest))
                .then_some(Exclusion::SameAlternative)
        });
        let finding = Box::new(Finding {
            trace_id: self.material.trace_id(),
            step_id: self.target.step_id,
            step_index: self.target.step_index,
            action_type: self.target.action_type,
            tool_name: self.step.tool_name.clone(),
            digest: self.target.digest,
            label: opinion.label,
            confidence: opinion.confidence,
            source,
            evidence_id,
            evidence_quote: quote,
            criteria: self.criteria.clone(),
            reason: reason(&self.criteria, &opinion.reason),
            classifier_model: model.to_owned(),
            revision: revision.clone(),
            revision_digest,
            preferred,
            exclusion,
        });
        let must_be_reviewed = source == Source::AiJudgment || self.target.action_type == ActionType::ToolCall;
        match (finding.exclusion, revision, revision_digest, preferred) {
            (None, Some(revision), Some(digest), Some(expected)) if must_be_reviewed => {
                let order = Order::of(self.target.digest, digest, self.seed);
                Stage::Review { finding, revision, order, expected }
            }
            _ => Stage::Done(finding),
        }
    }
}

/// Why an opinion cannot make a pair, before any review.
fn exclusion_of(opinion: &Opinion, offered: &Result<Revision, NoAlternative>) -> Option<Exclusion> {
    match (opinion.label, opinion.confidence, offered) {
        (Label::Unclear, ..) => Some(Exclusion::Unclear),
        (_, Confidence::Low, _) => Some(Exclusion::LowConfidence),
        (.., Err(NoAlternative::Missing)) => Some(Exclusion::NoAlternative),
        (.., Err(NoAlternative::Invalid)) => Some(Exclusion::InvalidAlternative),
        (.., Err(NoAlternative::Same)) => Some(Exclusion::SameAlternative),
        (.., Ok(_)) if !opinion.supported => Some(Exclusion::Unsupported),
        (.., Ok(_)) => None,
    }
}
