//! Import formats: from bytes to canonical traces.
//!
//! [`read`] hands traces to a [`TraceSink`] one after another: head, steps, spans, end. What reaches the sink has passed every
//! check of its format; a record that fails one never begins.
//!
//! Where a record is a trace, memory is bounded by the largest step, whatever the size of a trace or of the input: a record of
//! up to [`IMPORT_RECORD_BYTES_IN_MEMORY`](crate::limits::IMPORT_RECORD_BYTES_IN_MEMORY) is parsed in memory, a larger one is
//! walked on the source, for its head and checks first and again for its steps. Where a trace is spread over records, a format
//! holds what its rules need, within a bound in [`limits`](crate::limits).
//!
//! Whoever stores traces runs [`check`] over the whole input first, so that an error in the last line is known before the
//! first trace is stored; [`read`] with the same options then takes and passes over the same records.
//!
//! A new format is a module here that implements [`Format`], a line in [`FORMATS`], a page `docs/formats/<name>.md` and a
//! folder of cases `tests/formats/<name>/`.

mod anthropic_messages;
mod claude_code;
mod codex;
pub(crate) mod common;
mod detect;
mod judgment;
mod langfuse;
mod langsmith;
pub mod merge;
mod observed;
mod openai_chat;
pub(crate) mod otel;
mod refused;
mod report;
mod stash;
pub(crate) mod turns;

pub use judgment::{Judgment, JudgmentSource, Polarity, SCORE_NAMES_MAX, ScoreMap};
pub use report::{ISSUES_LISTED_MAX, Issue, Listed, OnError, ReadError, ReadOptions, Report, SinkError, TraceSink};
pub use stash::write::LineWriter;

use crate::trace::{Span, Step, TraceHead};
use common::look::Look;
use common::source::Source;
use detect::{Fit, detect};
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
    /// Whether a record of this look is of this format. Formats are asked in the order of [`FORMATS`].
    fn fits(&self, look: &Look) -> Fit;
    /// Reads everything the source holds.
    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError>;
}

/// All formats, in the order in which [`AUTO`] tries them: otel, codex, claude_code, langsmith, langfuse, stash,
/// anthropic_messages, openai_chat. Envelopes come before what they may hold.
const FORMATS: &[&dyn Format] = &[
    &otel::Otel,
    &codex::Codex,
    &claude_code::ClaudeCode,
    &langsmith::Langsmith,
    &langfuse::Langfuse,
    &stash::Stash,
    &anthropic_messages::AnthropicMessages,
    &openai_chat::OpenaiChat, // last: its plain messages fit other formats too
];

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
