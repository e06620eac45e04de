//! Frames: how traces stand inside a [`Bundle`](crate::sealed::Bundle).
//!
//! A trace is cut into step frames of about [`FRAME_BYTES_TARGET`](crate::limits::FRAME_BYTES_TARGET), then span frames, and
//! closed by one summary frame; the subject whose key seals it stands beside it in the clear. Writer and readers hold one
//! frame at a time, whatever the size of the trace. The plain bytes are one letter for the kind and then JSON.

use super::{Span, Step};
pub use crate::frame::BadFrame;
use crate::frame::{decode, encode};
use crate::ids::{Digest, StepId, TraceId};
use crate::json::Object;
use serde::{Deserialize, Serialize};

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
    /// `given`, `derived`, or `generated` where an import may not do without.
    pub title_source: String,
    /// Digest of the message that a derived or generated title is about; none if there is no such message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_basis: Option<Digest>,
    /// Metadata of the trace.
    pub metadata: Object,
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

impl Frame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never for the frames of this version: their keys are strings and they hold no fractions of their own.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        match self {
            Self::Steps(frame) => encode(b'S', frame),
            Self::Spans(frame) => encode(b'P', frame),
            Self::Summary(frame) => encode(b'Z', frame),
        }
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        match bytes.first() {
            Some(b'S') => decode(b'S', bytes).map(Self::Steps),
            Some(b'P') => decode(b'P', bytes).map(Self::Spans),
            _ => decode(b'Z', bytes).map(Self::Summary),
        }
    }
}
