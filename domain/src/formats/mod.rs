//! Import formats: from bytes to canonical traces.
//!
//! [`read`] hands traces to a [`TraceSink`] one after another: head, steps, spans, end. What reaches the sink has passed every
//! check of its format; a record that fails one never begins. Memory is bounded by the largest step, whatever the size of a
//! trace or of the input: a record of up to [`IMPORT_RECORD_BYTES_IN_MEMORY`](crate::limits::IMPORT_RECORD_BYTES_IN_MEMORY) is
//! parsed in memory, a larger one is walked on the source, for its head and checks first and again for its steps.
//!
//! Whoever stores traces runs [`check`] over the whole input first, so that an error in the last line is known before the
//! first trace is stored; [`read`] with the same options then takes and passes over the same records.
//!
//! A new format is a module here that implements [`Format`], a line in [`FORMATS`], a page `docs/formats/<name>.md` and a
//! folder of cases `tests/formats/<name>/`.

mod common;
mod openai_chat;
mod report;
mod stash;

pub use report::{ISSUES_LISTED_MAX, Issue, Listed, OnError, ReadError, ReadOptions, Report, SinkError, TraceSink};
pub use stash::write::LineWriter;

use crate::trace::{Span, Step, TraceHead};
use common::cursor::{Cursor, CursorError};
use common::record::Look;
use common::records::Records;
use common::source::Source;
use common::take::look;
use serde::Serialize;
use std::io::{BufRead, Seek};

/// The name that stands for "find out yourself".
pub const AUTO: &str = "auto";

/// One format.
trait Format: Sync {
    /// Its name in requests.
    fn name(&self) -> &'static str;
    /// What it reads, in a sentence or two.
    fn description(&self) -> &'static str;
    /// Whether an input of this look is of this format. Formats are asked in the order of [`FORMATS`].
    fn fits(&self, look: &Look) -> bool;
    /// Reads everything the source holds.
    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError>;
}

/// All formats, in the order in which [`AUTO`] tries them.
const FORMATS: &[&dyn Format] = &[&stash::Stash, &openai_chat::OpenaiChat];

/// A format, as shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FormatInfo {
    /// Its name in requests.
    pub name: &'static str,
    /// What it reads, in a sentence or two.
    pub description: &'static str,
}

/// All formats, in the order in which [`AUTO`] tries them.
pub fn all() -> Vec<FormatInfo> {
    FORMATS.iter().map(|format| FormatInfo { name: format.name(), description: format.description() }).collect()
}

/// Reads every trace of the input, from where it stands, in the named format or [`AUTO`], and hands them to the sink.
///
/// # Errors
/// [`ReadError`]. What the sink was given before is then incomplete and to be thrown away.
pub fn read<R: BufRead + Seek>(
    format: &str,
    source: &mut R,
    options: ReadOptions,
    sink: &mut dyn TraceSink,
) -> Result<Report, ReadError> {
    let mut source = Source::new(source)?;
    let format = if format == AUTO { detect(&mut source, options.record_bytes_in_memory)? } else { find(format)? };
    format.read(&mut source, options, sink)
}

/// Reads the input without keeping anything, to learn all errors before a trace is stored.
///
/// # Errors
/// As [`read`].
pub fn check<R: BufRead + Seek>(format: &str, source: &mut R, options: ReadOptions) -> Result<Report, ReadError> {
    read(format, source, options, &mut Discard)
}

/// Replaces lone surrogates (they are no Unicode, and no JSON parser takes them) in JSON by U+FFFD, as a reader does with its
/// input; whether there were any. For JSON that has an input inside.
pub fn replace_lone_surrogates(json: &mut Vec<u8>) -> bool {
    common::clean::clean(json).surrogates
}

fn find(name: &str) -> Result<&'static dyn Format, ReadError> {
    FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| ReadError::UnknownFormat {
        name: name.chars().take(80).collect(),
        known: FORMATS.iter().map(|format| format.name()).collect(),
    })
}

/// Records looked at for one whose shape is known; the first ones may be damaged.
const RECORDS_LOOKED_AT_MAX: usize = 20;

/// Finds the format by the shape of the first records, and goes back to the start.
fn detect(source: &mut Source<'_>, bytes_max: usize) -> Result<&'static dyn Format, ReadError> {
    let start = source.place();
    let mut records = Records::new(source, bytes_max);
    for _ in 0..RECORDS_LOOKED_AT_MAX {
        let Some(record) = records.next(source)? else { break };
        source.seek(record.start)?;
        let seen = match look(&mut Cursor::stream(source, record.end)) {
            Ok(seen) => seen,
            Err(CursorError::Io(error)) => return Err(error.into()),
            Err(CursorError::Syntax { .. } | CursorError::TooLarge { .. }) => continue,
        };
        if let Some(format) = FORMATS.iter().find(|format| format.fits(&seen)) {
            source.seek(start)?;
            return Ok(*format);
        }
    }
    Err(ReadError::NotRecognised { tried: FORMATS.iter().map(|format| format.name()).collect() })
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
