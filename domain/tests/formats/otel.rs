//! `otel` on input that no well-meaning exporter writes, and what may never be lost.

use crate::support::{bad, good, traces_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::formats::OnError;
use stash_domain::otel::{OtelSpan, check_messages, json};

const TRACE: &str = "5b8efff798038103d269b633813fc60c";

/// Names of fields, and values, from which spans nearly right are made.
fn nearly_a_value() -> impl Strategy<Value = Value> {
    const KEYS: [&str; 24] = [
        "traceId",
        "spanId",
        "parentSpanId",
        "name",
        "attributes",
        "events",
        "key",
        "value",
        "stringValue",
        "arrayValue",
        "values",
        "kvlistValue",
        "role",
        "parts",
        "content",
        "type",
        "text",
        "tool_calls",
        "toolUse",
        "kwargs",
        "messages",
        "id",
        "message",
        "Value",
    ];
    const TEXTS: [&str; 22] = [
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.prompt.0.role",
        "gen_ai.prompt.0.content",
        "llm.input_messages.0.message.role",
        "llm.input_messages.0.message.contents.0.message_content.type",
        "gen_ai.prompt",
        "ai.prompt",
        "input.value",
        "openinference.span.kind",
        "LLM",
        "user",
        "assistant",
        "tool",
        "text",
        "tool_call",
        "tool_use",
        "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"x\"}]}]",
        "{'a': [None]}",
        "\u{0}",
        "gen_ai.choice",
        "execute_tool",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        "[a-z{}\\[\\]'\":, ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYS[..]), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn attribute() -> impl Strategy<Value = Value> {
    const NAMES: [&str; 18] = [
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.prompt.0.content",
        "gen_ai.prompt.0.tool_calls",
        "gen_ai.completion.0.content",
        "llm.input_messages.0.message.contents",
        "llm.input_messages.0.message.tool_calls",
        "llm.output_messages.0",
        "gen_ai.prompt",
        "gen_ai.completion",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.toolCalls",
        "input.value",
        "gen_ai.operation.name",
        "gen_ai.tool.call.result",
        "tag.tags",
    ];
    let text = nearly_a_value().prop_map(|value| json!({"stringValue": value.to_string()}));
    (prop::sample::select(&NAMES[..]), prop_oneof![nearly_a_value(), text])
        .prop_map(|(name, value)| json!({"key": name, "value": value}))
}

fn span(number: u8, attributes: Value) -> Value {
    json!({
        "traceId": TRACE, "spanId": format!("{:016x}", u32::from(number) + 1), "name": "s",
        "startTimeUnixNano": u64::from(number) + 1, "endTimeUnixNano": u64::from(number) + 2, "attributes": attributes,
    })
}

fn envelope(spans: Vec<Value>) -> Vec<u8> {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string().into_bytes()
}

proptest! {
    #[test]
    fn no_value_in_place_of_a_span_panics(spans in prop::collection::vec(nearly_a_value(), 0..4)) {
        let bytes = envelope(spans);
        let _ = traces_of("otel", &bytes, OnError::Skip);
        let _ = json::decode(&bytes);
    }

    #[test]
    fn no_value_in_place_of_messages_panics_and_reading_twice_gives_the_same(
        attributes in prop::collection::vec(prop::collection::vec(attribute(), 0..4), 1..4),
        records in prop::collection::vec((nearly_a_value(), prop::sample::select(&["gen_ai.user.message", "gen_ai.choice"][..])), 0..3),
    ) {
        let spans: Vec<Value> = (0..).zip(attributes).map(|(number, attributes)| span(number, Value::from(attributes))).collect();
        let mut bytes = envelope(spans);
        let records: Vec<Value> = records
            .into_iter()
            .map(|(body, name)| json!({"traceId": TRACE, "spanId": "0000000000000001", "eventName": name, "body": body}))
            .collect();
        bytes.push(b'\n');
        bytes.extend(json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string().into_bytes());
        let (first, _) = traces_of("otel", &bytes, OnError::Skip);
        let (second, _) = traces_of("otel", &bytes, OnError::Skip);
        prop_assert_eq!(first, second);
    }

    #[test]
    fn every_text_of_user_and_assistant_is_kept(
        texts in prop::collection::vec("[^\\x00{}\\[\\]():\"]{1,40}", 2..6),
        carrier in 0_usize..7,
    ) {
        prop_assume!(texts.iter().all(|text| !text.trim().is_empty()));
        let (answer, given) = texts.split_last().unwrap();
        let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
        let parts = |text: &String| json!([{"type": "text", "content": text}]);
        let input: Vec<Value> =
            given.iter().enumerate().map(|(n, text)| json!({"role": role(n), "parts": parts(text)})).collect();
        let string = |name: String, value: &str| json!({"key": name, "value": {"stringValue": value}});
        let attributes: Vec<Value> = match carrier {
            0 => vec![
                string("gen_ai.input.messages".to_owned(), &json!(input).to_string()),
                string("gen_ai.output.messages".to_owned(), &json!([{"role": "assistant", "parts": parts(answer)}]).to_string()),
            ],
            1 | 2 => {
                let prefix = if carrier == 1 { ["llm.input_messages", "message.", "llm.output_messages"] } else { ["gen_ai.prompt", "", "gen_ai.completion"] };
                let mut attributes = Vec::new();
                for (n, text) in given.iter().enumerate() {
                    attributes.push(string(format!("{}.{n}.{}role", prefix[0], prefix[1]), role(n)));
                    attributes.push(string(format!("{}.{n}.{}content", prefix[0], prefix[1]), text));
                }
                attributes.push(string(format!("{}.0.{}role", prefix[2], prefix[1]), "assistant"));
                attributes.push(string(format!("{}.0.{}content", prefix[2], prefix[1]), answer));
                attributes
            }
            3 => {
                let messages: Vec<Value> = given.iter().enumerate().map(|(n, text)| json!({"role": role(n), "content": text})).collect();
                vec![string("ai.prompt.messages".to_owned(), &json!(messages).to_string()), string("ai.response.text".to_owned(), answer)]
            }
            5 => Vec::new(),
            6 => {
                let messages: Vec<Value> =
                    given.iter().enumerate().map(|(n, text)| json!({"role": role(n), "content": text})).collect();
                vec![
                    string("openinference.span.kind".to_owned(), "LLM"),
                    string("input.value".to_owned(), &json!({"messages": messages}).to_string()),
                    string("output.value".to_owned(), answer),
                ]
            }
            _ => {
                let messages: Vec<Value> = given.iter().enumerate().map(|(n, text)| json!({"role": role(n), "content": text})).collect();
                vec![
                    string("gen_ai.prompt".to_owned(), &json!({"messages": messages}).to_string()),
                    string("gen_ai.completion".to_owned(), &json!({"choices": [{"message": {"content": answer}}]}).to_string()),
                ]
            }
        };
        let mut recorded = span(0, Value::from(attributes));
        if carrier == 5 {
            let event = |name: String, text: &str| json!({"name": name, "attributes": [string("content".to_owned(), text)]});
            let mut events: Vec<Value> =
                given.iter().enumerate().map(|(n, text)| event(format!("gen_ai.{}.message", role(n)), text)).collect();
            events.push(event("gen_ai.choice".to_owned(), answer));
            recorded["events"] = Value::from(events);
        }
        let traces = good("otel", &envelope(vec![recorded]));
        let found: Vec<(&str, &str)> = traces[0].steps.iter().map(|step| (step.role.name(), step.content.as_str())).collect();
        let expected: Vec<(&str, &str)> = given
            .iter()
            .enumerate()
            .map(|(n, text)| (role(n), text.as_str()))
            .chain([("assistant", answer.as_str())])
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn nesting_of_any_depth_is_survived() {
    for depth in [90, 130, 20_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let quoted = serde_json::to_string(&deep).unwrap();
        let attribute = format!(r#"{{"key":"gen_ai.output.messages","value":{{"stringValue":{quoted}}}}}"#);
        let text = String::from_utf8(envelope(vec![span(0, json!(["@"]))])).unwrap();
        good("otel", text.replace("\"@\"", &attribute).as_bytes());
        let raw = text.replace("\"@\"", &format!(r#"{{"key":"a","value":{deep}}}"#));
        if depth > 120 {
            bad("otel", raw.as_bytes());
        }
    }
}

fn decoded(attributes: Value) -> OtelSpan {
    json::decode(&envelope(vec![span(0, attributes)])).unwrap().spans.remove(0)
}

#[test]
fn a_door_can_refuse_messages_that_are_none() {
    let attribute = |value: Value| json!([{"key": "gen_ai.output.messages", "value": value}]);
    for good in
        [json!({"stringValue": "[]"}), json!({"stringValue": "[{'role': 'user'}]"}), json!({"stringValue": "said"})]
    {
        check_messages(&decoded(attribute(good))).unwrap();
    }
    for bad in [
        json!({"stringValue": "[{\"role\":"}),
        json!({"intValue": "7"}),
        json!({"arrayValue": {"values": [{"intValue": "7"}]}}),
    ] {
        let fault = check_messages(&decoded(attribute(bad))).unwrap_err().to_string();
        assert!(fault.contains("gen_ai.output.messages") && fault.contains("0000000000000001"), "{fault}");
    }
}

#[test]
fn what_is_no_otlp_is_refused() {
    for text in
        ["", "{}", "7", "[1]", "{\"resourceSpans\":7}", "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{]}]}]}"]
    {
        assert!(json::decode(text.as_bytes()).is_err(), "{text}");
    }
    assert_eq!(json::decode(b"{\"resourceSpans\":[]}").unwrap(), json::Decoded::default());
}
