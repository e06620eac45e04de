//! What a format whose records are traces has to say, and where the traces it builds go.

use super::clean::{drop_nul, drop_nul_in_object, drop_nul_in_step};
use super::look::Look;
use super::timed::TimedStep;
use crate::formats::report::{ISSUES_LISTED_MAX, SinkError, TraceSink};
use crate::json::Json;
use crate::limits::{EXTERNAL_ID_CHARS_MAX, SPANS_PER_TRACE_MAX, STEPS_PER_TRACE_MAX};
use crate::trace::{Role, Span, Step, TraceHead};

/// A rule broken at a field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Path of the field; empty for the whole.
    pub(crate) field: String,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl Bad {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// The same, seen from the value that holds the field.
    pub(crate) fn within(self, outer: &str) -> Self {
        let field = match self.field.as_str() {
            "" => outer.to_owned(),
            field if field.starts_with('[') || outer.is_empty() => format!("{outer}{field}"),
            field => format!("{outer}.{field}"),
        };
        Self { field, message: self.message }
    }
}

/// Why building a trace stops.
#[derive(Debug)]
pub(crate) enum Stop {
    Bad(Bad),
    Sink(SinkError),
}

impl From<Bad> for Stop {
    fn from(bad: Bad) -> Self {
        Self::Bad(bad)
    }
}

/// What stands at a key of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Something small that belongs to the head.
    Head,
    /// An object with more of these.
    Inside,
    /// One of the format's lists, by number: an array of any length.
    Items(usize),
}

/// What an array of records is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayOf {
    /// Each element is a record.
    Records,
    /// The whole is one trace: the format's list 0.
    Items,
}

/// A field of the head: its path and its value.
pub(crate) type HeadField = (Vec<String>, Json);

/// A format in which one record is one trace.
pub(crate) trait RecordFormat {
    /// How many lists a record may hold. They are read in the order of their numbers, wherever they stand.
    const LISTS: usize;

    /// Whether a list may stand in a string, encoded as JSON.
    const LISTS_IN_STRINGS: bool = false;

    /// What builds a trace from its items.
    type Builder;

    /// What stands at a path; keys of the outer objects come first.
    fn holds(path: &[String]) -> Holds;

    /// What an array with this look is.
    fn array_of(look: &Look) -> ArrayOf;

    /// Begins a trace from its head.
    fn begin(fields: Vec<HeadField>, out: &mut Out<'_>) -> Result<(TraceHead, Self::Builder), Bad>;

    /// Takes the next item of a list.
    fn item(builder: &mut Self::Builder, list: usize, item: Json, out: &mut Out<'_>) -> Result<(), Stop>;

    /// Ends the trace.
    fn end(builder: Self::Builder, out: &mut Out<'_>) -> Result<(), Stop>;
}

/// Where the parts of a trace go.
pub(crate) enum Target<'o> {
    /// Kept, until the trace is known to be good.
    Keep { steps: Vec<TimedStep>, spans: Vec<Span> },
    /// Only counted: the first pass over a large record.
    Count,
    /// Handed on: the second pass.
    Sink(&'o mut dyn TraceSink),
}

/// Takes the parts of one trace, and checks what holds in every format.
pub(crate) struct Out<'o> {
    pub(crate) target: Target<'o>,
    /// Steps so far.
    pub(crate) steps: u32,
    /// Spans so far.
    pub(crate) spans: u32,
    /// Whether any step so far is not a system step.
    conversation: bool,
    /// Whether text may hold NUL.
    pub(crate) nul: bool,
    /// Whether any was dropped.
    pub(crate) nul_dropped: bool,
    /// Warnings on the value taken now: as many as a report lists.
    pub(crate) warnings: Vec<Bad>,
    /// How many more there were.
    pub(crate) unlisted: u64,
}

impl<'o> Out<'o> {
    pub(crate) fn new(target: Target<'o>) -> Self {
        let (nul, nul_dropped) = (false, false);
        Self { target, steps: 0, spans: 0, conversation: false, nul, nul_dropped, warnings: Vec::new(), unlisted: 0 }
    }

    /// Notes what was changed or left out.
    pub(crate) fn warn(&mut self, field: impl Into<String>, message: impl Into<String>) {
        if self.warnings.len() < ISSUES_LISTED_MAX {
            self.warnings.push(Bad::new(field, message));
        } else {
            self.unlisted += 1;
        }
    }

    /// Takes the next step.
    pub(crate) fn step(&mut self, step: Step) -> Result<(), Stop> {
        self.timed_step(step.into())
    }

    /// Takes the next step, whose time stands beside it.
    pub(crate) fn timed_step(&mut self, mut timed: TimedStep) -> Result<(), Stop> {
        if self.steps >= STEPS_PER_TRACE_MAX {
            return Err(Bad::new("", format!("the trace has more than {STEPS_PER_TRACE_MAX} steps; split it")).into());
        }
        if self.nul {
            self.nul_dropped |= drop_nul_in_step(&mut timed.step);
        }
        self.steps += 1;
        self.conversation |= timed.step.role != Role::System;
        match &mut self.target {
            Target::Keep { steps, .. } => steps.push(timed),
            Target::Count => {}
            Target::Sink(sink) => sink.step(timed.stamped()).map_err(Stop::Sink)?,
        }
        Ok(())
    }

    /// Takes the next span.
    pub(crate) fn span(&mut self, mut span: Span) -> Result<(), Stop> {
        if self.spans >= SPANS_PER_TRACE_MAX {
            return Err(Bad::new("", format!("the trace has more than {SPANS_PER_TRACE_MAX} spans; split it")).into());
        }
        if [Some(span.id.as_str()), span.parent_id.as_deref()].into_iter().flatten().any(is_long_id) {
            let message = format!("the id of a span has more than {EXTERNAL_ID_CHARS_MAX} characters");
            return Err(Bad::new(format!("spans[{}].id", self.spans), message).into());
        }
        if self.nul {
            let texts = [Some(&mut span.name), span.kind.as_mut(), span.input.as_mut(), span.output.as_mut()];
            for text in texts.into_iter().flatten().chain([&mut span.id]).chain(&mut span.parent_id) {
                self.nul_dropped |= drop_nul(text);
            }
        }
        self.spans += 1;
        match &mut self.target {
            Target::Keep { spans, .. } => spans.push(span),
            Target::Count => {}
            Target::Sink(sink) => sink.span(span).map_err(Stop::Sink)?,
        }
        Ok(())
    }

    /// Checks and cleans a head.
    pub(crate) fn head(&mut self, head: &mut TraceHead) -> Result<(), Bad> {
        if self.nul {
            for text in head.external_id.iter_mut().chain(&mut head.title) {
                self.nul_dropped |= drop_nul(text);
            }
            self.nul_dropped |= drop_nul_in_object(&mut head.metadata);
        }
        if head.external_id.as_deref().is_some_and(is_long_id) {
            return Err(Bad::new("id", format!("the id has more than {EXTERNAL_ID_CHARS_MAX} characters")));
        }
        Ok(())
    }

    /// Checks the trace as a whole, after its last part.
    pub(crate) fn complete(&self) -> Result<(), Bad> {
        match (self.steps, self.conversation) {
            (0, _) => Err(Bad::new("", "the trace has no steps; there is nothing to import")),
            (_, false) => Err(Bad::new(
                "",
                "the trace has only system steps; at least one user, assistant or tool step is needed",
            )),
            _ => Ok(()),
        }
    }
}

/// Whether an id is too long to be looked up by: it could not stand in an index.
fn is_long_id(id: &str) -> bool {
    id.chars().nth(EXTERNAL_ID_CHARS_MAX).is_some()
}
