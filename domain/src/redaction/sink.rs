//! A sink that redacts what goes through it.

use super::{Counts, Redactor};
use crate::formats::{Issue, Judgment, SinkError, TraceSink};
use crate::json::Object;
use crate::trace::{Span, Step, TraceHead};

/// Redacts traces on their way to another sink.
pub struct RedactingSink<'a, S> {
    redactor: &'a Redactor,
    sink: &'a mut S,
    counts: Counts,
}

impl<'a, S: TraceSink> RedactingSink<'a, S> {
    /// Hands on to this sink.
    pub fn new(redactor: &'a Redactor, sink: &'a mut S) -> Self {
        Self { redactor, sink, counts: Counts::new() }
    }

    /// What to tell whoever imported; none if nothing was found.
    pub fn warning(&self) -> Option<Issue> {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        (!counts.is_empty()).then(|| Issue {
            line: 1,
            offset: 0,
            field: None,
            message: format!("taken out of the text before it was stored: {}", counts.join(", ")),
        })
    }

    fn text(&mut self, text: &mut String) {
        self.redactor.text(text, &mut self.counts);
    }
}

impl<S: TraceSink> TraceSink for RedactingSink<'_, S> {
    fn begin(&mut self, mut head: TraceHead) -> Result<(), SinkError> {
        head.title.iter_mut().for_each(|title| self.text(title));
        self.redactor.object(&mut head.metadata, &mut self.counts);
        self.sink.begin(head)
    }

    fn step(&mut self, mut step: Step) -> Result<(), SinkError> {
        self.text(&mut step.content);
        for value in step.tool_input.iter_mut().chain(&mut step.metadata).flat_map(Object::values_mut) {
            self.redactor.value(value, &mut self.counts);
        }
        self.sink.step(step)
    }

    fn span(&mut self, mut span: Span) -> Result<(), SinkError> {
        for text in [&mut span.input, &mut span.output].into_iter().flatten() {
            self.text(text);
        }
        self.sink.span(span)
    }

    fn judgment(&mut self, mut judgment: Judgment) -> Result<(), SinkError> {
        judgment.comment.iter_mut().for_each(|comment| self.text(comment));
        self.sink.judgment(judgment)
    }

    fn end(&mut self) -> Result<(), SinkError> {
        self.sink.end()
    }
}
