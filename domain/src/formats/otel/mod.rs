//! `otel`: OpenTelemetry spans and log records, from files and live.
//!
//! 1. Bytes become [`OtelSpan`]s and [`OtelLog`]s: [`otel::json`](crate::otel::json), or a server's decoding of protobuf.
//! 2. [`carriers`] find the messages of a span, [`turns`](super::turns) makes steps of them.
//! 3. [`merge`](super::merge) puts the calls of a trace together.
//! 4. [`TraceState`] keeps what is needed to add to a trace; a file is the addition of everything to nothing.
//!
//! # Live
//!
//! A server keeps, for each trace, all of its spans and log records, and a [`TraceState`]. When more come, it calls [`grow`] with
//! those and does what [`Grown`] says. On [`AssembleError::Rebuild`] it calls [`rebuild`] with everything it keeps, the new ones
//! included, and replaces the trace. Either way the trace is the same that one [`rebuild`] of everything gives, whatever the
//! order and the batches in which its spans came, and a span sent again changes nothing.
//!
//! - A rebuild is asked for by a call that began before the last one or that encloses calls taken in before (a framework's span
//!   around its library's, when it comes in a later batch), a span sent again with other content, log records of a span taken in
//!   before, and a span that comes after its log records. Agents and other spans above that come late, and tool spans, do not.
//! - [`grow`] costs what the new spans cost, not what the trace does.
//! - Of two recordings of one span keep the one that [`OtelSpan::stands_over`] the other; of log records, one for each
//!   [`OtelLog::digest`].
//! - [`check_messages`] and [`check_log_messages`] say at the door what [`grow`] would read as plain text.

mod carriers;
mod facts;
mod file;
mod kind;
mod source;
mod state;
mod strays;
mod strict;
mod tool;
mod unmapped;
mod warned;

#[cfg(test)]
mod properties;

pub(super) use file::is_binary;
pub use source::said;
pub use state::{AssembleError, Grown, GrownSpan, Known, TraceState};
pub use strict::{MessageFault, check_log_messages, check_messages};

use super::Format;
use super::common::look::Look;
use super::common::source::Source;
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::otel::json::is_row;
use crate::otel::{OtelLog, OtelSpan, OtelTraceId};

/// The format.
pub(super) struct Otel;

const NAME: &str = "otel";

impl Format for Otel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "OpenTelemetry: OTLP/JSON requests or the Collector's file exporter (resourceSpans, resourceLogs), with messages by the \
         GenAI conventions of any version, OpenInference, OpenLLMetry, the AI SDK or LangSmith; and Phoenix's span rows. One \
         trace per trace id."
    }

    fn fits(&self, look: &Look) -> Fit {
        const SIGNALS: [&str; 2] = ["resourcespans", "resourcelogs"];
        let Json::Object(fields) = &look.value else { return Fit::No };
        let is_signal = |key: &str| SIGNALS.contains(&key.replace('_', "").to_lowercase().as_str());
        Fit::yes_if(fields.iter().any(|(key, _)| is_signal(key)) || is_row(&look.value))
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        file::read(NAME, source, options, sink)
    }
}

/// Adds spans and log records of one trace, in any order, to what its state tells of it.
///
/// What is known already is passed over, so that sending again changes nothing. The result says what to append; until
/// [`TraceState::is_shown`] there are no steps.
///
/// # Errors
/// [`AssembleError`]. The state is then spent.
pub fn grow(
    state: &mut TraceState,
    trace_id: OtelTraceId,
    spans: Vec<OtelSpan>,
    logs: Vec<OtelLog>,
) -> Result<Grown, AssembleError> {
    state.add(trace_id, spans, logs, true)
}

/// Builds a trace from all of its spans and log records, in any order; a span may be there several times.
///
/// # Errors
/// [`AssembleError::TooManySpans`] or [`AssembleError::TooManySteps`].
pub fn rebuild(
    trace_id: OtelTraceId,
    spans: Vec<OtelSpan>,
    logs: Vec<OtelLog>,
) -> Result<(TraceState, Grown), AssembleError> {
    let mut state = TraceState::default();
    let grown = state.add(trace_id, spans, logs, true)?;
    Ok((state, grown))
}
