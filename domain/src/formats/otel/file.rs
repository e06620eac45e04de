//! Reads files: everything into memory, since the spans of a trace may stand anywhere, then trace after trace.

use super::state::{AssembleError, GrownSpan, TraceState};
use crate::formats::common::cursor::Cursor;
use crate::formats::common::fault::{Fault, issue, sink_error, stop};
use crate::formats::common::record::{Bad, Out, Target};
use crate::formats::common::records::Records;
use crate::formats::common::source::{Place, Source};
use crate::formats::report::{Issue, Listed, OnError, ReadError, ReadOptions, Report, TraceSink};
use crate::limits::IMPORT_HELD_BYTES_MAX;
use crate::otel::json::walk::Walk;
use crate::otel::{OtelLog, OtelSpan, OtelSpanId, OtelTraceId};
use std::collections::HashMap;

/// Reads everything the source holds.
pub(super) fn read(
    name: &'static str,
    source: &mut Source<'_>,
    options: ReadOptions,
    sink: &mut dyn TraceSink,
) -> Result<Report, ReadError> {
    let (warnings, skipped) = (Listed::default(), Listed::default());
    let report = Report { format: name, traces: 0, steps: 0, spans: 0, bytes: 0, warnings, skipped };
    let mut reader = Reader { options, sink, report };
    let start = source.place();
    refuse_binary(source)?;
    let walk = reader.walk(source)?;
    reader.report.bytes = source.place().offset;
    if !walk.has_signals() {
        if walk.other_signals {
            let message =
                "the input holds metrics or profiles only; traces are made from resourceSpans and resourceLogs";
            return Err(ReadError::Input(issue(start, Bad::new("", message))));
        }
        if reader.report.skipped.count == 0 {
            let message = "the input is empty; it must hold spans or log records";
            return Err(ReadError::Input(issue(start, Bad::new("", message))));
        }
    }
    reader.note(&walk, start);
    for (trace_id, trace) in grouped(walk) {
        reader.trace(trace_id, trace)?;
    }
    Ok(reader.report)
}

/// The spans and records of one trace, and where each span stands.
#[derive(Default)]
struct Grouped {
    spans: Vec<OtelSpan>,
    places: Vec<Place>,
    logs: Vec<OtelLog>,
}

/// Traces in the order in which they first appear; those of which there are only log records come last.
fn grouped(walk: Walk) -> Vec<(OtelTraceId, Grouped)> {
    let mut traces: Vec<(OtelTraceId, Grouped)> = Vec::new();
    let mut numbers: HashMap<OtelTraceId, usize> = HashMap::new();
    let mut number = |traces: &mut Vec<(OtelTraceId, Grouped)>, id: OtelTraceId| {
        *numbers.entry(id).or_insert_with(|| {
            traces.push((id, Grouped::default()));
            traces.len() - 1
        })
    };
    for (span, place) in walk.spans.into_iter().zip(walk.places) {
        let at = number(&mut traces, span.trace_id);
        if let Some((_, trace)) = traces.get_mut(at) {
            trace.spans.push(span);
            trace.places.push(place);
        }
    }
    for log in walk.logs {
        let at = number(&mut traces, log.trace_id);
        if let Some((_, trace)) = traces.get_mut(at) {
            trace.logs.push(log);
        }
    }
    traces
}

/// Bytes with which zstd begins.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Whether the input looks like one of the Collector's binary files, which begin with the length of their first message, or
/// like anything compressed with zstd. It is refused with a reason.
pub(in crate::formats) fn is_binary(source: &mut Source<'_>) -> std::io::Result<bool> {
    let window = source.window()?;
    Ok(is_compressed(window) || is_prefixed(window))
}

fn is_compressed(window: &[u8]) -> bool {
    window.starts_with(&ZSTD) || window.get(4..).is_some_and(|rest| rest.starts_with(&ZSTD))
}

/// A length of less than 16 MiB begins with 0, and what follows is a field of protobuf.
fn is_prefixed(window: &[u8]) -> bool {
    matches!(window, [0, _, _, _, 0x0A, ..])
}

fn refuse_binary(source: &mut Source<'_>) -> Result<(), ReadError> {
    let place = source.place();
    let window = source.window()?;
    let message = if is_compressed(window) {
        "the input is compressed with zstd; unpack it, or set the file exporter's compression to none"
    } else if is_prefixed(window) {
        "the input is protobuf with lengths between; set the file exporter's format to json"
    } else {
        return Ok(());
    };
    Err(ReadError::Input(issue(place, Bad::new("", message))))
}

struct Reader<'r> {
    options: ReadOptions,
    sink: &'r mut dyn TraceSink,
    report: Report,
}

impl Reader<'_> {
    /// Takes in every record.
    fn walk(&mut self, source: &mut Source<'_>) -> Result<Walk, ReadError> {
        let mut walk = Walk::new(IMPORT_HELD_BYTES_MAX);
        // Records are walked where they stand, so that none needs to be held.
        let mut records = Records::new(source, 0);
        while let Some(record) = records.next(source)? {
            let end = source.place();
            let before = walk.mark();
            source.seek(record.start)?;
            let mut cursor = Cursor::stream(source, record.end);
            let walked = walk.value(&mut cursor).and_then(|()| match cursor.peek()? {
                None => Ok(()),
                Some(_) => {
                    let message = "something follows the JSON value; write one value per line";
                    Err(Fault::Bad(issue(cursor.place(), Bad::new("", message)), false))
                }
            });
            if walked.is_ok() && cursor.cleaned().surrogates {
                let message = "lone surrogates in text were replaced by U+FFFD";
                self.report.warnings.push(issue(record.start, Bad::new("", message)));
            }
            source.seek(end)?;
            let (fault, truncated) = match walked {
                Ok(()) => continue,
                Err(Fault::Fatal(error)) => return Err(error),
                Err(Fault::Bad(fault, truncated)) => (fault, truncated),
            };
            walk.back_to(before);
            if truncated && record.last_line && walk.recognised() {
                let message = "the last line ends too early and was left out; import it again when it is complete";
                self.report.skipped.push(Issue { message: message.to_owned(), ..fault });
            } else if self.options.on_error == OnError::Skip {
                self.report.skipped.push(fault);
            } else {
                return Err(ReadError::Input(fault));
            }
        }
        Ok(walk)
    }

    /// Notes what was left out of the input as a whole.
    fn note(&mut self, walk: &Walk, start: Place) {
        // A span that cannot be told from others is left out alone, as the live endpoint does.
        let listed = walk.faults.len() as u64;
        walk.faults.iter().for_each(|fault| self.report.skipped.push(fault.clone()));
        self.report.skipped.count += walk.faults_count.saturating_sub(listed);
        let mut warn = |message: String| self.report.warnings.push(issue(start, Bad::new("", message)));
        if walk.logs_ignored > 0 {
            warn(format!("{} log records tell of no call's messages and were left out", walk.logs_ignored));
        }
        if walk.other_signals {
            warn("metrics and profiles were left out".to_owned());
        }
    }

    /// Builds a trace and hands it on.
    fn trace(&mut self, trace_id: OtelTraceId, trace: Grouped) -> Result<(), ReadError> {
        let start = trace.places.iter().min_by_key(|place| place.offset).copied();
        let start = start.unwrap_or(Place { offset: 0, line: 1 });
        let places: HashMap<OtelSpanId, Place> =
            trace.spans.iter().map(|span| span.span_id).zip(trace.places).collect();
        let bad = |message: String| issue(start, Bad::new("", format!("trace {trace_id}: {message}")));
        let mut state = TraceState::default();
        let mut grown = match state.add(trace_id, trace.spans, trace.logs, false) {
            Ok(grown) => grown,
            Err(error @ (AssembleError::TooManySpans | AssembleError::TooManySteps | AssembleError::Rebuild)) => {
                return self.refuse(bad(error.to_string()));
            }
        };
        if !state.is_shown() {
            let message =
                format!("no call of a model is among its {} spans, so there is nothing to show", state.spans());
            self.report.skipped.push(bad(message));
            return Ok(());
        }
        let mut out = Out::new(Target::Keep { steps: Vec::new(), spans: Vec::new() });
        let taken = self.take(&mut out, &mut grown);
        let (steps, spans) = (out.steps, out.spans);
        match (taken, out.target) {
            (Ok(()), Target::Keep { steps, spans }) => {
                self.sink.begin(grown.head).map_err(fatal)?;
                steps.into_iter().try_for_each(|step| self.sink.step(step.stamped())).map_err(fatal)?;
                spans.into_iter().try_for_each(|span| self.sink.span(span)).map_err(fatal)?;
                self.sink.end().map_err(fatal)?;
            }
            (Err(Fault::Bad(fault, _)), _) => return self.refuse(bad(fault.message)),
            (Err(Fault::Fatal(error)), _) => return Err(error),
            (Ok(()), _) => {}
        }
        self.report.traces += 1;
        self.report.steps += u64::from(steps);
        self.report.spans += u64::from(spans);
        for (span, message) in grown.warnings {
            let place = places.get(&span).copied().unwrap_or(start);
            self.report.warnings.push(issue(place, Bad::new(format!("span {span}"), message)));
        }
        Ok(())
    }

    /// Checks what holds in every format.
    fn take(&self, out: &mut Out<'_>, grown: &mut super::Grown) -> Result<(), Fault> {
        let start = Place { offset: 0, line: 1 };
        let at_start = |found: Result<(), Bad>| found.map_err(|bad| Fault::Bad(issue(start, bad), false));
        at_start(out.head(&mut grown.head))?;
        for step in std::mem::take(&mut grown.steps) {
            out.step(step).map_err(|error| stop(start, "", error))?;
        }
        for GrownSpan { span, .. } in std::mem::take(&mut grown.spans) {
            out.span(span).map_err(|error| stop(start, "", error))?;
        }
        at_start(out.complete())
    }

    fn refuse(&mut self, fault: Issue) -> Result<(), ReadError> {
        if self.options.on_error == OnError::Skip {
            self.report.skipped.push(fault);
            return Ok(());
        }
        Err(ReadError::Input(fault))
    }
}

fn fatal(error: crate::formats::report::SinkError) -> ReadError {
    match sink_error(error) {
        Fault::Fatal(error) => error,
        Fault::Bad(fault, _) => ReadError::Input(fault),
    }
}
