//! Sinks: one that remembers only a digest of what it is given, and one that exports it.

use serde::Serialize;
use stash_domain::formats::{Judgment, LineWriter, SinkError, TraceSink};
use stash_domain::trace::{Span, Step, TraceHead};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};

/// A digest of all traces in their order; what a sink holds must not count against the importer.
#[derive(Default)]
pub(crate) struct Digest(DefaultHasher);

impl Digest {
    pub(crate) fn value(&self) -> u64 {
        self.0.finish()
    }

    fn put(&mut self, kind: u8, value: &impl Serialize) -> Result<(), SinkError> {
        self.0.write_u8(kind);
        Ok(serde_json::to_writer(Hashing(&mut self.0), value)?)
    }
}

struct Hashing<'a>(&'a mut DefaultHasher);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TraceSink for Digest {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        self.put(1, &(&head.external_id, &head.title, &head.metadata))
    }

    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        self.put(2, &step)
    }

    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        self.put(3, &span)
    }

    fn end(&mut self) -> Result<(), SinkError> {
        self.0.write_u8(4);
        Ok(())
    }
}

/// All traces as lines of Stash Trace Format.
pub(crate) struct Export(pub(crate) LineWriter<Vec<u8>>);

impl TraceSink for Export {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        Ok(self.0.begin(&head)?)
    }

    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        Ok(self.0.step(&step)?)
    }

    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        Ok(self.0.span(&span)?)
    }

    fn judgment(&mut self, _: Judgment) -> Result<(), SinkError> {
        Ok(()) // an export of traces holds no judgments
    }

    fn end(&mut self) -> Result<(), SinkError> {
        Ok(self.0.end()?)
    }
}
