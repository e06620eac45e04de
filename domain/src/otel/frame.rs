//! How spans and log records that were sent live stand inside a [`Bundle`](crate::sealed::Bundle).

use super::{OtelLog, OtelSpan, OtelTraceId};
use crate::frame::{BadFrame, decode, encode};
use crate::ids::{Digest, TraceId};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Spans and log records of one trace out of one request, a part of about
/// [`FRAME_BYTES_TARGET`](crate::limits::FRAME_BYTES_TARGET). The subject whose key seals it stands beside it in the clear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtelFrame<S = OtelSpan, L = OtelLog> {
    /// The trace.
    pub trace_id: TraceId,
    /// The id it has where it was recorded.
    pub otel_id: OtelTraceId,
    /// The key of the trace's step ids at the time of the request: the fold derives ids, and must not depend on which keys there
    /// are when it runs. Of several requests for one trace the first one's counts.
    pub step_id_key: Digest,
    /// Spans, as recorded.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<S>,
    /// Log records, as recorded.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<L>,
}

/// Something of a frame, with the JSON that it stands as there: whoever keeps it need not write it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded<T> {
    /// What it is.
    pub item: T,
    /// Its JSON.
    pub json: Box<str>,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Recorded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        let item = serde_json::from_str(&json).map_err(D::Error::custom)?;
        Ok(Self { item, json })
    }
}

impl OtelFrame {
    /// The plain bytes.
    ///
    /// # Errors
    /// Never: all keys are strings.
    pub fn encode(&self) -> Result<Vec<u8>, BadFrame> {
        encode(b'O', self)
    }
}

impl OtelFrame<Recorded<OtelSpan>, Recorded<OtelLog>> {
    /// Reads plain bytes.
    ///
    /// # Errors
    /// [`BadFrame`] when they are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        decode(b'O', bytes)
    }
}
