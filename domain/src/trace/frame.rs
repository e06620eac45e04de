//! Frames: how traces stand inside a [`Bundle`](crate::sealed::Bundle).
//!
//! A trace is cut into step frames of about [`FRAME_BYTES_TARGET`](crate::limits::FRAME_BYTES_TARGET), then span frames, and
//! closed by one summary frame; the subject whose key seals it stands beside it in the clear. Writer and readers hold one
//! frame at a time, whatever the size of the trace. The plain bytes are one letter for the kind and then JSON.

use super::{Span, Step};
use crate::ids::{Digest, StepId, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A step with what was derived from it at the door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredStep {
    /// Its id.
    pub id: StepId,
    /// The step.
    pub step: Step,
    /// Digest of the action text that ends here; none if the step is no action.
    pub action_digest: Option<Digest>,
}

/// A run of consecutive steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepsFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// Zero-based index of the first one; 0 begins the trace, and replaces whatever it had.
    pub first_index: u32,
    /// The steps.
    pub steps: Vec<StoredStep>,
}

/// A run of spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpansFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// Zero-based index of the first one.
    pub first_index: u32,
    /// The spans.
    pub spans: Vec<Span>,
}

/// Closes a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// The id it has where it was recorded.
    pub external_id: Option<String>,
    /// Its title: given, or derived from the first user message.
    pub title: String,
    /// `given` or `derived`.
    pub title_source: String,
    /// Metadata of the trace.
    pub metadata: Map<String, Value>,
    /// Number of steps.
    pub step_count: u32,
    /// Number of actions among them.
    pub action_count: u32,
    /// Number of spans.
    pub span_count: u32,
    /// Digest of the trace text.
    pub trace_digest: Digest,
}

/// A frame of an import.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Steps.
    Steps(StepsFrame),
    /// Spans.
    Spans(SpansFrame),
    /// The end of the trace.
    Summary(SummaryFrame),
}

/// Bytes that are no frame; only damage or a newer writer makes them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of a trace: {0}")]
pub struct BadFrame(pub String);

impl Frame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never for the frames of this version: their keys are strings and their numbers finite.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        let (kind, json) = match self {
            Self::Steps(frame) => (b'S', serde_json::to_vec(frame)),
            Self::Spans(frame) => (b'P', serde_json::to_vec(frame)),
            Self::Summary(frame) => (b'Z', serde_json::to_vec(frame)),
        };
        let mut json = json.map_err(|error| BadFrame(error.to_string()))?;
        json.insert(0, kind);
        Ok(json)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        let (kind, json) = bytes.split_first().ok_or_else(|| BadFrame("empty".to_owned()))?;
        let bad = |error: serde_json::Error| BadFrame(error.to_string());
        match kind {
            b'S' => serde_json::from_slice(json).map(Self::Steps).map_err(bad),
            b'P' => serde_json::from_slice(json).map(Self::Spans).map_err(bad),
            b'Z' => serde_json::from_slice(json).map(Self::Summary).map_err(bad),
            other => Err(BadFrame(format!("unknown kind {other}"))),
        }
    }
}
