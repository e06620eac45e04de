//! Values that are made of very many very small values, which take far more memory than their text: refused in every format,
//! whether they are read in memory or walked. What people record is not refused.

use crate::support::{bad, good, traces_of};
use stash_domain::formats::OnError;

/// A trace of each format with a place for a value of the recorder's own.
const TEMPLATES: &[(&str, &str)] = &[
    ("stash", r#"{"steps":[{"role":"user","content":"Hi","metadata":{"v":@}}]}"#),
    ("stash", r#"{"metadata":{"v":@},"steps":[{"role":"user","content":"Hi"}]}"#),
    ("openai_chat", r#"{"messages":[{"role":"user","content":"Hi","v":@}]}"#),
    (
        "anthropic_messages",
        r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"v":@}}]}]}"#,
    ),
    (
        "langfuse",
        r#"{"id":"j1","timestamp":"2025-06-01T10:00:00.000Z","metadata":{"v":@},"observations":[{"id":"g","type":"GENERATION","startTime":"2025-06-01T10:00:01.000Z","endTime":"2025-06-01T10:00:02.000Z","input":[{"role":"user","content":"Hi"}],"output":"Yo"}]}"#,
    ),
    (
        "langsmith",
        r#"{"id":"a","trace_id":"T","run_type":"llm","start_time":1746057601000,"extra":{"metadata":{"v":@}},"inputs":{"input":"Hi"},"outputs":{"output":"Yo"}}"#,
    ),
    (
        "claude_code",
        r#"{"type":"user","uuid":"s1","parentUuid":null,"sessionId":"s","timestamp":"2026-03-02T09:03:51.000Z","message":{"role":"user","content":"Hi"},"toolUseResult":@}"#,
    ),
    (
        "codex",
        r#"{"timestamp":"2025-11-03T09:00:01.000Z","type":"session_meta","payload":{"id":"0199aaaa-0000-7000-8000-00000000000a","timestamp":"2025-11-03T09:00:00.000Z","v":@}}
{"timestamp":"2025-11-03T09:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}"#,
    ),
    (
        "otel",
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"chat","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]"}},{"key":"v","value":@}]}]}]}]}"#,
    ),
];

fn filled(template: &str, value: &str) -> Vec<u8> {
    template.replace('@', value).into_bytes()
}

fn array(item: &str, bytes: usize) -> String {
    format!("[{}{item}]", format!("{item},").repeat(bytes / (item.len() + 1)))
}

#[test]
fn an_embedding_of_100_000_numbers_is_taken() {
    let numbers: Vec<String> = (0..100_000).map(|n| format!("-0.0{n}")).collect();
    let embedding = format!("[{}]", numbers.join(","));
    for (format, template) in TEMPLATES {
        assert_eq!(good(format, &filled(template, &embedding)).len(), 1, "{format}");
    }
}

#[test]
fn what_is_too_dense_is_refused_with_its_reason() {
    for (format, template) in TEMPLATES {
        for item in ["[]", r#"{"":0}"#] {
            let error = bad(format, &filled(template, &array(item, 2 << 20)));
            assert!(error.contains("too many parts for its size"), "{format} {item}: {error}");
        }
    }
}

#[test]
fn within_a_text_it_stays_text() {
    let text = array("[]", 2 << 20);
    let input = format!(
        r#"{{"messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"f","arguments":"{{\"v\":{text}}}"}}}}]}}]}}"#
    );
    let traces = good("openai_chat", input.as_bytes());
    let arguments = traces[0].steps[1].tool_input.as_ref().unwrap();
    assert_eq!(arguments.get("_raw").and_then(|raw| raw.as_text()), Some(format!("{{\"v\":{text}}}").as_str()));
}

#[test]
fn numbers_are_one_text_and_not_one_message_each() {
    let numbers = array("0", 500_000);
    let run =
        r#"{"id":"a","trace_id":"T","run_type":"llm","start_time":1746057601000,"inputs":@,"outputs":{"output":"Yo"}}"#;
    let traces = good("langsmith", &filled(run, &numbers));
    assert_eq!(traces[0].steps.len(), 2);
    assert_eq!(traces[0].steps[0].content, numbers);
}

#[test]
fn of_very_many_judgments_some_are_taken_and_the_rest_is_counted() {
    let feedback: Vec<String> = (0..10_500).map(|n| format!(r#"{{"key":"k{n}","score":0.7}}"#)).collect();
    let run = r#"{"id":"a","trace_id":"T","run_type":"llm","start_time":1746057601000,"inputs":{"input":"Hi"},"outputs":{"output":"Yo"},"feedback":@}"#;
    let input = filled(run, &format!("[{}]", feedback.join(",")));
    let (_, report) = traces_of("langsmith", &input, OnError::Fail);
    let warnings = report.unwrap().warnings.first;
    let said = "only the first 10000 of 10500 were taken";
    assert!(warnings.iter().any(|issue| issue.message.contains(said)), "{warnings:?}");
}

#[test]
fn runs_without_text_are_counted_within_a_list_too() {
    let runs = |count: usize| format!(r#"{{"patch":[{}]}}"#, vec![r#"{"a":0}"#; count].join(","));
    let refused = bad("langsmith", runs(2_000).as_bytes());
    assert!(refused.contains("are too many that are so small"), "{refused}");
    let children = format!(r#"{{"id":"a","run_type":"chain","child_runs":[{}]}}"#, vec![r#"{"a":0}"#; 2_000].join(","));
    let refused = bad("langsmith", children.as_bytes());
    assert!(refused.contains("are too many that are so small"), "{refused}");
}
