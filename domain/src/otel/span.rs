//! A span.

use super::attributes::shared;
use super::feed::Feed;
use super::{Attributes, Context, OtelSpanId, OtelTraceId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A span, as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtelSpan {
    /// Its trace.
    #[serde(rename = "t")]
    pub trace_id: OtelTraceId,
    /// Its id, unique within the trace.
    #[serde(rename = "s")]
    pub span_id: OtelSpanId,
    /// The span that caused it; it may come later, or never.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<OtelSpanId>,
    /// Name of the operation.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its place in a request.
    #[serde(rename = "k", default, skip_serializing_if = "SpanKind::is_unspecified")]
    pub kind: SpanKind,
    /// Start, nanoseconds since the epoch; 0 if it was not recorded.
    #[serde(rename = "b", default)]
    pub start_ns: u64,
    /// End, nanoseconds since the epoch; 0 if it was not recorded.
    #[serde(rename = "e", default)]
    pub end_ns: u64,
    /// Its attributes.
    #[serde(rename = "a", default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// Its events.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<OtelEvent>,
    /// Spans it points at.
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<OtelLink>,
    /// How it ended.
    #[serde(rename = "x", default, skip_serializing_if = "Status::is_unset")]
    pub status: Status,
    /// Where it comes from; see [`Attributes::context`].
    #[serde(rename = "c", default, with = "shared", skip_serializing_if = "shared::is_empty")]
    pub context: Context,
}

impl OtelSpan {
    /// A span without anything but its ids.
    pub fn new(trace_id: OtelTraceId, span_id: OtelSpanId) -> Self {
        Self {
            trace_id,
            span_id,
            parent: None,
            name: String::new(),
            kind: SpanKind::default(),
            start_ns: 0,
            end_ns: 0,
            attributes: Attributes::default(),
            events: Vec::new(),
            links: Vec::new(),
            status: Status::default(),
            context: Context::default(),
        }
    }
}

impl OtelSpan {
    /// What tells two recordings of the span apart: never 0.
    pub fn digest(&self) -> u64 {
        let mut feed = Feed::default();
        feed.number(u64::from_be_bytes(*self.span_id.bytes()));
        feed.number(self.parent.map_or(0, |parent| u64::from_be_bytes(*parent.bytes())));
        feed.text(&self.name);
        feed.number(self.kind as u64);
        feed.number(self.start_ns);
        feed.number(self.end_ns);
        feed.attributes(&self.attributes);
        feed.number(self.events.len() as u64);
        for event in &self.events {
            feed.text(&event.name);
            feed.number(event.time_ns);
            feed.attributes(&event.attributes);
        }
        feed.number(self.links.len() as u64);
        for link in &self.links {
            feed.bytes(link.trace_id.bytes());
            feed.bytes(link.span_id.bytes());
        }
        feed.number(self.status.code as u64);
        feed.text(&self.status.message);
        feed.attributes(&self.context);
        feed.first()
    }

    /// Whether this recording of a span stands over another one of the same span: the one that ended later does, then the one
    /// that says more. So what is kept does not depend on which came first.
    pub fn stands_over(&self, held: &Self) -> bool {
        let weight = |span: &Self| {
            let known_end_ns = if span.end_ns == u64::MAX { 0 } else { span.end_ns };
            (known_end_ns, span.attributes.0.len() + span.events.len())
        };
        let (new, old) = (weight(self), weight(held));
        new > old || new == old && self.digest() > held.digest()
    }
}

/// First eight bytes of the digest of something as it is stored; never 0.
pub(super) fn digest_of(stored: &impl Serialize) -> u64 {
    let digest = Sha256::digest(serde_json::to_vec(stored).unwrap_or_default());
    let first: [u8; 8] = std::array::from_fn(|n| digest.get(n).copied().unwrap_or(0));
    u64::from_be_bytes(first).max(1)
}

/// The place of a span in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// Not said.
    #[default]
    Unspecified,
    /// Inside an application.
    Internal,
    /// A request served.
    Server,
    /// A request made.
    Client,
    /// A message sent.
    Producer,
    /// A message received.
    Consumer,
}

impl SpanKind {
    /// The kind of a number of the protocol.
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Internal,
            2 => Self::Server,
            3 => Self::Client,
            4 => Self::Producer,
            5 => Self::Consumer,
            _ => Self::Unspecified,
        }
    }

    fn is_unspecified(&self) -> bool {
        *self == Self::Unspecified
    }
}

/// Something that happened within a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtelEvent {
    /// What.
    #[serde(rename = "n", default)]
    pub name: String,
    /// When, nanoseconds since the epoch; 0 if it was not recorded.
    #[serde(rename = "b", default)]
    pub time_ns: u64,
    /// Its attributes.
    #[serde(rename = "a", default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
}

/// A span pointed at; it may be of another trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtelLink {
    /// Its trace.
    #[serde(rename = "t")]
    pub trace_id: OtelTraceId,
    /// Its id.
    #[serde(rename = "s")]
    pub span_id: OtelSpanId,
}

/// How a span ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Well or not.
    #[serde(rename = "c", default)]
    pub code: StatusCode,
    /// What went wrong.
    #[serde(rename = "m", default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Status {
    fn is_unset(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a span ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusCode {
    /// Not said.
    #[default]
    Unset,
    /// Well.
    Ok,
    /// With an error.
    Error,
}

impl StatusCode {
    /// The status of a number of the protocol.
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Ok,
            2 => Self::Error,
            _ => Self::Unset,
        }
    }
}
