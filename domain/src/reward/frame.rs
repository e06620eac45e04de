//! Frames of scores: one per trace, sealed under the trace's key inside a [`Bundle`](crate::sealed::Bundle).

use crate::frame::{BadFrame, decode, encode};
use crate::ids::{Digest, StepId, TraceId};
use serde::{Deserialize, Serialize};

/// What was cut from the left of a text before a model read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncated {
    /// Tokens dropped.
    pub dropped_tokens: u64,
    /// Whether the cut went into the segment that is scored, rather than its context alone.
    pub target_cut: bool,
}

/// A model's scores of one trace and its actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoresFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// Digest of the trace text that was scored.
    pub digest: Digest,
    /// Raw score of the trace; none when only its actions were scored.
    pub score: Option<f64>,
    /// What was cut from the trace text; none if it was read whole.
    pub truncated: Option<Truncated>,
    /// Scores of actions, in the order of their steps.
    pub actions: Vec<ActionScore>,
}

/// A model's score of one action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionScore {
    /// The step.
    pub step_id: StepId,
    /// Digest of the action text that was scored.
    pub digest: Digest,
    /// Raw score.
    pub score: f64,
    /// Place on the display scale, -1 to 1 ([`crate::reward::credit`]).
    pub credit: f64,
    /// What was cut from the action text; none if it was read whole.
    pub truncated: Option<Truncated>,
}

const KIND: u8 = b'V';

impl ScoresFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when a score is not finite.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        let scores =
            self.score.iter().copied().chain(self.actions.iter().flat_map(|action| [action.score, action.credit]));
        // JSON writes NaN as null, which would only be found when the frame is read.
        if scores.into_iter().any(|score| !score.is_finite()) {
            return Err(BadFrame("a score is not finite".to_owned()));
        }
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
