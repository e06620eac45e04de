//! Records larger than what is parsed in memory.

use crate::support::Keep;
use stash_domain::formats::{OnError, ReadOptions, Report, SinkError, TraceSink, check, read};
use stash_domain::limits::{IMPORT_RECORD_BYTES_IN_MEMORY, STEP_BYTES_MAX};
use stash_domain::trace::{Span, Step, TraceHead};
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};

/// An input that is made while it is read: `before`, then `item` so often with commas between, then `after`.
struct Made {
    before: Vec<u8>,
    item: Vec<u8>,
    count: u64,
    after: Vec<u8>,
    at: u64,
    window: Vec<u8>,
}

impl Made {
    fn new(before: &str, item: &str, count: u64, after: &str) -> Self {
        let item = format!("{item},").into_bytes();
        let (before, after) = (before.as_bytes().to_vec(), after.as_bytes().to_vec());
        Self { before, item, count, after, at: 0, window: Vec::new() }
    }

    fn items_end(&self) -> u64 {
        // The last comma is left out.
        self.before.len() as u64 + (self.item.len() as u64 * self.count).saturating_sub(1)
    }

    fn length(&self) -> u64 {
        self.items_end() + self.after.len() as u64
    }

    fn rest(&self) -> &[u8] {
        let before = self.before.len() as u64;
        if self.at < before {
            &self.before[usize::try_from(self.at).unwrap()..]
        } else if self.at < self.items_end() {
            let within = usize::try_from((self.at - before) % self.item.len() as u64).unwrap();
            let left = usize::try_from(self.items_end() - self.at).unwrap_or(usize::MAX);
            let rest = &self.item[within..];
            &rest[..rest.len().min(left)]
        } else {
            let after = usize::try_from(self.at - self.items_end()).unwrap();
            &self.after[after.min(self.after.len())..]
        }
    }
}

impl Read for Made {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Made {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.window = self.rest().to_vec();
        Ok(&self.window)
    }
    fn consume(&mut self, count: usize) {
        self.at += count as u64;
    }
}

impl Seek for Made {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            SeekFrom::Current(0) => {}
            _ => unreachable!("nobody seeks so"),
        }
        Ok(self.at)
    }
}

/// Counts, and remembers what came first and last.
#[derive(Default)]
struct Count {
    heads: Vec<TraceHead>,
    steps: u64,
    spans: u64,
    last: Option<Step>,
}

impl TraceSink for Count {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        self.heads.push(head);
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        assert!(!self.heads.is_empty() && self.spans == 0);
        self.steps += 1;
        self.last = Some(step);
        Ok(())
    }
    fn span(&mut self, _: Span) -> Result<(), SinkError> {
        self.spans += 1;
        Ok(())
    }
    fn end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

fn counted(format: &str, mut input: Made) -> (Count, Report) {
    assert!(input.length() > IMPORT_RECORD_BYTES_IN_MEMORY as u64);
    let mut count = Count::default();
    let report = read(format, &mut input, ReadOptions::default(), &mut count).unwrap();
    assert_eq!(report.bytes, input.length());
    assert_eq!(report.steps, count.steps);
    (count, report)
}

const STEP: &str = r#"{"role":"user","content":"a step of some length, so that there need not be too many of them"}"#;
const COUNT: u64 = 100_000;

#[test]
fn a_trace_on_one_line_whose_head_comes_last() {
    let (count, _) = counted("stash", Made::new(r#"{"steps":["#, STEP, COUNT, "],\"id\":\"x\"}\n"));
    assert_eq!(count.heads[0].external_id.as_deref(), Some("x"));
    assert_eq!((count.heads.len(), count.steps), (1, COUNT));
}

#[test]
fn a_pretty_printed_trace_with_spans_before_its_steps() {
    let before = "{\n \"spans\": [{\"id\":\"s\",\"name\":\"n\",\"start_ns\":1,\"end_ns\":2,\"step_indices\":[99999]}],\n \"steps\": [\n";
    let (count, report) = counted("stash", Made::new(before, STEP, COUNT, "]\n}\n"));
    assert_eq!((count.steps, count.spans, report.spans), (COUNT, 1, 1));
}

#[test]
fn an_array_of_traces() {
    let trace = format!(r#"{{"steps":[{STEP}]}}"#);
    let (count, report) = counted("stash", Made::new("[\n", &trace, COUNT, "]"));
    assert_eq!((count.heads.len() as u64, report.traces), (COUNT, COUNT));
}

#[test]
fn a_bare_array_of_messages() {
    let message =
        r#"{"role":"assistant","content":"so many words","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}"#;
    let (count, _) = counted("openai_chat", Made::new("[", message, COUNT, "]"));
    assert_eq!(count.steps, COUNT * 2);
    assert_eq!(count.last.unwrap().tool_call_id, Some(format!("stash-call-{COUNT}")));
}

#[test]
fn a_session_whose_items_are_one_array() {
    let item = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a step of some length, so that few will do"}]}"#;
    let (count, report) = counted("codex", Made::new("[", item, COUNT, "]"));
    assert_eq!((count.heads.len() as u64, count.steps, report.traces), (1, COUNT, 1));
}

#[test]
fn a_list_of_messages_in_a_string() {
    let message = r#"{\"role\":\"user\",\"content\":\"so many words of which none says anything\"}"#;
    let (count, _) = counted("openai_chat", Made::new("{\"messages\":\"[", message, 2 * COUNT, "]\"}"));
    assert_eq!(count.steps, 2 * COUNT);
}

#[test]
fn a_preference_pair_whose_answer_comes_first() {
    let before = r#"{"preferred_output":[{"role":"assistant","content":"last"}],"input":{"messages":["#;
    let (count, _) = counted("openai_chat", Made::new(before, STEP, COUNT, "]}}"));
    assert_eq!(count.last.unwrap().content, "last");
}

#[test]
fn one_request_of_very_many_spans() {
    let ids = r#""traceId":"5b8efff798038103d269b633813fc60c","startTimeUnixNano":"1","endTimeUnixNano":"2""#;
    let call = format!(
        r#"{{{ids},"spanId":"0000000000000001","attributes":[{{"key":"gen_ai.output.messages","value":{{"stringValue":"said"}}}}]}}"#
    );
    let before = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{call},"#);
    let other = format!(r#"{{{ids},"spanId":"0000000000000002","name":"the same span, sent again and again"}}"#);
    let after = r#"]}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"late"}}]}}]}"#;
    let (count, report) = counted("otel", Made::new(&before, &other, COUNT, after));
    assert_eq!((report.traces, report.steps, report.spans), (1, 1, 2));
    assert_eq!(count.heads[0].metadata.get("agent").unwrap().as_text(), Some("late"));
}

#[test]
fn an_error_late_in_a_large_trace_is_found_before_anything_is_handed_on() {
    let mut input = Made::new(
        r#"{"steps":["#,
        STEP,
        COUNT,
        ",{\"role\":\"nobody\"}]}\n{\"steps\":[{\"role\":\"user\",\"content\":\"b\"}]}",
    );
    let error = read("stash", &mut input, ReadOptions::default(), &mut Count::default()).unwrap_err().to_string();
    assert!(error.starts_with("line 1 ") && error.contains("steps[100000].role: unknown role"), "{error}");
    input.at = 0;
    let mut count = Count::default();
    let skip = ReadOptions { on_error: OnError::Skip, ..ReadOptions::default() };
    let report = read("stash", &mut input, skip, &mut count).unwrap();
    assert_eq!((report.traces, report.skipped.count, count.steps), (1, 1, 1));
}

#[test]
fn a_cut_large_line_is_reported_as_such() {
    let mut input = Made::new("{\"steps\":[{\"role\":\"user\",\"content\":\"b\"}]}\n{\"steps\":[", STEP, COUNT, "");
    let report = check("stash", &mut input, ReadOptions::default()).unwrap();
    assert_eq!((report.traces, report.skipped.count, report.skipped.first[0].line), (1, 1, 2));
}

#[test]
fn one_value_larger_than_a_step_may_be_is_refused() {
    let huge = "x".repeat(STEP_BYTES_MAX + 1);
    for line in [
        format!(r#"{{"steps":[{{"role":"user","content":"{huge}"}}]}}"#),
        format!(r#"{{"title":"{huge}","steps":[{STEP}]}}"#),
    ] {
        let error = check("stash", &mut Cursor::new(line), ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("larger than allowed"), "{error}");
    }
}

#[test]
fn strange_characters_are_cleaned_in_large_records_too() {
    let step = r#"{"role":"user","content":"a\u0000b\ud800"}"#;
    let line = format!(r#"{{"steps":[{step}]}}"#);
    let mut keep = Keep::default();
    let options = ReadOptions { record_bytes_in_memory: 0, ..ReadOptions::default() };
    let report = read("stash", &mut Cursor::new(line), options, &mut keep).unwrap();
    assert_eq!(keep.traces[0].steps[0].content, "ab\u{FFFD}");
    assert_eq!(report.warnings.count, 2);
}
