//! A log record that belongs to a span.

use super::{Attributes, Json, OtelSpanId, OtelTraceId};
use serde::{Deserialize, Serialize};

/// A log record that belongs to a span. Its span may come later, or never.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtelLog {
    /// Its trace.
    #[serde(rename = "t")]
    pub trace_id: OtelTraceId,
    /// Its span.
    #[serde(rename = "s")]
    pub span_id: OtelSpanId,
    /// When, nanoseconds since the epoch; 0 if it was not recorded.
    #[serde(rename = "b", default)]
    pub time_ns: u64,
    /// Name of the event.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub event_name: String,
    /// Its attributes.
    #[serde(rename = "a", default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// What it says; null if nothing, or nothing that was captured.
    #[serde(rename = "y", default = "null")]
    pub body: Json,
    /// Where it comes from; see [`Attributes::context`].
    #[serde(rename = "c", default, skip_serializing_if = "Attributes::is_empty")]
    pub context: Attributes,
}

fn null() -> Json {
    Json::Null
}
