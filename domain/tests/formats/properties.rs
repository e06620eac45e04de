//! What holds for every format and any input: no panic, the same again, and an export that reads back.

use crate::support::{export, good, traces_of};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stash_domain::formats::{AUTO, OnError, all};
use std::path::Path;

/// Words that formats look for, as keys and as texts.
const WORDS: [&str; 60] = [
    "role",
    "content",
    "type",
    "text",
    "id",
    "name",
    "user",
    "assistant",
    "system",
    "tool",
    "developer",
    "messages",
    "steps",
    "spans",
    "input",
    "output",
    "message",
    "payload",
    "timestamp",
    "items",
    "session",
    "call_id",
    "arguments",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "image_generation_call",
    "reasoning",
    "summary",
    "response_item",
    "event_msg",
    "session_meta",
    "turn_context",
    "compacted",
    "user_message",
    "agent_message",
    "item_completed",
    "item",
    "exec_command_end",
    "thread_rolled_back",
    "num_turns",
    "action",
    "tool_calls",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "uuid",
    "parentUuid",
    "sessionId",
    "isSidechain",
    "run_type",
    "trace_id",
    "inputs",
    "outputs",
    "observations",
    "resourceSpans",
    "attributes",
    "<environment_context>",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        1 => "[ -~\\n]{0,12}",
        1 => "[^\\x00]{0,6}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => word().prop_map(Value::String),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => any::<i64>().prop_map(Value::from),
        1 => (0_u64..4).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            3 => prop::collection::vec((word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Whatever is read is read the same again, and its export gives the same traces.
fn holds(bytes: &[u8]) {
    for format in all().iter().map(|format| format.name).chain([AUTO]) {
        let (traces, report) = traces_of(format, bytes, OnError::Skip);
        let (again, report_again) = traces_of(format, bytes, OnError::Skip);
        assert_eq!(report.is_ok(), report_again.is_ok());
        if let (Ok(report), Ok(report_again)) = (report, report_again) {
            assert_eq!(report, report_again);
            assert_eq!(traces, again);
            if !traces.is_empty() {
                assert_eq!(good("stash", &export(&traces)), traces, "{format}");
            }
        }
    }
}

/// The lines of all golden cases.
fn golden_lines() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut lines = Vec::new();
    for format in all() {
        let mut cases: Vec<_> =
            std::fs::read_dir(root.join(format.name)).unwrap().map(|case| case.unwrap().path()).collect();
        cases.sort();
        for case in cases {
            let bytes = std::fs::read(case.join("in.jsonl")).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // Of cases that are about a size or a depth only the shape counts here.
            lines.extend(text.lines().filter(|line| line.len() < 4_000).map(str::to_owned));
        }
    }
    lines
}

proptest! {
    #[test]
    fn any_json_of_known_words(lines in prop::collection::vec(value(), 1..6)) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        holds(text.as_bytes());
    }

    #[test]
    fn lines_of_sessions_in_any_form(
        lines in prop::collection::vec((prop::sample::select(&WORDS[31..36]), value(), any::<bool>()), 1..12),
    ) {
        let line = |(kind, payload, wrapped): &(&str, Value, bool)| {
            if *wrapped { json!({"type": kind, "payload": payload}) } else { payload.clone() }
        };
        let text: String = lines.iter().map(|parts| format!("{}\n", line(parts))).collect();
        holds(text.as_bytes());
    }

    #[test]
    fn lines_of_golden_cases_in_any_order_cut_anywhere(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        thread_local!(static LINES: Vec<String> = golden_lines());
        let text: String = LINES.with(|lines| {
            picks.iter().map(|pick| format!("{}\n", pick.get(lines))).collect()
        });
        holds(text.as_bytes());
        let bytes = text.as_bytes();
        holds(&bytes[..cut.index(bytes.len() + 1)]);
    }
}
