//! `auto`, and names of formats.

use crate::support::traces_of;
use stash_domain::formats::{AUTO, OnError, all};

fn detected(text: &str) -> String {
    match traces_of(AUTO, text.as_bytes(), OnError::Skip).1 {
        Ok(report) => report.format.to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_shape_is_recognised() {
    for (text, format) in [
        (r#"{"id":"a","steps":[{"role":"user","content":"x"}]}"#, "stash"),
        (r#"[{"steps":[{"role":"user","content":"x"}]}]"#, "stash"),
        ("{\n\"steps\": []}", "stash"),
        (r#"{"messages":[{"role":"user","content":"x"}]}"#, "openai_chat"),
        (r#"[{"role":"user","content":"x"}]"#, "openai_chat"),
        (r#"[[{"role":"user","content":"x"}]]"#, "openai_chat"),
        (r#"{"input":{"messages":[]},"preferred_output":[]}"#, "openai_chat"),
        (r#"{"custom_id":"a","body":{"messages":[]}}"#, "openai_chat"),
        (r#"{"choices":[]}"#, "openai_chat"),
        (r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{}}"#, "claude_code"),
        (r#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"thinking"}]}}"#, "claude_code"),
        (r#"{"type":"summary","summary":"x","leafUuid":"u"}"#, "claude_code"),
        (r#"{"type":"file-history-snapshot","messageId":"m"}"#, "claude_code"),
        (r#"{"type":"queue-operation","operation":"enqueue","content":"x"}"#, "claude_code"),
        (r#"[{"type":"user","uuid":"u","sessionId":"s","message":{}}]"#, "claude_code"),
        (r#"{"system":"s","messages":[{"role":"user","content":"x"}]}"#, "anthropic_messages"),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]}"#,
            "anthropic_messages",
        ),
        (r#"[{"role":"assistant","content":[{"type":"tool_use","name":"f"}]}]"#, "anthropic_messages"),
        (r#"[[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]]"#, "anthropic_messages"),
        (r#"{"messages":[],"response":{"type":"message","content":[]}}"#, "anthropic_messages"),
        (r#"{"custom_id":"a","result":{"type":"succeeded","message":{"content":[]}}}"#, "anthropic_messages"),
        (r#"{"custom_id":"a","params":{"messages":[]}}"#, "anthropic_messages"),
        (r#"{"type":"message","role":"assistant","content":[],"usage":{}}"#, "anthropic_messages"),
        (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#, "codex"),
        (r#"{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"x"}}"#, "codex"),
        (r#"{"record_type":"state"}"#, "codex"),
        (r#"{"id":"s","timestamp":"t","instructions":null}"#, "codex"),
        ("{\n \"session\": {\"id\": \"s\"},\n \"items\": []\n}", "codex"),
        (r#"{"type":"function_call_output","call_id":"c","output":"x"}"#, "codex"),
        (r#"{"resourceSpans":[]}"#, "otel"),
        (r#"{"resource_spans":[],"resource_logs":[]}"#, "otel"),
        (r#"[{"resourceLogs":[{"scopeLogs":[]}]}]"#, "otel"),
        ("{\"resourceMetrics\":[]}\n{\"resourceSpans\":[]}", "otel"),
        (r#"{"name":"M","span_kind":"LLM","parent_id":null,"context":{"trace_id":"a"},"attributes":{}}"#, "otel"),
        ("\u{FEFF}\n{\"messages\":[]}", "openai_chat"),
        ("damaged {\n{\"messages\":[]}", "openai_chat"),
    ] {
        assert_eq!(detected(text), format, "{text}");
    }
}

#[test]
fn a_record_that_can_only_be_one_format_decides_over_earlier_ones() {
    let plain = r#"{"messages":[{"role":"user","content":"x"}]}"#;
    let called = r#"{"messages":[{"role":"user","content":"x"},{"role":"tool","content":"y","tool_call_id":"1"}]}"#;
    assert_eq!(detected(&format!("{plain}\n{called}")), "openai_chat");
    let thought = r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"y"}]}]}"#;
    assert_eq!(detected(&format!("{plain}\n{thought}")), "anthropic_messages");
    let stash = r#"{"steps":[{"role":"user","content":"x"}],"messages":[]}"#;
    assert_eq!(detected(&format!("{}{stash}", "oops\n".repeat(49))), "stash");
    assert!(detected(&format!("{}{stash}", "oops\n".repeat(50))).contains("no known format"));
    assert_eq!(detected(&format!("[{}{stash}]", "{},".repeat(49))), "stash");
}

#[test]
fn shapes_that_are_close_to_each_other_are_told_apart() {
    for (text, format) in [
        // A bare item of Codex and a response of the Messages API.
        (r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}"#, "codex"),
        (r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#, "codex"),
        (
            r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}"#,
            "anthropic_messages",
        ),
        // Chats of text alone read the same in both formats of chats.
        (r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#, "openai_chat"),
        // A trace may carry the messages it came from.
        (r#"{"messages":[{"role":"user","content":"x"}],"steps":[{"role":"user","content":"x"}]}"#, "stash"),
        (r#"{"metadata":{"messages":[]},"steps":[{"role":"user","content":"x"}]}"#, "stash"),
        // A step that lost its role is still a step: reading names the field.
        (r#"{"steps":[{"content":"x"},{"role":"user","content":"x"}]}"#, "stash"),
    ] {
        assert_eq!(detected(text), format, "{text}");
    }
    // Metrics beside messages do not hide them.
    let mixed =
        "{\"resourceMetrics\":[]}\n{\"messages\":[{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"1\"}]}";
    assert_eq!(detected(mixed), "openai_chat");
}

#[test]
fn a_known_shape_that_is_not_read_is_named() {
    for (text, named) in [
        (r#"{"schema_version":"ATIF-v1.4","steps":[{"step_id":1,"source":"user","message":"x"}]}"#, "ATIF"),
        (r#"["session/update",{"text":"x"}]"#, "[method, event]"),
        (r#"{"id":"1","conversations":[{"from":"human","value":"x"}]}"#, "ShareGPT"),
        (r#"[{"conversations":[{"from":"human","value":"x"}]}]"#, "ShareGPT"),
        (r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#, "Gemini"),
        (r#"{"key":"1","request":{"contents":[{"parts":[{"text":"x"}]}]}}"#, "Gemini"),
        (r#"{"type":"thread.started","thread_id":"t"}"#, "codex exec --json"),
        (r#"{"type":"item.completed","item":{"type":"agent_message","text":"x"}}"#, "codex exec --json"),
        (r#"{"session_id":"s","ts":1760000000,"text":"x"}"#, "history.jsonl"),
        (r#"{"resourceMetrics":[{"scopeMetrics":[]}]}"#, "metrics"),
        (r#"{"type":"system","subtype":"init","session_id":"s"}"#, "stream-json"),
        (r#"{"type":"user","session_id":"s","message":{"role":"user","content":"x"}}"#, "stream-json"),
    ] {
        let error = detected(text);
        assert!(error.contains(named), "{text}: {error}");
        for format in all() {
            assert!(error.contains(format.name), "{error}");
        }
    }
}

#[test]
fn what_is_not_recognised_names_the_formats_tried() {
    for text in ["", "hello", "{}", "[]", "[1]", "7", r#"{"a":1}"#, "\0\0"] {
        let error = detected(text);
        for format in all() {
            assert!(error.contains(format.name), "{error}");
        }
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let (_, report) = traces_of("stash2", b"{}", OnError::Fail);
    let error = report.unwrap_err().to_string();
    let names: Vec<&str> = all().iter().map(|format| format.name).collect();
    assert_eq!(error, format!("unknown format \"stash2\"; known are {}", names.join(", ")));
}

#[test]
fn every_format_has_a_name_a_description_and_cases() {
    for format in all() {
        assert!(format.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        assert!(format.description.len() > 20);
        let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(format.name);
        assert!(cases.is_dir(), "{} has no cases", format.name);
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/formats/{}.md", format.name));
        assert!(page.is_file(), "{} has no page", format.name);
    }
}

#[test]
fn binary_exports_are_named() {
    for (bytes, named) in [(&b"\0\0\0\x0c\x0a\x0aresource"[..], "protobuf"), (b"\x28\xb5\x2f\xfd\0\0", "zstd")] {
        let error = traces_of(AUTO, bytes, OnError::Skip).1.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
