//! Frames of pairs: one per side, sealed under the key of that side's trace inside a [`Bundle`](crate::sealed::Bundle), so that
//! deleting one trace of a two-trace pair erases its own side and nothing else.

use super::extraction::{EvidenceId, Finding, Label};
use crate::frame::{BadFrame, decode, encode};
use crate::ids::{Digest, StepId, TraceId};
use crate::rendering::RenderedText;
use crate::trace::ActionType;
use serde::{Deserialize, Serialize};

/// Which side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The better one.
    Chosen,
    /// The worse one.
    Rejected,
}

/// What a pair compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// Whole traces.
    Trace,
    /// Actions.
    Action,
}

/// Where a pair's preference comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Ratings that people gave.
    ExplicitRating,
    /// What a person said about the action later.
    UserFeedback,
    /// A model's judgment.
    AiJudgment,
}

impl Source {
    /// The name, as in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExplicitRating => "explicit_rating",
            Self::UserFeedback => "user_feedback",
            Self::AiJudgment => "ai_judgment",
        }
    }
}

/// What a pair is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Training.
    Train,
    /// Held-out evaluation.
    Eval,
    /// Neither: its traces fall on both sides.
    Excluded,
}

/// One side of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairSideFrame {
    /// Number of the pair in its set, from 0.
    pub pair: u32,
    /// Which side this is.
    pub side: Side,
    /// The trace it is from.
    pub trace_id: TraceId,
    /// The step it is; none for a whole trace.
    pub step_id: Option<StepId>,
    /// The whole text, in the form of the model's base.
    pub text: String,
    /// Where it falls into pieces, as in [`RenderedText`].
    pub cuts: Vec<usize>,
    /// Digest of the text in ChatML form: what staleness is told by.
    pub digest: Digest,
    /// What the pair compares.
    pub granularity: Granularity,
    /// Kind of the actions; none for traces.
    pub action_type: Option<ActionType>,
    /// Where the preference comes from.
    pub source: Source,
    /// What the pair is used for.
    pub split: Split,
    /// Whether a model wrote this side's action, in the place of the one that was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revised: bool,
    /// What the preference rests on; on both sides of a pair from a finding, none for one from ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<PairEvidence>,
}

/// What a pair from a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairEvidence {
    /// Zero-based index of the action among all steps of its trace.
    pub step_index: u32,
    /// The tool, if it is a call.
    pub tool_name: Option<String>,
    /// What is thought of what was done: `positive` or `negative`.
    pub label: Label,
    /// What is cited.
    pub evidence_id: EvidenceId,
    /// Verbatim from there.
    pub evidence_quote: String,
    /// Why.
    pub reason: String,
    /// The model that judged.
    pub classifier_model: String,
}

impl PairEvidence {
    /// What a finding's pair rests on.
    pub fn of(finding: &Finding) -> Self {
        Self {
            step_index: finding.step_index,
            tool_name: finding.tool_name.clone(),
            label: finding.label,
            evidence_id: finding.evidence_id,
            evidence_quote: finding.evidence_quote.clone(),
            reason: finding.reason.clone(),
            classifier_model: finding.classifier_model.clone(),
        }
    }
}

const KIND: u8 = b'Q';

impl PairSideFrame {
    /// Text and pieces together.
    pub fn rendered(self) -> RenderedText {
        RenderedText { text: self.text, cuts: self.cuts }
    }

    /// The plain bytes.
    ///
    /// # Errors
    /// Never for the frames of this version: their keys are strings and they hold no fractions.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(KIND, self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(KIND, bytes)
    }
}
