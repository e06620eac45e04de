//! Sessions and messages that are made at random: nothing that was said is lost, and nothing panics.

use crate::support::{Keep, good, traces_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::formats::{OnError, ReadError, ReadOptions, read};
use stash_domain::trace::{Role, Trace};
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};

/// What one message says: prompts and answers of texts, and calls with their results.
#[derive(Clone, Debug)]
enum Said {
    Prompt(String),
    Answer(Vec<String>),
    Calls(u8),
}

fn said() -> impl Strategy<Value = Vec<Said>> {
    let one = prop_oneof![
        "[a-zé ]{0,8}".prop_map(Said::Prompt),
        prop::collection::vec("[a-zé ]{0,8}", 1..4).prop_map(Said::Answer),
        (1_u8..4).prop_map(Said::Calls),
    ];
    prop::collection::vec(one, 1..12)
}

/// Texts of the roles of person and agent, in order, without white space: how texts are joined is not what is asked here.
fn texts(trace: &Trace) -> Vec<(Role, String)> {
    let mut texts: Vec<(Role, String)> = Vec::new();
    for step in trace.steps.iter().filter(|step| step.role != Role::System && step.tool_call_id.is_none()) {
        let text: String = step.content.split_whitespace().collect();
        match texts.last_mut() {
            Some((role, before)) if *role == step.role => before.push_str(&text),
            _ => texts.push((step.role, text)),
        }
    }
    texts.retain(|(_, text)| !text.is_empty());
    texts
}

fn expected(said: &[Said]) -> Vec<(Role, String)> {
    let mut texts: Vec<(Role, String)> = Vec::new();
    for (n, one) in said.iter().enumerate() {
        let (role, text) = match one {
            Said::Prompt(text) => (Role::User, format!("{n}:{text}")),
            Said::Answer(parts) => {
                (Role::Assistant, parts.iter().enumerate().map(|(m, text)| format!("{n}.{m}:{text}")).collect())
            }
            Said::Calls(_) => continue,
        };
        let text: String = text.split_whitespace().collect();
        match texts.last_mut() {
            Some((before_role, before)) if *before_role == role => before.push_str(&text),
            _ => texts.push((role, text)),
        }
    }
    texts
}

/// Lines of a session that says this. `noise` puts other lines in between, `chained` hangs lines on each other.
fn session(said: &[Said], noise: &[u8], chained: bool) -> String {
    let mut lines: Vec<Value> = Vec::new();
    let mut parent: Option<String> = None;
    let mut push = |kind: &str, message: Value, fork: Option<&str>| {
        let n = lines.len();
        let uuid = format!("u{n}");
        let hangs_on = fork.map(str::to_owned).or(parent.clone());
        let mut line = json!({"type": kind, "sessionId": "s", "message": message});
        if chained {
            line["uuid"] = json!(uuid);
            line["parentUuid"] = json!(hangs_on);
        }
        lines.push(line);
        match noise.get(n % noise.len().max(1)) {
            Some(0) => lines.push(json!({"type": "file-history-snapshot", "messageId": uuid})),
            Some(1) if chained => {
                lines.push(json!({"type": "progress", "uuid": format!("p{n}"), "parentUuid": uuid, "sessionId": "s"}));
                parent = Some(format!("p{n}"));
                return uuid;
            }
            Some(2) => lines.push(json!({"type": "user", "uuid": format!("m{n}"), "parentUuid": uuid, "isMeta": true,
                "sessionId": "s", "message": {"content": "meta"}})),
            Some(3) => lines.push(json!({"type": "assistant", "uuid": format!("x{n}"), "parentUuid": null,
                "isSidechain": true, "sessionId": "s", "message": {"content": "side"}})),
            Some(4) => lines.push(lines[n].clone()),
            _ => {}
        }
        parent = Some(uuid.clone());
        uuid
    };
    for (n, one) in said.iter().enumerate() {
        match one {
            Said::Prompt(text) => {
                push("user", json!({"role": "user", "content": format!("{n}:{text}")}), None);
            }
            Said::Answer(parts) => {
                for (m, text) in parts.iter().enumerate() {
                    let block = json!([{"type": "text", "text": format!("{n}.{m}:{text}")}]);
                    push("assistant", json!({"id": format!("msg{n}"), "content": block}), None);
                }
            }
            Said::Calls(count) => {
                let calls: Vec<String> = (0..*count)
                    .map(|m| {
                        let block = json!([{"type": "tool_use", "id": format!("t{n}.{m}"), "name": "f", "input": {}}]);
                        push("assistant", json!({"id": format!("msg{n}"), "content": block}), None)
                    })
                    .collect();
                for (m, call) in calls.iter().enumerate() {
                    let block = json!([{"type": "tool_result", "tool_use_id": format!("t{n}.{m}"), "content": "r"}]);
                    push("user", json!({"content": block}), Some(call));
                }
            }
        }
    }
    // A line written twice is one line only where lines have ids.
    let mut seen = Vec::new();
    lines.retain(|line| {
        chained || {
            let new = !seen.contains(line);
            seen.push(line.clone());
            new
        }
    });
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Lines that are nearly right, hanging on each other in any way.
fn nearly_lines() -> impl Strategy<Value = String> {
    let id = || prop::option::of(0_u8..8).prop_map(|id| id.map(|id| format!("u{id}")));
    let kind = prop::sample::select(vec![
        "user",
        "assistant",
        "attachment",
        "system",
        "progress",
        "queue-operation",
        "summary",
    ]);
    let content = prop::sample::select(vec![
        json!("text"),
        json!(null),
        json!(7),
        json!([{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "f", "input": "{"}]),
        json!([{"type": "tool_result", "tool_use_id": "t", "content": [1]}, "b"]),
        json!([{"type": "tool_use", "id": "t2"}, {"type": "thinking", "thinking": "c"}]),
        json!("<system-reminder>x</system-reminder> y \u{0}"),
        json!({"type": "image"}),
    ]);
    let flag = || prop::bool::weighted(0.2);
    let line = (kind, id(), id(), id(), content, flag(), flag(), prop::option::of(0_u8..60)).prop_map(
        |(kind, uuid, parent, logical, content, side, summary, time)| {
            json!({"type": kind, "uuid": uuid, "parentUuid": parent, "logicalParentUuid": logical, "sessionId": "s",
                "isSidechain": side, "isCompactSummary": summary, "content": content, "leafUuid": uuid,
                "message": {"id": logical, "content": content}, "subtype": "local_command",
                "timestamp": time.map(|time| format!("2026-01-01T00:00:{time:02}Z")),
                "attachment": {"type": "queued_command", "prompt": content}})
        },
    );
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

proptest! {
    #[test]
    fn all_that_was_said_in_a_session_is_kept_in_order(
        said in said(),
        noise in prop::collection::vec(0_u8..12, 1..6),
        chained: bool,
    ) {
        let expected = expected(&said);
        prop_assume!(said.iter().any(|one| matches!(one, Said::Answer(_) | Said::Calls(_))));
        let traces = good("claude_code", session(&said, &noise, chained).as_bytes());
        prop_assert_eq!(texts(&traces[0]), expected);
        let calls = |role| traces[0].steps.iter().filter(|step| step.role == role && step.tool_call_id.is_some()).count();
        let made: usize = said.iter().map(|one| if let Said::Calls(count) = one { usize::from(*count) } else { 0 }).sum();
        prop_assert_eq!((calls(Role::Assistant), calls(Role::Tool)), (made, made));
    }

    #[test]
    fn no_lines_panic_and_the_same_lines_give_the_same_trace(lines in nearly_lines()) {
        for on_error in [OnError::Fail, OnError::Skip] {
            let (once, _) = traces_of("claude_code", lines.as_bytes(), on_error);
            let (again, _) = traces_of("claude_code", lines.as_bytes(), on_error);
            prop_assert_eq!(once, again);
        }
    }

    #[test]
    fn any_cut_of_a_session_is_survived(cut in 0_usize..6000) {
        let file = include_bytes!("claude_code/harness_text/in.jsonl");
        let (traces, report) = traces_of("claude_code", &file[..cut.min(file.len())], OnError::Fail);
        prop_assert_eq!(traces.len() as u64, report.map_or(0, |report| report.traces));
    }

    #[test]
    fn all_that_messages_say_is_kept_in_order(said in said()) {
        let messages: Vec<Value> = said.iter().enumerate().flat_map(|(n, one)| match one {
            Said::Prompt(text) => vec![json!({"role": "user", "content": format!("{n}:{text}")})],
            Said::Answer(parts) => {
                let texts = parts.iter().enumerate().map(|(m, text)| format!("{n}.{m}:{text}"));
                let blocks: Vec<Value> = texts.map(|text| json!({"type": "text", "text": text})).collect();
                vec![json!({"role": "assistant", "content": blocks})]
            }
            Said::Calls(count) => {
                let calls: Vec<Value> = (0..*count)
                    .map(|m| json!({"type": "tool_use", "id": format!("t{n}.{m}"), "name": "f", "input": {}}))
                    .collect();
                let results: Vec<Value> = (0..*count)
                    .map(|m| json!({"type": "tool_result", "tool_use_id": format!("t{n}.{m}"), "content": "r"}))
                    .collect();
                vec![json!({"role": "assistant", "content": calls}), json!({"role": "user", "content": results})]
            }
        }).collect();
        let traces = good("anthropic_messages", json!({"messages": messages}).to_string().as_bytes());
        prop_assert_eq!(texts(&traces[0]), expected(&said));
    }
}

#[test]
fn a_line_larger_than_a_step_is_an_error_or_left_out() {
    let fine =
        json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "message": {"content": "Hi"}});
    let large = "x".repeat(stash_domain::limits::STEP_BYTES_MAX);
    let large =
        json!({"type": "user", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {"content": large}});
    let lines = format!("{fine}\n{large}\n");
    let read = |on_error| {
        let mut keep = Keep::default();
        let options = ReadOptions { on_error, ..ReadOptions::default() };
        let report = read("claude_code", &mut Cursor::new(lines.as_bytes()), options, &mut keep);
        (keep.traces, report)
    };
    assert!(matches!(read(OnError::Fail).1, Err(ReadError::Input(issue)) if issue.line == 2));
    let (traces, report) = read(OnError::Skip);
    assert_eq!((traces[0].steps.len(), report.unwrap().warnings.count), (1, 1));
}

#[test]
fn a_long_chain_takes_no_recursion_and_no_quadratic_time() {
    let line = |n: usize| {
        let (kind, parent) = (if n.is_multiple_of(2) { "user" } else { "assistant" }, n.checked_sub(1));
        let parent = parent.map(|parent| format!("u{parent}"));
        let message = json!({"id": "same", "content": format!("text {n}")});
        json!({"type": kind, "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "message": message})
    };
    let lines: String = (0..20_000).map(|n| format!("{}\n", line(n))).collect();
    let mut keep = Keep::default();
    let report = read("claude_code", &mut Cursor::new(lines.as_bytes()), ReadOptions::default(), &mut keep).unwrap();
    assert_eq!((report.steps, keep.traces[0].steps[19_999].content.as_str()), (20_000, "text 19999"));
}

/// Counts the bytes that are read of it, again and again.
struct Counted(Cursor<Vec<u8>>, usize);

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read;
        Ok(read)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.1 += amount;
        self.0.consume(amount);
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// They were united anew for each of them, to find nothing, which read the file as often as it has lines.
#[test]
fn lines_of_a_message_that_says_nothing_are_united_once() {
    let prompt = json!({"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-03-02T09:00:00Z",
        "message": {"role": "user", "content": "Build"}});
    let answer = |n: usize| {
        let parent = if n == 0 { "u".to_owned() } else { format!("a{}", n - 1) };
        json!({"type": "assistant", "uuid": format!("a{n}"), "parentUuid": parent, "sessionId": "s",
            "timestamp": "2026-03-02T09:00:01Z",
            "message": {"role": "assistant", "id": "m", "content": [{"type": "redacted_thinking", "data": "x"}]}})
    };
    let lines: Vec<String> = [prompt].into_iter().chain((0..500).map(answer)).map(|line| line.to_string()).collect();
    let bytes = lines.join("\n").into_bytes();
    let length = bytes.len();
    let (mut counted, mut keep) = (Counted(Cursor::new(bytes), 0), Keep::default());
    read("claude_code", &mut counted, ReadOptions::default(), &mut keep).unwrap();
    let said: Vec<&str> = keep.traces[0].steps.iter().map(|step| step.content.as_str()).collect();
    assert_eq!(said, ["Build"]);
    assert!(counted.1 <= 10 * length, "{} bytes read of {length}", counted.1);
}
