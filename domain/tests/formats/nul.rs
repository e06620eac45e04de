//! NUL changes nothing: what holds it reads as if it had never been there.

use crate::support::{shown, traces_of};
use regex::Regex;
use stash_domain::formats::OnError;
use stash_domain::trace::Trace;
use std::path::Path;

/// Values that are prose: a text with a space in it, without escapes.
const PROSE: &str = r#""( *[A-Za-z])([^"\\\n]* [^"\\\n]*)"(\s*[,}\]])"#;

#[test]
fn an_escaped_nul_in_any_text_is_as_if_it_were_not_there() {
    let prose = Regex::new(PROSE).unwrap();
    let escaped = Regex::new(r"(\\\\)+u0000").unwrap();
    for format in
        ["anthropic_messages", "claude_code", "codex", "langfuse", "langsmith", "openai_chat", "otel", "stash"]
    {
        let mut changed = 0;
        for case in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(format)).unwrap()
        {
            let text = std::fs::read_to_string(case.unwrap().path().join("in.jsonl")).unwrap_or_default();
            if text.contains("u0000") {
                continue;
            }
            let with_nul = prose.replace_all(&text, r#""$1\u0000$2"$3"#);
            changed += usize::from(with_nul != text);
            let (mut traces, _) = traces_of(format, text.as_bytes(), OnError::Skip);
            let (mut found, _) = traces_of(format, with_nul.as_bytes(), OnError::Skip);
            for trace in traces.iter_mut().chain(&mut found) {
                // It tells of what was dropped.
                trace.head.metadata.remove("otel");
            }
            let shown =
                |traces: &[Trace]| serde_json::to_string(&traces.iter().map(shown).collect::<Vec<_>>()).unwrap();
            // Where JSON is kept as text, it holds the escape, which is no NUL.
            let found = escaped.replace_all(&shown(&found), "").into_owned();
            assert!(!found.contains("u0000"), "{format}: {found}");
            assert_eq!(found, shown(&traces), "{format}: {with_nul}");
        }
        assert!(changed > 0, "{format}: no case has prose");
    }
}

#[test]
fn a_raw_nul_before_an_array_is_as_if_it_were_not_there() {
    let trace = r#"{"id":"t","observations":[{"id":"g","type":"GENERATION","startTime":"2025-06-01T10:00:01.000Z","input":"Hi","output":"Ho"}]}"#;
    for (before, between) in [("", ""), ("\0", ""), (" \0 ", "\0"), ("", "\0")] {
        let (traces, report) = traces_of("langfuse", format!("{before}[{between}{trace}]").as_bytes(), OnError::Fail);
        assert!(report.is_ok(), "{report:?}");
        assert_eq!(traces.iter().map(|trace| trace.steps.len()).collect::<Vec<_>>(), [2], "{before:?} {between:?}");
    }
}
