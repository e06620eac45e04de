//! OpenTelemetry spans and log records as Stash keeps them: one model, whatever they were sent in.
//!
//! [`OtelSpan`] and [`OtelLog`] are built from OTLP by [`json::decode`] and [`protobuf`]. They hold what
//! the trace is made from and what a person may look for later, nothing else of the protocol. In JSON they are compact (keys of
//! one letter, nothing written that is empty), because each span of each trace is stored that way.
//!
//! Whatever made them: ids are never zero, and everything else is as recorded; times may be 0, names empty, attributes of any
//! shape. What reads them is total.

mod attributes;
mod feed;
pub mod frame;
mod id;
pub mod json;
mod log;
mod paths;
pub mod protobuf;
mod repeats;
mod span;

pub use crate::formats::otel::{
    AssembleError, Grown, GrownSpan, Known, MessageFault, TraceState, check_log_messages, check_messages, grow,
    rebuild, said,
};
pub use attributes::{Attributes, BYTES, CONTEXT_ATTRIBUTES_MAX, CONTEXT_VALUE_BYTES_MAX, Context, double};
pub use id::{OtelId, OtelSpanId, OtelTraceId};
pub use log::OtelLog;
pub use span::{OtelEvent, OtelLink, OtelSpan, SpanKind, Status, StatusCode};
