//! A log record that belongs to a span.

use super::attributes::shared;
use super::span::digest_of;
use super::{Attributes, Context, OtelSpanId, OtelTraceId};
use crate::json::Json;
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
    /// Its place among the records that it came with, which decides between records of one time.
    #[serde(rename = "q", default)]
    pub sequence: u32,
    /// Where it comes from; see [`Attributes::context`].
    #[serde(rename = "c", default, with = "shared", skip_serializing_if = "shared::is_empty")]
    pub context: Context,
}

impl OtelLog {
    /// Whether it may tell of a call's messages. Other records are of no use here.
    pub fn is_generative(&self) -> bool {
        self.event_name.starts_with("gen_ai.")
    }

    /// What tells it from other records of its span, wherever it was sent: never 0.
    pub fn digest(&self) -> u64 {
        digest_of(&Self { sequence: 0, ..self.clone() })
    }
}

fn null() -> Json {
    Json::Null
}
