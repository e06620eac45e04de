//! Input that no well-meaning writer makes.

use crate::support::{bad, good, traces_of};
use proptest::prelude::*;
use serde_json::json;
use stash_domain::formats::{AUTO, OnError, all};
use stash_domain::trace::Role;

/// Pieces from which inputs nearly right are made.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 28] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\"",
        b"\\",
        b"\"steps\":[",
        b"\"spans\":[",
        b"\"messages\":[",
        b"\"input\":{",
        b"\"preferred_output\":[",
        b"\"choices\":[{\"message\":{\"content\":\"c\"}}]",
        b"{\"role\":\"user\",\"content\":\"hi\"}",
        b"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}",
        b"{\"role\":\"tool\",\"content\":[\"\\u0000\"]}",
        b"{\"id\":\"s\",\"name\":\"n\",\"start_ns\":1,\"end_ns\":2,\"parent_id\":\"s\"}",
        b"\"\\ud800\"",
        b"\xED\xA0\x80",
        b"\xFF",
        b"\0",
        b"1e999",
        b"-",
        b"null",
        b" ",
        b"{\"$serde_json::private::Number\":\"1\"}",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

fn read_in_every_format(bytes: &[u8]) {
    for format in all().iter().map(|format| format.name).chain([AUTO]) {
        for on_error in [OnError::Fail, OnError::Skip] {
            let (traces, report) = traces_of(format, bytes, on_error);
            for trace in traces.iter().take(report.map_or(0, |_| traces.len())) {
                assert!(trace.steps.iter().any(|step| step.role != Role::System));
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        read_in_every_format(&bytes);
    }

    #[test]
    fn nothing_nearly_right_panics(bytes in nearly_json()) {
        read_in_every_format(&bytes);
    }

    #[test]
    fn any_cut_of_a_good_file_is_survived(cut in 0_usize..600) {
        let file = include_bytes!("stash/whole_trace/in.jsonl");
        read_in_every_format(&file[..cut.min(file.len())]);
    }

    #[test]
    fn any_text_of_user_and_assistant_is_kept(text in "[^\\x00]{1,200}", other in "[^\\x00]{0,100}") {
        let lines = format!("{}\n", json!({"messages": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": other},
            {"role": "tool", "tool_call_id": "1", "content": other},
        ]}));
        let traces = good("openai_chat", lines.as_bytes());
        let contents: Vec<&str> = traces[0].steps.iter().map(|step| step.content.as_str()).collect();
        let mut expected = vec![text.as_str(), other.as_str(), other.as_str()];
        if other.is_empty() {
            expected.remove(1);
        }
        prop_assert_eq!(contents, expected);
    }
}

#[test]
fn nesting_is_refused_at_any_depth_without_recursion() {
    for depth in [101, 130, 10_000, 1_000_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        bad("stash", format!(r#"{{"steps":[{{"role":"user","content":"x","metadata":{{"a":{deep}}}}}]}}"#).as_bytes());
        bad("stash", format!(r#"{{"a":{deep},"steps":[{{"role":"user","content":"x"}}]}}"#).as_bytes());
        bad("stash", deep.as_bytes());
        bad("openai_chat", format!(r#"{{"messages":[{{"role":"user","content":"x","a":{deep}}}]}}"#).as_bytes());
        // Within a string it is text.
        let quoted = serde_json::to_string(&deep).unwrap();
        let call =
            format!(r#"{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":{quoted}}}}}]}}"#);
        good("openai_chat", format!("[{call}]").as_bytes());
    }
}

#[test]
fn a_message_of_an_error_holds_no_more_than_a_clip_of_the_input() {
    let role = "x".repeat(100_000);
    let error = bad("stash", format!(r#"{{"steps":[{{"role":"{role}","content":""}}]}}"#).as_bytes());
    assert!(error.len() < 300, "{} bytes", error.len());
    let error = bad(&role, b"{}");
    assert!(error.len() < 300, "{} bytes", error.len());
}

#[test]
fn a_report_lists_a_bounded_number_of_issues_and_counts_all() {
    let lines = "x\n".repeat(3000);
    let (_, report) = traces_of("stash", lines.as_bytes(), OnError::Skip);
    let report = report.unwrap();
    assert_eq!((report.traces, report.skipped.count, report.skipped.first.len()), (0, 3000, 1000));
}

#[test]
fn a_raw_nul_between_a_backslash_and_what_it_escapes_has_one_meaning() {
    // As if it were not there: the backslash escapes the quotation mark, and the text goes on. Read in memory and walked.
    let traces = good(
        "stash",
        b"{\"steps\":[{\"role\":\"user\",\"content\":\"a\\\0\"b\\\0\0n\"},{\"role\":\"assistant\",\"content\":\"c\"}]}",
    );
    let contents: Vec<&str> = traces[0].steps.iter().map(|step| step.content.as_str()).collect();
    assert_eq!(contents, ["a\"b\n", "c"]);
    let walked_as_rows = b"[{\"messages\":[{\"role\":\"user\",\"content\":\"a\\\0\"}\"}]},{\"messages\":[{\"role\":\"user\",\"content\":\"d\"}]}]";
    let contents: Vec<String> =
        good("openai_chat", walked_as_rows).into_iter().map(|trace| trace.steps[0].content.clone()).collect();
    assert_eq!(contents, ["a\"}", "d"]);
}

/// Ids of spans stand in an index, which takes no more than a fraction of a page.
#[test]
fn ids_of_spans_have_a_bound() {
    let trace = |id: &str, parent: Option<&str>| {
        let span = json!({"id": id, "parent_id": parent, "name": "n", "start_ns": 1, "end_ns": 2});
        json!({"steps": [{"role": "user", "content": "hi"}], "spans": [span]}).to_string()
    };
    let (most, more) = ("ä".repeat(512), "ä".repeat(513));
    assert_eq!(good("stash", trace(&most, None).as_bytes())[0].spans[0].id, most);
    for bytes in [trace(&more, None), trace("s", Some(&more))] {
        let said = bad("stash", bytes.as_bytes());
        assert!(said.contains("the id of a span has more than 512 characters"), "{said}");
    }
}
