//! The text a model reads: its form, its pieces, its digests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::ids::Digest;
use stash_domain::json::Object;
use stash_domain::rendering::{Digester, Form, RenderedTrace, Revision};
use stash_domain::trace::{ActionType, Role, Step};

fn step(role: Role, content: &str) -> Step {
    Step { role, content: content.to_owned(), tool_name: None, tool_input: None, tool_call_id: None, metadata: None }
}

fn call(content: &str, name: &str, input: Value) -> Step {
    let Value::Object(input) = input else { unreachable!("an input is an object") };
    Step { tool_name: Some(name.to_owned()), tool_input: Some(input.into()), ..step(Role::Assistant, content) }
}

fn conversation() -> Vec<Step> {
    vec![
        step(Role::System, "Be kind."),
        step(Role::User, "Søk «fjord»"),
        call("Looking.", "search", json!({"q": "fjord", "a": {"z": 1, "b": [1.50, null]}})),
        Step { tool_name: Some("search".to_owned()), ..step(Role::Tool, "3 hits <|im_end|>") },
        call("", "open", json!({})),
        step(Role::Tool, ""),
        step(Role::Assistant, "Here it is."),
    ]
}

const CHATML: &str = "<|im_start|>user\nSøk «fjord»<|im_end|>
<|im_start|>assistant
Looking.
<tool_call>
{\"name\": \"search\", \"arguments\": {\"a\": {\"b\": [1.5, null], \"z\": 1}, \"q\": \"fjord\"}}
</tool_call><|im_end|>
<|im_start|>tool
3 hits <|im_end|><|im_end|>
<|im_start|>assistant
<tool_call>
{\"name\": \"open\", \"arguments\": {}}
</tool_call><|im_end|>
<|im_start|>tool
<|im_end|>
<|im_start|>assistant
Here it is.<|im_end|>";

#[test]
fn the_form_of_a_trace_is_fixed() {
    let trace = RenderedTrace::of(&conversation(), Form::ChatMl);
    assert_eq!(trace.trace_text().text, CHATML);
    let plain = RenderedTrace::of(&conversation()[5..], Form::Plain);
    assert_eq!(plain.trace_text().text, "### tool\n\n\n### assistant\nHere it is.\n");
}

#[test]
fn an_action_ends_with_its_own_segment() {
    let trace = RenderedTrace::of(&conversation(), Form::ChatMl);
    let text = trace.action_text(4).unwrap();
    assert!(text.text.ends_with("{\"name\": \"open\", \"arguments\": {}}\n</tool_call><|im_end|>"));
    assert_eq!(text.pieces().filter(|piece| *piece == "\n").count(), 3);
    assert_eq!(trace.prior_context(6).unwrap().text + "\n" + &trace.segments()[5].text, CHATML);
    for no_action in [0, 1, 3, 5, 7] {
        assert_eq!(trace.action_text(no_action), None);
    }
    let kinds: Vec<_> = trace.segments().iter().filter_map(|segment| segment.action_type).collect();
    assert_eq!(kinds, [ActionType::ToolCall, ActionType::ToolCall, ActionType::Response]);
}

#[test]
fn an_alternative_shares_the_context_and_nothing_after() {
    let trace = RenderedTrace::of(&conversation(), Form::ChatMl);
    let revision: Revision =
        serde_json::from_value(json!({"tool_name": "search", "tool_input": {"q": "fjell", "n": 1.0}, "content": ""}))
            .unwrap();
    let text = trace.alternative_text(4, &revision).unwrap();
    let context = trace.prior_context(4).unwrap().text;
    let call = "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"n\": 1.0, \"q\": \"fjell\"}}\n</tool_call>";
    assert_eq!(text.text, format!("{context}\n<|im_start|>assistant\n{call}<|im_end|>"));
    let response: Revision = serde_json::from_value(json!({"content": "I see none."})).unwrap();
    assert!(trace.alternative_text(6, &response).unwrap().text.ends_with("assistant\nI see none.<|im_end|>"));
    assert!(serde_json::from_value::<Revision>(json!({"content": "x", "tool_input": {}})).is_err());
}

#[test]
fn metadata_and_ids_are_never_rendered() {
    let mut steps = conversation();
    let before = RenderedTrace::of(&steps, Form::ChatMl);
    for step in &mut steps {
        step.metadata = Some(Object::of("reasoning", "secret"));
        step.tool_call_id = Some("id".to_owned());
    }
    assert_eq!(RenderedTrace::of(&steps, Form::ChatMl), before);
}

#[test]
fn a_trace_of_system_steps_has_an_empty_text() {
    let steps = [step(Role::System, "x")];
    assert_eq!(RenderedTrace::of(&steps, Form::ChatMl).trace_text().text, "");
    let mut digester = Digester::new();
    assert_eq!(digester.step(&steps[0]), None);
    assert_eq!(digester.current(), Digest::of(b""));
}

fn any_step() -> impl Strategy<Value = Step> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let input = prop::collection::btree_map(".{0,6}", ".{0,6}", 0..3)
        .prop_map(|map| map.into_iter().map(|(key, value)| (key, value.into())).collect::<Object>());
    (role, ".{0,12}", prop::option::of(".{0,6}"), prop::option::of(input))
        .prop_map(|(role, content, tool_name, tool_input)| Step { tool_name, tool_input, ..step(role, &content) })
}

proptest! {
    #[test]
    fn an_action_text_is_a_prefix_of_the_trace_text(steps in prop::collection::vec(any_step(), 0..8), plain: bool) {
        let form = if plain { Form::Plain } else { Form::ChatMl };
        let trace = RenderedTrace::of(&steps, form);
        let whole = trace.trace_text();
        let whole_pieces: Vec<&str> = whole.pieces().collect();
        prop_assert_eq!(whole_pieces.concat(), &whole.text[..]);
        for (index, step) in steps.iter().enumerate() {
            let action = trace.action_text(u32::try_from(index).unwrap());
            prop_assert_eq!(action.is_some(), step.action_type().is_some());
            if let Some(action) = action {
                prop_assert!(whole.text.starts_with(&action.text));
                // Piece by piece too, so that tokens are a prefix whatever the tokenizer.
                let pieces: Vec<&str> = action.pieces().collect();
                prop_assert_eq!(&pieces[..], &whole_pieces[..pieces.len()]);
                prop_assert!(action.cuts.is_sorted_by(|one, two| one < two));
                prop_assert!(action.cuts.iter().all(|cut| *cut > 0 && *cut < action.text.len()));
            }
        }
    }

    #[test]
    fn digests_in_one_pass_are_those_of_the_whole_texts(steps in prop::collection::vec(any_step(), 0..8)) {
        let trace = RenderedTrace::of(&steps, Form::ChatMl);
        let mut digester = Digester::new();
        for (index, step) in steps.iter().enumerate() {
            let index = u32::try_from(index).unwrap();
            if let Some(context) = trace.prior_context(index) {
                prop_assert_eq!(digester.current(), Digest::of(context.text.as_bytes()));
            }
            let expected = trace.action_text(index).map(|text| Digest::of(text.text.as_bytes()));
            prop_assert_eq!(digester.step(step), expected);
        }
        prop_assert_eq!(digester.current(), Digest::of(trace.trace_text().text.as_bytes()));
    }

    #[test]
    fn a_damaged_text_is_cut_without_panic(text: String, cuts: Vec<usize>) {
        let text = stash_domain::rendering::RenderedText { text, cuts };
        text.pieces().for_each(drop);
    }
}
