//! Annotations that came with their trace from another tool: how they stand inside a [`Bundle`](crate::sealed::Bundle).

use crate::frame::{BadFrame, decode, encode};
use crate::ids::{AnnotationId, StepId, TraceId};
use serde::{Deserialize, Serialize};

/// Where an annotation comes from that nobody wrote here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationSource {
    /// The tool: `langfuse` or `langsmith`.
    pub name: String,
    /// Its id there.
    pub id: String,
    /// What was judged, such as `user-feedback`.
    pub judged: String,
    /// How it came about, in the tool's words, such as `human`, `api` or `eval`.
    pub origin: Option<String>,
}

/// A judgment as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredJudgment {
    /// The annotation that it is.
    pub annotation_id: AnnotationId,
    /// Its step; none means the whole trace.
    pub step_id: Option<StepId>,
    /// 1 or -1, or none.
    pub rating: Option<i32>,
    /// In words.
    pub comment: Option<String>,
    /// Where it comes from.
    pub source: AnnotationSource,
}

/// Judgments of one trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgmentsFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// The judgments.
    pub judgments: Vec<StoredJudgment>,
}

impl JudgmentsFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never for the frames of this version: they hold no fractions.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(b'J', self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(b'J', bytes)
    }
}
