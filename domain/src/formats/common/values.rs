//! Reads an input as a row of JSON objects, for formats in which a trace is spread over several records.
//!
//! A record that is an array counts as the row of its elements. What is no object is passed over with a warning.

use super::clean::clean;
use super::cursor::{Cursor, NOT_UTF8};
use super::fault::{Fault, issue, sink_error};
use super::record::{Bad, Out, Target};
use super::records::{Record, Records, reuse};
use super::source::{Place, Source};
use super::take::each_item;
use crate::formats::judgment::Judgment;
use crate::formats::report::{Issue, Listed, OnError, ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::limits::STEP_BYTES_MAX;
use crate::trace::TraceHead;

/// Takes an object and where it stands.
pub(crate) type Take<'t> = dyn FnMut(Place, Vec<(String, Json)>) -> Result<(), Bad> + 't;

/// The same, for a format that hands on a trace with each object or so.
pub(crate) type TakeEach<'r, 't> = dyn FnMut(&mut Values<'r>, Place, Vec<(String, Json)>) -> Result<(), ReadError> + 't;

/// A reading under way.
pub(crate) struct Values<'r> {
    options: ReadOptions,
    sink: &'r mut dyn TraceSink,
    report: Report,
    /// Objects taken so far.
    taken: u64,
    /// Whether text may hold NUL.
    nul: bool,
}

impl<'r> Values<'r> {
    pub(crate) fn new(name: &'static str, options: ReadOptions, sink: &'r mut dyn TraceSink) -> Self {
        let (warnings, skipped) = (Listed::default(), Listed::default());
        let report = Report { format: name, traces: 0, steps: 0, spans: 0, bytes: 0, warnings, skipped };
        Self { options, sink, report, taken: 0, nul: false }
    }

    /// Reads the whole source and hands each object on. A fault of what takes them ends the reading, whatever the options.
    pub(crate) fn read(&mut self, source: &mut Source<'_>, take: &mut Take<'_>) -> Result<(), ReadError> {
        self.read_each(source, &mut |_, place, fields| take(place, fields).map_err(|bad| input(place, bad)))
    }

    /// Reads the whole source and hands each object on, with this reading, so that traces can be handed on in between.
    pub(crate) fn read_each(&mut self, source: &mut Source<'_>, take: &mut TakeEach<'r, '_>) -> Result<(), ReadError> {
        let mut records = Records::new(source, self.options.record_bytes_in_memory);
        let mut any = false;
        while let Some(record) = records.next(source)? {
            any = true;
            let end = source.place();
            let read = self.record(source, record, &mut records.bytes, take);
            source.seek(end)?;
            let (fault, truncated) = match read {
                Ok(()) => continue,
                Err(Fault::Fatal(error)) => return Err(error),
                Err(Fault::Bad(fault, truncated)) => (fault, truncated),
            };
            if truncated && record.last_line && self.taken > 0 {
                let message =
                    "the last line ends too early and was left out; import the file again when it is complete";
                self.report.skipped.push(Issue { message: message.to_owned(), ..fault });
            } else if self.options.on_error == OnError::Skip {
                self.report.skipped.push(fault);
            } else {
                return Err(ReadError::Input(fault));
            }
        }
        self.report.bytes = source.place().offset;
        if any {
            Ok(())
        } else {
            Err(input(START, Bad::new("", "the input is empty; it must hold at least one trace")))
        }
    }

    fn record(
        &mut self,
        source: &mut Source<'_>,
        record: Record,
        bytes: &mut Vec<u8>,
        take: &mut TakeEach<'r, '_>,
    ) -> Result<(), Fault> {
        // An array is walked on the source, so that damage in it costs what comes behind it alone.
        if record.large || bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            reuse(bytes);
            source.seek(record.start)?;
            let mut cursor = Cursor::stream(source, record.end);
            let read = self.values(&mut cursor, take);
            self.note_surrogates(record.start, cursor.cleaned().surrogates && read.is_ok());
            return read;
        }
        let cleaned = clean(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = record.start.offset + error.valid_up_to() as u64;
            Fault::Bad(issue(Place { offset, ..record.start }, Bad::new("", NOT_UTF8)), false)
        })?;
        let parsed = only_value(&mut Cursor::memory(text, record.start));
        reuse(bytes);
        self.nul |= cleaned.nul;
        let read = parsed.and_then(|(place, value)| self.value(place, value, take));
        self.note_surrogates(record.start, cleaned.surrogates && read.is_ok());
        read
    }

    fn note_surrogates(&mut self, place: Place, any: bool) {
        if any {
            self.warn(place, Bad::new("", "lone surrogates in text were replaced by U+FFFD"));
        }
    }

    fn values(&mut self, cursor: &mut Cursor<'_, '_>, take: &mut TakeEach<'r, '_>) -> Result<(), Fault> {
        if cursor.peek()? == Some(b'[') {
            each_item(cursor, |cursor, place, item| {
                self.nul |= cursor.cleaned().nul;
                self.value(place, item, take)
            })?;
            return end(cursor);
        }
        let (place, value) = only_value(cursor)?;
        self.nul |= cursor.cleaned().nul;
        self.value(place, value, take)
    }

    fn value(&mut self, place: Place, value: Json, take: &mut TakeEach<'r, '_>) -> Result<(), Fault> {
        match value {
            Json::Object(fields) => {
                self.taken += 1;
                take(self, place, fields).map_err(Fault::Fatal)
            }
            other => {
                self.warn(place, Bad::new("", format!("{} was passed over: an object was expected", other.kind())));
                Ok(())
            }
        }
    }

    /// Notes what was changed or left out.
    pub(crate) fn warn(&mut self, place: Place, bad: Bad) {
        self.report.warnings.push(issue(place, bad));
    }

    /// Where the steps of a trace go until it is known to be good.
    pub(crate) fn out(&self) -> Out<'static> {
        let mut out = Out::new(Target::Keep { steps: Vec::new(), spans: Vec::new() });
        out.nul = self.nul;
        out
    }

    /// Hands a trace on, if it is good.
    pub(crate) fn trace(&mut self, head: TraceHead, out: Out<'_>) -> Result<(), ReadError> {
        self.trace_at(START, head, out, Vec::new())
    }

    /// Hands a trace on, if it is good, with what was judged of it; its record stands at the place.
    pub(crate) fn trace_at(
        &mut self,
        place: Place,
        mut head: TraceHead,
        mut out: Out<'_>,
        judgments: Vec<Judgment>,
    ) -> Result<(), ReadError> {
        let good = out.head(&mut head).and_then(|()| out.complete());
        for warning in out.warnings.drain(..) {
            self.report.warnings.push(issue(place, warning));
        }
        self.report.warnings.count = self.report.warnings.count.saturating_add(out.unlisted);
        if let Err(bad) = good {
            return self.fault_at(place, bad);
        }
        if out.nul_dropped {
            self.warn(place, Bad::new("", "NUL characters were dropped from text"));
        }
        let Target::Keep { steps, spans } = out.target else { return Ok(()) };
        let fatal = |error| match sink_error(error) {
            Fault::Fatal(error) => error,
            Fault::Bad(issue, _) => ReadError::Input(issue),
        };
        self.report.traces += 1;
        self.report.steps += steps.len() as u64;
        self.report.spans += spans.len() as u64;
        self.sink.begin(head).map_err(fatal)?;
        for step in steps {
            self.sink.step(step.stamped()).map_err(fatal)?;
        }
        for span in spans {
            self.sink.span(span).map_err(fatal)?;
        }
        for judgment in judgments {
            self.sink.judgment(judgment).map_err(fatal)?;
        }
        self.sink.end().map_err(fatal)
    }

    /// Does about a trace in error what the options say.
    pub(crate) fn fault(&mut self, bad: Bad) -> Result<(), ReadError> {
        self.fault_at(START, bad)
    }

    /// The same, about a trace whose record stands at the place.
    pub(crate) fn fault_at(&mut self, place: Place, bad: Bad) -> Result<(), ReadError> {
        if self.options.on_error == OnError::Fail {
            return Err(input(place, bad));
        }
        self.report.skipped.push(issue(place, bad));
        Ok(())
    }

    /// What was read.
    pub(crate) fn finish(self) -> Report {
        self.report
    }
}

/// Where a fault of a whole file is shown.
const START: Place = Place { offset: 0, line: 1 };

fn input(place: Place, bad: Bad) -> ReadError {
    ReadError::Input(issue(place, bad))
}

fn end(cursor: &mut Cursor<'_, '_>) -> Result<(), Fault> {
    match cursor.peek()? {
        None => Ok(()),
        Some(_) => {
            let message = "something follows the JSON value; write one value per line";
            Err(Fault::Bad(issue(cursor.place(), Bad::new("", message)), false))
        }
    }
}

/// The value of a record that holds no other: a line is known to be good before it is taken.
fn only_value(cursor: &mut Cursor<'_, '_>) -> Result<(Place, Json), Fault> {
    let first = cursor.peek()?;
    let place = cursor.place();
    let value = cursor.value(STEP_BYTES_MAX).map_err(|error| match Fault::from(error) {
        // Only an object can be the beginning of a line that is still being written.
        Fault::Bad(issue, truncated) => Fault::Bad(issue, truncated && first == Some(b'{')),
        fatal @ Fault::Fatal(_) => fatal,
    })?;
    end(cursor)?;
    Ok((place, value))
}
