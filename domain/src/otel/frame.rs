//! How spans and log records that were sent live stand inside a [`Bundle`](crate::sealed::Bundle).

use super::repeats::{Repeat, put_back, take_out};
use super::{OtelLog, OtelSpan, OtelTraceId};
use crate::frame::{BadFrame, decode};
use crate::ids::{Digest, TraceId};
use serde::{Deserialize, Serialize};

/// The letter of frames whose texts are whole, as they were written first.
const WHOLE: u8 = b'O';

/// The letter of frames in which the beginnings of texts stand once. After it come four bytes, big-endian: about how many bytes
/// the frame has when they are put back.
const REPEATING: u8 = b'L';

/// Spans and log records of one trace out of one request, a part of about
/// [`FRAME_BYTES_TARGET`](crate::limits::FRAME_BYTES_TARGET). The subject whose key seals it stands beside it in the clear.
#[derive(Clone, Debug, PartialEq)]
pub struct OtelFrame {
    /// The trace.
    pub trace_id: TraceId,
    /// The id it has where it was recorded.
    pub otel_id: OtelTraceId,
    /// The key of the trace's step ids at the time of the request: the fold derives ids, and must not depend on which keys there
    /// are when it runs. Of several requests for one trace the first one's counts.
    pub step_id_key: Digest,
    /// Spans, as recorded.
    pub spans: Vec<OtelSpan>,
    /// Log records, as recorded.
    pub logs: Vec<OtelLog>,
}

/// A frame as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    trace_id: TraceId,
    otel_id: OtelTraceId,
    step_id_key: Digest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spans: Vec<OtelSpan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    logs: Vec<OtelLog>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<Repeat>,
}

impl OtelFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never: all keys are strings.
    pub fn encode(self) -> Result<Vec<u8>, BadFrame> {
        let Self { trace_id, otel_id, step_id_key, mut spans, logs } = self;
        let repeats = take_out(&mut spans);
        let repeated: usize = repeats.iter().map(Repeat::bytes).sum();
        let written = Written { trace_id, otel_id, step_id_key, spans, logs, repeats };
        let mut bytes = vec![REPEATING, 0, 0, 0, 0];
        serde_json::to_writer(&mut bytes, &written).map_err(|error| BadFrame(error.to_string()))?;
        let whole = u32::try_from(bytes.len().saturating_add(repeated)).unwrap_or(u32::MAX);
        if let Some(head) = bytes.get_mut(1..5) {
            head.copy_from_slice(&whole.to_be_bytes());
        }
        Ok(bytes)
    }

    /// About how many bytes a frame has when it is read, from its plain bytes.
    pub fn whole_bytes(bytes: &[u8]) -> usize {
        match bytes {
            [REPEATING, a, b, c, d, ..] => usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX),
            whole => whole.len(),
        }
    }

    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        let written = match bytes {
            [REPEATING, _, _, _, _, json @ ..] => {
                serde_json::from_slice(json).map_err(|error| BadFrame(error.to_string()))?
            }
            bytes => decode(WHOLE, bytes)?,
        };
        let Written { trace_id, otel_id, step_id_key, mut spans, logs, repeats } = written;
        put_back(&mut spans, &repeats)?;
        Ok(Self { trace_id, otel_id, step_id_key, spans, logs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::encode;
    use crate::json::Json;
    use crate::otel::{Attributes, OtelSpanId};
    use uuid::Uuid;

    fn frame() -> OtelFrame {
        let trace = OtelTraceId::from_bytes(&[1; 16]).unwrap();
        let span = |n: u8| {
            let mut span = OtelSpan::new(trace, OtelSpanId::from_bytes(&[n; 8]).unwrap());
            let text = "a message of some length; ".repeat(10 + usize::from(n));
            span.attributes = Attributes(vec![("gen_ai.input.messages".to_owned(), Json::Text(text))]);
            span
        };
        let spans = (1..5).map(span).collect();
        let (trace_id, step_id_key) = (TraceId(Uuid::from_u128(7)), Digest([3; 32]));
        OtelFrame { trace_id, otel_id: trace, step_id_key, spans, logs: Vec::new() }
    }

    #[test]
    fn a_frame_reads_back_and_says_a_history_once() {
        let bytes = frame().encode().unwrap();
        assert_eq!(OtelFrame::whole_bytes(&bytes) - bytes.len(), (11 + 12 + 13) * 26);
        assert_eq!(OtelFrame::decode(&bytes), Ok(frame()));
    }

    #[test]
    fn frames_of_before_are_read() {
        let OtelFrame { trace_id, otel_id, step_id_key, spans, logs } = frame();
        let whole = Written { trace_id, otel_id, step_id_key, spans, logs, repeats: Vec::new() };
        assert_eq!(OtelFrame::decode(&encode(WHOLE, &whole).unwrap()), Ok(frame()));
    }
}
