//! Reads the traces of a format in which one record is one trace.
//!
//! A record in memory is parsed once: its items are kept as they are met, the trace is built and, if good, handed on. A large
//! one is walked three times: for the head and the places of its lists; to build the trace and check it, keeping nothing; to
//! build it again, handing on each step.

use super::clean::clean;
use super::cursor::{Cursor, NOT_UTF8, Stream};
use super::fault::{Fault, issue, sink_error, stop};
use super::look::look;
use super::record::{ArrayOf, Bad, HeadField, Out, RecordFormat, Target};
use super::records::{Record, Records, next_element};
use super::source::{Place, Source};
use super::take::{Items, List, Parts, each_item, items_in_string, take_list, take_object};
use crate::formats::report::{ISSUES_LISTED_MAX, Issue, Listed, OnError, ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::limits::TRACE_HEAD_BYTES_MAX;
use crate::trace::TraceHead;
use std::marker::PhantomData;

/// Reads everything the source holds.
pub(crate) fn read_records<F: RecordFormat>(
    name: &'static str,
    source: &mut Source<'_>,
    options: ReadOptions,
    sink: &mut dyn TraceSink,
) -> Result<Report, ReadError> {
    let (warnings, skipped) = (Listed::default(), Listed::default());
    let report = Report { format: name, traces: 0, steps: 0, spans: 0, bytes: 0, warnings, skipped };
    let mut reader = Reader::<F> { options, sink, report, format: PhantomData };
    let mut records = Records::new(source, options.record_bytes_in_memory);
    let mut any = false;
    while let Some(record) = records.next(source)? {
        any = true;
        let mut bytes = std::mem::take(&mut records.bytes);
        reader.record(source, record, &mut bytes, true)?;
        records.bytes = bytes;
    }
    let mut report = reader.report;
    report.bytes = source.place().offset;
    if !any {
        let message = "the input is empty; it must hold at least one trace".to_owned();
        return Err(ReadError::Input(Issue { line: 1, offset: 0, field: None, message }));
    }
    Ok(report)
}

struct Reader<'r, F> {
    options: ReadOptions,
    sink: &'r mut dyn TraceSink,
    report: Report,
    format: PhantomData<F>,
}

impl<F: RecordFormat> Reader<'_, F> {
    /// Takes a record; on a fault does what the options say.
    fn record(
        &mut self,
        source: &mut Source<'_>,
        record: Record,
        bytes: &mut Vec<u8>,
        outermost: bool,
    ) -> Result<(), ReadError> {
        let end = source.place();
        let (fault, truncated) = match self.try_record(source, record, bytes, outermost) {
            Ok(()) => return Ok(source.seek(end)?),
            Err(Fault::Fatal(error)) => return Err(error),
            Err(Fault::Bad(fault, truncated)) => (fault, truncated),
        };
        source.seek(end)?;
        // The last line of a file that is still being written, or of a cut copy: what came before it is good.
        let cut_tail = truncated && record.last_line && self.report.traces > 0;
        if cut_tail {
            let message =
                "the last line ends too early and was left out; import it again when it is complete".to_owned();
            self.report.skipped.push(Issue { message, ..fault });
        } else if self.options.on_error == OnError::Skip {
            self.report.skipped.push(fault);
        } else {
            return Err(ReadError::Input(fault));
        }
        Ok(())
    }

    fn try_record(
        &mut self,
        source: &mut Source<'_>,
        record: Record,
        bytes: &mut Vec<u8>,
        outermost: bool,
    ) -> Result<(), Fault> {
        // An array is first looked at on the source, so that damage in one of many elements costs that element alone.
        if record.large || bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            source.seek(record.start)?;
            let mut cursor = Cursor::stream(source, record.end);
            let is_array = match cursor.peek()? {
                Some(b'[') => true,
                Some(b'{') => false,
                _ => return Err(bad_shape(record.start)),
            };
            if is_array && F::array_of(&look(&mut cursor)?) == ArrayOf::Records {
                return if outermost { self.elements(source, record) } else { Err(bad_shape(record.start)) };
            }
            if record.large {
                return self.trace(&mut cursor, record.start, false, Vec::new(), is_array);
            }
        }
        let cleaned = clean(bytes);
        let mut warnings = Vec::new();
        if cleaned.surrogates {
            warnings.push(issue(record.start, Bad::new("", SURROGATES)));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = record.start.offset + error.valid_up_to() as u64;
            Fault::Bad(issue(Place { offset, ..record.start }, Bad::new("", NOT_UTF8)), false)
        })?;
        let mut cursor = Cursor::memory(text, record.start);
        match cursor.peek()? {
            Some(b'{') => self.trace(&mut cursor, record.start, cleaned.nul, warnings, false),
            Some(b'[') => self.trace(&mut cursor, record.start, cleaned.nul, warnings, true),
            _ => Err(bad_shape(record.start)),
        }
    }

    /// Takes each element of an array as a record.
    fn elements(&mut self, source: &mut Source<'_>, array: Record) -> Result<(), Fault> {
        source.seek(array.start)?;
        let mut bytes = Vec::new();
        let mut cursor = Cursor::stream(source, array.end);
        cursor.expect(b"[")?;
        if cursor.peek()? == Some(b']') {
            cursor.expect(b"]")?;
            return end_of_record(&mut cursor);
        }
        loop {
            let mut stream = Stream::new(source, array.end);
            let element = next_element(&mut stream, &mut bytes, self.options.record_bytes_in_memory)?;
            self.record(source, element, &mut bytes, false).map_err(Fault::Fatal)?;
            let mut cursor = Cursor::stream(source, array.end);
            if cursor.expect(b",]")? == b']' {
                return end_of_record(&mut cursor);
            }
            cursor.peek()?;
        }
    }

    /// Takes one trace.
    fn trace(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        start: Place,
        nul: bool,
        mut warnings: Vec<Issue>,
        bare: bool,
    ) -> Result<(), Fault> {
        let large = matches!(cursor, Cursor::Stream(_));
        let lists = (0..F::LISTS.max(1)).map(|_| None).collect();
        let mut parts = Parts { head: Vec::new(), lists, head_bytes_left: TRACE_HEAD_BYTES_MAX };
        if bare {
            take_list(cursor, 0, String::new(), &mut parts)?;
        } else {
            take_object::<F>(cursor, &mut Vec::new(), &mut parts)?;
        }
        end_of_record(cursor)?;
        let target = if large { Target::Count } else { Target::Keep { steps: Vec::new(), spans: Vec::new() } };
        let mut out = Out::new(target);
        out.nul = nul;
        let again = large.then(|| parts.head.clone());
        let parts_left = cursor.parts().left();
        let head = build::<F>(cursor, start, parts.head, &mut parts.lists, &mut out, &mut warnings)?;
        if cursor.cleaned().surrogates {
            warnings.push(issue(start, Bad::new("", SURROGATES)));
        }
        if out.nul_dropped {
            warnings.push(issue(start, Bad::new("", "NUL characters were dropped from text")));
        }
        let (steps, spans) = (out.steps, out.spans);
        let sink = &mut *self.sink;
        if let Target::Keep { steps, spans } = out.target {
            sink.begin(head).map_err(sink_error)?;
            for step in steps {
                sink.step(step.stamped()).map_err(sink_error)?;
            }
            for span in spans {
                sink.span(span).map_err(sink_error)?;
            }
        } else {
            sink.begin(head).map_err(sink_error)?;
            cursor.parts().put_back(parts_left);
            let mut out = Out::new(Target::Sink(sink));
            let fields = again.unwrap_or_default();
            build::<F>(cursor, start, fields, &mut parts.lists, &mut out, &mut Vec::new()).map_err(
                |fault| match fault {
                    Fault::Bad(..) => {
                        Fault::Fatal(ReadError::Io(std::io::Error::other("the input changed while it was read")))
                    }
                    Fault::Fatal(error) => Fault::Fatal(error),
                },
            )?;
        }
        self.sink.end().map_err(sink_error)?;
        self.report.traces += 1;
        self.report.steps += u64::from(steps);
        self.report.spans += u64::from(spans);
        warnings.into_iter().for_each(|warning| self.report.warnings.push(warning));
        Ok(())
    }
}

const SURROGATES: &str = "lone surrogates in text were replaced by U+FFFD";

fn bad_shape(place: Place) -> Fault {
    Fault::Bad(issue(place, Bad::new("", "expected a JSON object that holds one trace")), false)
}

fn end_of_record(cursor: &mut Cursor<'_, '_>) -> Result<(), Fault> {
    match cursor.peek()? {
        None => Ok(()),
        Some(_) => {
            let message = "something follows the JSON value; write one value per line";
            Err(Fault::Bad(issue(cursor.place(), Bad::new("", message)), false))
        }
    }
}

/// Builds a trace from its parts.
fn build<F: RecordFormat>(
    cursor: &mut Cursor<'_, '_>,
    start: Place,
    fields: Vec<HeadField>,
    lists: &mut [Option<List>],
    out: &mut Out<'_>,
    warnings: &mut Vec<Issue>,
) -> Result<TraceHead, Fault> {
    out.nul |= cursor.cleaned().nul;
    let at_start = |bad: Bad| Fault::Bad(issue(start, bad), false);
    let (mut head, mut builder) = F::begin(fields, out).map_err(at_start)?;
    out.head(&mut head).map_err(at_start)?;
    take_warnings(out, start, String::new, warnings);
    for (number, list) in lists.iter_mut().enumerate() {
        let Some(list) = list else { continue };
        let mut index = 0_u64;
        let mut take = |cursor: &mut Cursor<'_, '_>, place: Place, item: Json, out: &mut Out<'_>| {
            out.nul |= cursor.cleaned().nul;
            let path = || format!("{}[{index}]", list.path);
            F::item(&mut builder, number, item, out).map_err(|error| stop(place, &path(), error))?;
            take_warnings(out, place, path, warnings);
            index += 1;
            Ok::<(), Fault>(())
        };
        match &mut list.items {
            Items::Parsed(items) => {
                for (place, item) in std::mem::take(items) {
                    take(cursor, place, item, out)?;
                }
            }
            Items::InString(place) => {
                cursor.seek(*place)?;
                let items = items_in_string(cursor, &list.path)?;
                // A string that is walked on the source is cleaned only now.
                for item in items {
                    take(cursor, *place, item, out)?;
                }
            }
            Items::At(place) => {
                cursor.seek(*place)?;
                each_item(cursor, |cursor, place, item| take(cursor, place, item, out))?;
            }
        }
    }
    F::end(builder, out).map_err(|error| stop(start, "", error))?;
    take_warnings(out, start, String::new, warnings);
    out.complete().map_err(at_start)?;
    Ok(head)
}

fn take_warnings(out: &mut Out<'_>, place: Place, path: impl Fn() -> String, warnings: &mut Vec<Issue>) {
    for warning in out.warnings.drain(..) {
        if warnings.len() < ISSUES_LISTED_MAX {
            warnings.push(issue(place, warning.within(&path())));
        }
    }
}
