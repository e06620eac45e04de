//! Import formats: from bytes to canonical traces.
//!
//! [`read`] hands traces to a [`TraceSink`] one after another: head, steps, spans, end. What reaches the sink has passed every
//! check of its format; a record that fails one never begins. Memory is bounded by the largest step, whatever the size of a
//! trace or of the input: a record of up to [`RECORD_BYTES_IN_MEMORY`] is parsed in memory, a larger one is walked on the
//! source, once for its head and checks and again for its steps.
//!
//! Whoever stores traces runs [`check`] over the whole input first, so that an error in the last line is known before the
//! first trace is stored; [`read`] with the same options then takes and passes over the same records.
//!
//! A new format is a module here that implements [`Format`], a line in [`all`], a page `docs/formats/<name>.md` and a folder
//! of cases `tests/formats/<name>/`.

mod report;

use crate::trace::{Span, Step, TraceHead};
pub use report::{ISSUES_LISTED_MAX, Issue, Listed, OnError, ReadError, ReadOptions, Report, SinkError, TraceSink};
use serde::Serialize;
use std::io::{BufRead, Seek};

/// The name that stands for "find out yourself".
pub const AUTO: &str = "auto";

/// A format, as shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FormatInfo {
    /// Its name in requests.
    pub name: &'static str,
    /// What it reads, in a sentence.
    pub description: &'static str,
}

/// All formats, in the order `auto` tries them.
pub fn all() -> Vec<FormatInfo> {
    Vec::new()
}

/// Reads every trace of the input in the named format (or [`AUTO`]) and hands them to the sink.
///
/// # Errors
/// [`ReadError`]; what the sink was given before is then incomplete and to be thrown away.
pub fn read<R: BufRead + Seek>(
    format: &str,
    _source: &mut R,
    _options: ReadOptions,
    _sink: &mut dyn TraceSink,
) -> Result<Report, ReadError> {
    Err(ReadError::UnknownFormat { name: format.to_owned(), known: all().iter().map(|format| format.name).collect() })
}

/// Reads the input without keeping anything, to learn all errors before a trace is stored.
///
/// # Errors
/// As [`read`].
pub fn check<R: BufRead + Seek>(format: &str, source: &mut R, options: ReadOptions) -> Result<Report, ReadError> {
    read(format, source, options, &mut Discard)
}

/// A sink that keeps nothing.
struct Discard;

impl TraceSink for Discard {
    fn begin(&mut self, _: TraceHead) -> Result<(), SinkError> {
        Ok(())
    }
    fn step(&mut self, _: Step) -> Result<(), SinkError> {
        Ok(())
    }
    fn span(&mut self, _: Span) -> Result<(), SinkError> {
        Ok(())
    }
    fn end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
