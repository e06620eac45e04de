//! Writes Stash Trace Format: one line per trace, piece by piece, so that no trace is ever held whole.
//!
//! Reading the line gives the same trace. A title is written only if it was given: a derived one would come back as a given
//! one.

use crate::trace::{Span, Step, TraceHead};
use std::io::{self, Write};

/// Where in a line the writer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Line,
    Steps,
    Spans,
}

/// Writes traces as lines: [`begin`](Self::begin), every [`step`](Self::step), every [`span`](Self::span),
/// [`end`](Self::end); then the next trace. Calls in any other order are brought into a valid line, never into a broken one:
/// a step after a span begins a line without a head.
#[derive(Debug)]
pub struct LineWriter<W> {
    out: W,
    at: At,
    first: bool,
}

impl<W: Write> LineWriter<W> {
    /// Writes into `out`.
    pub fn new(out: W) -> Self {
        Self { out, at: At::Line, first: true }
    }

    /// Where it writes.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Gives back where it wrote.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Begins a trace. `head.title` must be none unless the title was given.
    ///
    /// # Errors
    /// Those of the output.
    pub fn begin(&mut self, head: &TraceHead) -> io::Result<()> {
        self.end()?;
        self.out.write_all(b"{")?;
        for (key, text) in [("id", &head.external_id), ("title", &head.title)] {
            if let Some(text) = text {
                write!(self.out, "\"{key}\":")?;
                json(&mut self.out, text)?;
                self.out.write_all(b",")?;
            }
        }
        self.out.write_all(b"\"metadata\":")?;
        json(&mut self.out, &head.metadata)?;
        self.out.write_all(b",\"steps\":[")?;
        (self.at, self.first) = (At::Steps, true);
        Ok(())
    }

    /// Writes the next step.
    ///
    /// # Errors
    /// Those of the output.
    pub fn step(&mut self, step: &Step) -> io::Result<()> {
        if self.at != At::Steps {
            self.begin(&TraceHead::default())?;
        }
        self.comma()?;
        json(&mut self.out, step)
    }

    /// Writes the next span; no step may follow.
    ///
    /// # Errors
    /// Those of the output.
    pub fn span(&mut self, span: &Span) -> io::Result<()> {
        if self.at == At::Line {
            self.begin(&TraceHead::default())?;
        }
        if self.at == At::Steps {
            self.spans()?;
        }
        self.comma()?;
        json(&mut self.out, span)
    }

    /// Ends the line; does nothing between lines.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(&mut self) -> io::Result<()> {
        match self.at {
            At::Line => return Ok(()),
            At::Steps => self.spans()?,
            At::Spans => {}
        }
        self.at = At::Line;
        self.out.write_all(b"]}\n")
    }

    fn spans(&mut self) -> io::Result<()> {
        (self.at, self.first) = (At::Spans, true);
        self.out.write_all(b"],\"spans\":[")
    }

    fn comma(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.first) { Ok(()) } else { self.out.write_all(b",") }
    }
}

fn json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}
