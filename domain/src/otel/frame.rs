//! How spans and log records that were sent live stand inside a [`Bundle`](crate::sealed::Bundle).

use super::{OtelLog, OtelSpan, OtelTraceId};
use crate::frame::{BadFrame, decode, encode};
use crate::ids::{Digest, TraceId};
use serde::{Deserialize, Serialize};

/// Spans and log records of one trace out of one request, a part of about
/// [`FRAME_BYTES_TARGET`](crate::limits::FRAME_BYTES_TARGET). The subject whose key seals it stands beside it in the clear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtelFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// The id it has where it was recorded.
    pub otel_id: OtelTraceId,
    /// The key of the trace's step ids at the time of the request: the fold derives ids, and must not depend on which keys there
    /// are when it runs. Of several requests for one trace the first one's counts.
    pub step_id_key: Digest,
    /// Spans, as recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<OtelSpan>,
    /// Log records, as recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<OtelLog>,
}

impl OtelFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never: all keys are strings.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(b'O', self)
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(b'O', bytes)
    }
}
