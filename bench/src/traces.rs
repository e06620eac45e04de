//! Lines of a format as traces in memory, and back as Stash Trace Format.

use stash_domain::formats::{self, LineWriter, ReadError, ReadOptions, SinkError, TraceSink};
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

/// The same traces as lines of Stash Trace Format.
pub fn to_stash(traces: &[Trace]) -> Vec<u8> {
    let mut writer = LineWriter::new(Vec::new());
    for trace in traces {
        // Writing into memory does not fail.
        let _ = writer.begin(&trace.head);
        for step in &trace.steps {
            let _ = writer.step(step);
        }
        let _ = writer.end();
    }
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Corpus, FORMAT, Shape};

    #[test]
    fn a_corpus_is_the_same_in_both_formats() {
        let traces = read(FORMAT, &Corpus::new(1).lines(Shape::Mixed { bytes: 50_000 })).unwrap();
        let again = read("stash", &to_stash(&traces)).unwrap();
        let steps = |traces: &[Trace]| traces.iter().map(|trace| trace.steps.clone()).collect::<Vec<_>>();
        assert_eq!(steps(&traces), steps(&again));
    }
}
