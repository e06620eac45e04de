//! Formats of tracing tools: what was judged, what is recognised, and that nothing said is lost.

use crate::support::{Keep, good};
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::formats::{
    AUTO, Judgment, JudgmentSource, OnError, Polarity, ReadError, ReadOptions, ScoreMap, SinkError, TraceSink, read,
};
use stash_domain::trace::{Role, Span, Step, TraceHead};
use std::io::Cursor;
use std::path::Path;

/// Keeps judgments too.
#[derive(Default)]
struct KeepJudgments {
    keep: Keep,
    judgments: Vec<Judgment>,
}

impl TraceSink for KeepJudgments {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        self.keep.begin(head)
    }
    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        self.keep.step(step)
    }
    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        self.keep.span(span)
    }
    fn judgment(&mut self, judgment: Judgment) -> Result<(), SinkError> {
        self.judgments.push(judgment);
        Ok(())
    }
    fn end(&mut self) -> Result<(), SinkError> {
        self.keep.end()
    }
}

/// Judgments in short: key, name, rating, comment, step, origin.
fn judged(format: &str, record: &Value, score_map: ScoreMap) -> Vec<Value> {
    let mut sink = KeepJudgments::default();
    let options = ReadOptions { score_map, ..ReadOptions::default() };
    read(format, &mut Cursor::new(record.to_string()), options, &mut sink).unwrap();
    let source = if format == "langfuse" { JudgmentSource::Langfuse } else { JudgmentSource::Langsmith };
    assert!(sink.judgments.iter().all(|judgment| judgment.source == source));
    let shown = |j: &Judgment| json!([j.key, j.name, j.rating, j.comment, j.step_index, j.origin]);
    sink.judgments.iter().map(shown).collect()
}

fn scored_trace() -> Value {
    let generation = |id: &str, second: u32, input: Value, output: &str| json!({"id": id, "type": "GENERATION", "startTime": format!("2025-06-01T10:00:0{second}Z"), "input": input, "output": output});
    json!({
        "id": "t", "timestamp": "2025-06-01T10:00:00Z",
        "observations": [
            generation("g1", 1, json!("Hi"), "Yo"),
            generation("g2", 3, json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"},
                {"role": "user", "content": "Bye"}]), "Ciao"),
            {"id": "r", "type": "SPAN", "startTime": "2025-06-01T10:00:00Z",
             "scores": [{"id": "s5", "name": "thumbs", "value": 1, "source": "API"}]},
        ],
        "scores": [
            {"id": "s1", "name": "user-feedback", "value": 1, "observationId": "g1", "source": "API"},
            {"id": "s2", "name": "toxicity", "value": 1, "comment": "rude", "observationId": "g2", "source": "EVAL"},
            {"id": "s3", "name": "tone", "value": 0, "stringValue": "flat", "dataType": "CATEGORICAL", "source": "ANNOTATION"},
            {"id": "s4", "name": "helpfulness", "value": 0, "dataType": "BOOLEAN", "comment": "no"},
            {"id": "s1", "name": "user-feedback", "value": 0},
            {"id": "s6", "name": "empty", "value": null},
        ],
        "comments": [{"id": "c1", "objectType": "OBSERVATION", "objectId": "g2", "content": "Too short."},
            {"id": "c2", "objectType": "TRACE", "objectId": "t", "content": "All in all."}],
        "corrections": [{"id": "k1", "observationId": "g1", "value": "Hello!", "source": "ANNOTATION"}],
    })
}

#[test]
fn scores_comments_and_corrections_of_langfuse_are_judgments() {
    let mut expected = vec![
        json!(["s1", "user-feedback", 1, null, 1, "api"]),
        json!(["s2", "toxicity", null, "toxicity: 1\nrude", 3, "eval"]),
        json!(["s3", "tone", null, "tone: flat", null, "annotation"]),
        json!(["s4", "helpfulness", -1, "no", null, null]),
        json!(["c1", "comment", null, "Too short.", 3, null]),
        json!(["c2", "comment", null, "All in all.", null, null]),
        json!(["k1", "correction", null, "Hello!", 1, "annotation"]),
        json!(["s5", "thumbs", 1, null, null, "api"]),
    ];
    assert_eq!(judged("langfuse", &scored_trace(), ScoreMap::default()), expected);
    let named = ScoreMap::default().with("toxicity", Polarity::Down).unwrap();
    expected[1] = json!(["s2", "toxicity", -1, "rude", 3, "eval"]);
    assert_eq!(judged("langfuse", &scored_trace(), named), expected);
}

#[test]
fn feedback_of_langsmith_is_judgments() {
    let run = json!({
        "id": "l", "trace_id": "r", "parent_run_id": "r", "run_type": "llm", "start_time": "2025-05-01T00:00:01",
        "inputs": {"messages": [{"role": "user", "content": "Hi"}]}, "outputs": {"content": "Yo"},
        "feedback": [{"id": "f2", "key": "user_feedback", "score": 0, "comment": "wrong"}],
    });
    let root = json!({
        "id": "r", "trace_id": "r", "run_type": "chain", "start_time": "2025-05-01T00:00:00", "inputs": {}, "outputs": {},
        "feedback_stats": {"quality": {"n": 2, "avg": 0.75, "comments": ["ok", "fine"]}},
    });
    let row = json!({
        "id": "f1", "run_id": "l", "trace_id": "r", "key": "correctness", "score": 1, "correction": {"answer": "Yo!"},
        "feedback_source": {"type": "app"},
    });
    let expected = [
        json!(["f1", "correctness", 1, "{\"answer\":\"Yo!\"}", 1, "app"]),
        json!(["f2", "user_feedback", -1, "wrong", 1, null]),
        json!(["r/quality", "quality", null, "quality: 0.75\nok\nfine", null, null]),
    ];
    assert_eq!(judged("langsmith", &json!([run, root, row]), ScoreMap::default()), expected);
}

#[test]
fn every_good_case_is_recognised() {
    for format in ["langfuse", "langsmith"] {
        for case in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(format)).unwrap()
        {
            let path = case.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("error_") || name.ends_with("_skip") {
                continue;
            }
            let mut input = Cursor::new(std::fs::read(path.join("in.jsonl")).unwrap());
            let report = read(AUTO, &mut input, ReadOptions::default(), &mut Keep::default()).unwrap();
            assert_eq!(report.format, format, "{name}");
        }
    }
}

#[test]
fn runs_beyond_what_is_held_are_refused_by_name() {
    let run = |n: usize| {
        let text = "x".repeat(8 * 1024 * 1024);
        json!({"id": n.to_string(), "trace_id": "t", "run_type": "llm", "inputs": {"prompt": text}, "outputs": null})
    };
    let mut lines = String::new();
    for n in 0..33 {
        lines.push_str(&format!("{}\n", run(n)));
    }
    for on_error in [OnError::Fail, OnError::Skip] {
        let options = ReadOptions { on_error, ..ReadOptions::default() };
        let error = read("langsmith", &mut Cursor::new(&lines), options, &mut Keep::default()).unwrap_err();
        assert!(matches!(error, ReadError::Input(_)));
        assert!(error.to_string().contains("in several files"), "{error}");
    }
}

/// What is said in turn by person and agent, and whether the agent calls a tool before it answers.
fn rounds() -> impl Strategy<Value = Vec<(String, String, bool)>> {
    let text = || "[a-z]{1,3}|[ -?A-~]{1,20}".prop_filter("text", |text: &String| text.trim().len() > 1);
    prop::collection::vec((text(), text(), any::<bool>()), 1..6)
}

/// The calls of a conversation: what each was given, and what it answered.
fn calls_of(rounds: &[(String, String, bool)], deltas: bool) -> Vec<(Vec<Value>, Value)> {
    let (mut history, mut calls) = (Vec::new(), Vec::new());
    let mut call = |history: &mut Vec<Value>, answer: Value| {
        calls.push((history.clone(), answer.clone()));
        if deltas { history.clear() } else { history.push(answer) }
    };
    for (n, (asked, answered, with_tool)) in rounds.iter().enumerate() {
        history.push(json!({"role": "user", "content": asked}));
        if *with_tool {
            let id = format!("c{n}");
            let function = json!({"name": "f", "arguments": "{}"});
            call(
                &mut history,
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": function}]}),
            );
            history.push(json!({"role": "tool", "tool_call_id": id, "content": "ok"}));
        }
        call(&mut history, json!({"role": "assistant", "content": answered}));
    }
    calls
}

/// The texts that were said, in order.
fn said(steps: &[Step]) -> Vec<(Role, String)> {
    let spoken = steps.iter().filter(|step| step.tool_name.is_none() && step.role != Role::Tool);
    spoken.map(|step| (step.role, step.content.clone())).collect()
}

proptest! {
    #[test]
    fn a_recorded_conversation_is_the_conversation(rounds in rounds(), as_text: bool, seed: u64, deltas: bool) {
        // With parts of histories a text that is said again cannot be told from a repeated call.
        let mut texts: Vec<&String> = rounds.iter().flat_map(|(asked, answered, _)| [asked, answered]).collect();
        texts.sort();
        texts.dedup();
        let deltas = deltas && texts.len() == rounds.len() * 2;
        let calls = calls_of(&rounds, deltas);
        let value = |value: Value| if as_text { Value::String(value.to_string()) } else { value };
        let time = |n: usize| format!("2025-06-01T10:{:02}:{:02}", n / 60, n % 60);
        let (mut observations, mut runs) = (Vec::new(), Vec::new());
        for (n, (input, output)) in calls.into_iter().enumerate() {
            let (start, end) = (time(2 * n), time(2 * n + 1));
            observations.push(json!({"id": format!("g{n}"), "type": "GENERATION", "startTime": start, "endTime": end,
                "input": value(json!(input)), "output": value(output.clone())}));
            runs.push(json!({"id": format!("g{n}"), "trace_id": "t", "run_type": "llm", "start_time": start, "end_time": end,
                "inputs": value(json!({"messages": input})), "outputs": {"message": output}}));
        }
        let turn = (seed % observations.len() as u64) as usize;
        observations.rotate_left(turn);
        runs.rotate_left(turn);
        let expected: Vec<(Role, String)> = rounds.iter()
            .flat_map(|(asked, answered, _)| [(Role::User, asked.clone()), (Role::Assistant, answered.clone())]).collect();
        let trace = json!({"id": "t", "timestamp": time(0), "observations": observations}).to_string();
        prop_assert_eq!(said(&good("langfuse", trace.as_bytes())[0].steps), &expected[..]);
        let runs = json!(runs).to_string();
        prop_assert_eq!(said(&good("langsmith", runs.as_bytes())[0].steps), &expected[..]);
    }
}
