//! Sessions of the Codex CLI, made in every era and with every kind of copy: each text that was said comes out once, in order.

use crate::support::good;
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::trace::Role;

#[derive(Clone, Debug)]
enum Said {
    User(String),
    Agent(String),
    Call,
}

/// What a line of a wrapped session tells besides items.
#[derive(Clone, Copy, Debug)]
enum Copies {
    None,
    Before,
    After,
    /// In place of the items.
    Instead,
}

fn said() -> impl Strategy<Value = Said> {
    // Texts that say something and do not look like the harness's.
    let text = "[a-z][^\\x00]{0,30}";
    prop_oneof![text.prop_map(Said::User), text.prop_map(Said::Agent), Just(Said::Call),]
}

fn message(role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn item(said: &Said) -> Value {
    match said {
        Said::User(text) => message("user", text),
        Said::Agent(text) => message("assistant", text),
        Said::Call => json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}),
    }
}

fn event(said: &Said, paginated: bool) -> Value {
    let item = |kind: &str, text: &str| json!({"type": "item_completed", "item": {"type": kind, "id": "i", "content": [{"type": "text", "text": text}]}});
    match said {
        Said::User(text) if paginated => item("UserMessage", text),
        Said::Agent(text) if paginated => item("AgentMessage", text),
        Said::User(text) => json!({"type": "user_message", "message": text}),
        Said::Agent(text) => json!({"type": "agent_message", "message": text}),
        Said::Call => json!({"type": "exec_command_end", "call_id": "c", "command": ["f"], "stdout": ""}),
    }
}

fn lines(values: impl IntoIterator<Item = Value>) -> Vec<u8> {
    values.into_iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

fn wrapped(session: &[Said], copies: Copies, paginated: bool) -> Vec<u8> {
    let line =
        |kind: &str, payload: Value| json!({"timestamp": "2026-01-05T08:00:00Z", "type": kind, "payload": payload});
    let mut all = vec![line("session_meta", json!({"id": "s"}))];
    for said in session {
        let item = line("response_item", item(said));
        let event = line("event_msg", event(said, paginated));
        match copies {
            Copies::None => all.push(item),
            Copies::Before => all.extend([event, item]),
            Copies::After => all.extend([item, event]),
            Copies::Instead => all.push(event),
        }
    }
    lines(all)
}

fn texts(bytes: &[u8]) -> Vec<(Role, String)> {
    let steps = good("codex", bytes).remove(0).steps;
    steps.into_iter().filter(|step| !step.content.is_empty()).map(|step| (step.role, step.content)).collect()
}

proptest! {
    #[test]
    fn every_text_comes_out_once_and_in_order(
        session in prop::collection::vec(said(), 1..12),
        copies in prop::sample::select(vec![Copies::None, Copies::Before, Copies::After, Copies::Instead]),
        paginated: bool,
    ) {
        let expected: Vec<(Role, String)> = session
            .iter()
            .filter_map(|said| match said {
                Said::User(text) => Some((Role::User, text.clone())),
                Said::Agent(text) => Some((Role::Assistant, text.clone())),
                Said::Call => None,
            })
            .collect();
        prop_assert_eq!(texts(&wrapped(&session, copies, paginated)), expected.clone());
        let items = session.iter().map(item);
        let head = json!({"id": "s", "timestamp": "2025-08-01T00:00:00Z", "instructions": null});
        prop_assert_eq!(texts(&lines([head].into_iter().chain(items.clone()))), expected.clone());
        let object = json!({"session": {"id": "s"}, "items": items.collect::<Vec<_>>()});
        prop_assert_eq!(texts(&lines([object])), expected);
    }

    #[test]
    fn a_text_of_any_beginning_is_kept(text in "[^\\x00]{1,60}") {
        let said = [Said::User("hello".to_owned()), Said::User(text.clone()), Said::Agent(text.clone())];
        let found: Vec<String> = texts(&wrapped(&said, Copies::None, false)).into_iter().map(|(_, text)| text).collect();
        let expected = if text.trim().is_empty() { vec!["hello".to_owned()] } else { vec!["hello".to_owned(), text.clone(), text] };
        prop_assert_eq!(found, expected);
    }
}
