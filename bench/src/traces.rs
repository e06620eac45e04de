//! Lines of a format as traces in memory.

use stash_domain::formats::{self, ReadError, ReadOptions, SinkError, TraceSink};
use stash_domain::trace::{Span, Step, Trace, TraceHead};
use std::io::Cursor;

/// Keeps every trace.
#[derive(Debug, Default)]
struct Keep(Vec<Trace>);

impl TraceSink for Keep {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        self.0.push(Trace { head, ..Trace::default() });
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        if let Some(trace) = self.0.last_mut() {
            trace.steps.push(step);
        }
        Ok(())
    }

    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        if let Some(trace) = self.0.last_mut() {
            trace.spans.push(span);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Reads all traces of an input.
///
/// # Errors
/// When the input is not of the format.
pub fn read(format: &str, input: &[u8]) -> Result<Vec<Trace>, ReadError> {
    let mut keep = Keep::default();
    formats::read(format, &mut Cursor::new(input), ReadOptions::default(), &mut keep)?;
    Ok(keep.0)
}
