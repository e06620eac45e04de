//! Reads into memory, and shows what was read.

use serde_json::{Value, json};
use stash_domain::formats::{LineWriter, OnError, ReadError, ReadOptions, Report, SinkError, TraceSink, read};
use stash_domain::trace::{Span, Step, Trace, TraceHead};
use std::io::Cursor;

/// Keeps everything; fails the test when calls come in a wrong order.
#[derive(Default)]
pub(crate) struct Keep {
    pub(crate) traces: Vec<Trace>,
    open: bool,
}

impl TraceSink for Keep {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        assert!(!self.open, "begin within a trace");
        self.open = true;
        self.traces.push(Trace { head, ..Trace::default() });
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        let trace = self.traces.last_mut().filter(|trace| self.open && trace.spans.is_empty());
        trace.expect("a step stands between its head and its spans").steps.push(step);
        Ok(())
    }
    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        assert!(self.open, "a span outside a trace");
        self.traces.last_mut().unwrap().spans.push(span);
        Ok(())
    }
    fn end(&mut self) -> Result<(), SinkError> {
        assert!(self.open, "end outside a trace");
        self.open = false;
        Ok(())
    }
}

/// Reads bytes; what a check finds must be what reading finds, and what is read in memory must be what is read by walking.
pub(crate) fn traces_of(format: &str, bytes: &[u8], on_error: OnError) -> (Vec<Trace>, Result<Report, ReadError>) {
    let (walked, walked_report) =
        read_and_check(format, bytes, ReadOptions { on_error, record_bytes_in_memory: 0, ..ReadOptions::default() });
    let (traces, report) = read_and_check(format, bytes, ReadOptions { on_error, ..ReadOptions::default() });
    assert_eq!(report.is_ok(), walked_report.is_ok(), "{report:?} {walked_report:?}");
    if let (Ok(report), Ok(walked_report)) = (&report, &walked_report) {
        assert_eq!(traces, walked);
        assert_eq!(report.warnings.count, walked_report.warnings.count);
        assert_eq!(report.skipped.count, walked_report.skipped.count);
        assert_eq!(report.bytes, walked_report.bytes);
    }
    (traces, report)
}

fn read_and_check(format: &str, bytes: &[u8], options: ReadOptions) -> (Vec<Trace>, Result<Report, ReadError>) {
    let mut keep = Keep::default();
    let report = read(format, &mut Cursor::new(bytes), options, &mut keep);
    let checked = stash_domain::formats::check(format, &mut Cursor::new(bytes), options);
    match (&report, &checked) {
        (Ok(read), Ok(checked)) => {
            assert_eq!(read, checked);
            assert_eq!(read.traces, keep.traces.len() as u64);
            assert_eq!(read.steps, keep.traces.iter().map(|trace| trace.steps.len() as u64).sum::<u64>());
        }
        (Err(read), Err(checked)) => assert_eq!(read.to_string(), checked.to_string()),
        _ => panic!("reading and checking disagree: {report:?} {checked:?}"),
    }
    (keep.traces, report)
}

/// Reads bytes that must be good.
pub(crate) fn good(format: &str, bytes: &[u8]) -> Vec<Trace> {
    let (traces, report) = traces_of(format, bytes, OnError::Fail);
    report.unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(bytes)));
    traces
}

/// The one issue of bytes that must be bad.
pub(crate) fn bad(format: &str, bytes: &[u8]) -> String {
    let (_, report) = traces_of(format, bytes, OnError::Fail);
    report.expect_err("an error").to_string()
}

/// Exports traces.
pub(crate) fn export(traces: &[Trace]) -> Vec<u8> {
    let mut writer = LineWriter::new(Vec::new());
    for trace in traces {
        writer.begin(&trace.head).unwrap();
        trace.steps.iter().for_each(|step| writer.step(step).unwrap());
        trace.spans.iter().for_each(|span| writer.span(span).unwrap());
        writer.end().unwrap();
    }
    writer.into_inner()
}

/// A trace as JSON.
pub(crate) fn shown(trace: &Trace) -> Value {
    json!({
        "id": trace.head.external_id,
        "title": trace.head.title,
        "metadata": trace.head.metadata,
        "steps": trace.steps,
        "spans": trace.spans,
    })
}
