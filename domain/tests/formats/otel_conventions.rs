//! Messages that are valid under the JSON schemas of OpenTelemetry's conventions for generative AI (`gen-ai-input-messages`,
//! `gen-ai-output-messages`, `gen-ai-system-instructions`, as of 2026) are taken without loss, whatever of the schemas' freedom
//! they use: each kind of part, optional fields present, null or absent, fields and kinds that the schemas leave to others, roles
//! beyond the four named, as JSON in text or as structured values, on the span or on the event of its details.

use crate::support::good;
use proptest::prelude::*;
use serde_json::{Value, json};
use stash_domain::otel::{check_log_messages, check_messages, json};

/// A part, and the words of it that must be found in the trace, or must not.
#[derive(Clone, Debug)]
struct Part {
    json: Value,
    kept: Vec<String>,
    dropped: Vec<String>,
}

/// A word that stands nowhere else.
fn word() -> impl Strategy<Value = String> {
    "[a-z]{3}[0-9]{9}".prop_map(|word| format!("w{word}ö"))
}

/// A field that may be absent or null.
fn optional(value: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![Just(None), Just(Some(Value::Null)), value.prop_map(Some)]
}

fn text() -> impl Strategy<Value = Value> {
    word().prop_map(Value::from)
}

fn with(mut json: Value, fields: Vec<(&str, Option<Value>)>) -> Value {
    for (name, value) in fields {
        if let Some(value) = value {
            json[name] = value;
        }
    }
    json
}

fn part_of(json: Value, kept: Vec<String>) -> Part {
    Part { json, kept, dropped: Vec::new() }
}

/// What a tool is called with or answers: any JSON that holds the word.
fn any_json() -> impl Strategy<Value = (Value, String)> {
    (word(), 0_usize..5).prop_map(|(word, form)| {
        let value = match form {
            0 => json!(word),
            1 => json!({"a": {"b": [1, null, word]}, "c": 0.5}),
            2 => json!([word, true]),
            3 => json!(json!({"quoted": word}).to_string()),
            _ => json!({"text": word, "n": 9_007_199_254_740_993_u64}),
        };
        (value, word)
    })
}

fn text_part() -> impl Strategy<Value = Part> {
    (word(), optional(text())).prop_map(|(word, more)| {
        part_of(
            with(json!({"type": "text", "content": format!("{word} \"x\"\nnext")}), vec![("annotation", more)]),
            vec![word],
        )
    })
}

fn call() -> impl Strategy<Value = Part> {
    (word(), any_json(), optional(text()), any::<bool>()).prop_map(|(name, (arguments, word), id, server)| {
        let held = if arguments.is_object() { arguments.clone() } else { json!({"given": arguments.clone()}) };
        let json = if server {
            with(json!({"type": "server_tool_call", "name": name, "server_tool_call": with(held, vec![("type", Some(json!("code")))])}), vec![("id", id)])
        } else {
            with(json!({"type": "tool_call", "name": name, "arguments": arguments}), vec![("id", id)])
        };
        part_of(json, vec![name, word])
    })
}

fn call_without_arguments() -> impl Strategy<Value = Part> {
    (word(), any::<bool>()).prop_map(|(name, null)| {
        let arguments = null.then_some(Value::Null);
        part_of(with(json!({"type": "tool_call", "name": name}), vec![("arguments", arguments)]), vec![name])
    })
}

fn response() -> impl Strategy<Value = Part> {
    (any_json(), optional(text()), any::<bool>()).prop_map(|((response, word), id, server)| {
        let json = if server {
            let held = if response.is_object() { response } else { json!({"found": response}) };
            json!({"type": "server_tool_call_response", "server_tool_call_response": with(held, vec![("type", Some(json!("code")))])})
        } else {
            json!({"type": "tool_call_response", "response": response})
        };
        part_of(with(json, vec![("id", id)]), vec![word])
    })
}

/// Data that is no text: a mark stands in its place, or what was said in it.
fn data() -> impl Strategy<Value = Part> {
    let modality = prop::sample::select(&["image", "video", "audio", "document", "hologram"][..]);
    let kind = prop::sample::select(&["blob", "file", "uri"][..]);
    (modality, kind, word(), optional(text()), optional(Just(json!("audio/wav")))).prop_map(
        |(modality, kind, word, transcript, mime_type)| {
            let holder = match kind {
                "blob" => "content",
                "file" => "file_id",
                _ => "uri",
            };
            let mark = match modality {
                "image" | "video" | "audio" => format!("[{modality}]"),
                _ => "[file]".to_owned(),
            };
            let kept = transcript.as_ref().and_then(Value::as_str).map_or(mark, str::to_owned);
            let json = json!({"type": kind, "modality": modality, holder: word});
            let json = with(json, vec![("mime_type", mime_type), ("transcript", transcript)]);
            let dropped = if kind == "blob" { vec![word] } else { Vec::new() };
            Part { json, kept: vec![kept], dropped }
        },
    )
}

fn reasoning() -> impl Strategy<Value = Part> {
    word().prop_map(|word| part_of(json!({"type": "reasoning", "content": word}), vec![word]))
}

fn compaction() -> impl Strategy<Value = Part> {
    (word(), optional(text())).prop_map(|(word, id)| {
        part_of(with(json!({"type": "compaction", "content": word}), vec![("id", id)]), vec![word])
    })
}

/// A part of a kind that the schemas do not name.
fn generic() -> impl Strategy<Value = Part> {
    (word(), word()).prop_map(|(kind, word)| part_of(json!({"type": kind, "content": word}), vec![word]))
}

#[derive(Clone, Debug)]
struct Message {
    json: Value,
    parts: Vec<Part>,
}

fn message(role: impl Strategy<Value = String>, part: impl Strategy<Value = Part>) -> impl Strategy<Value = Message> {
    (role, prop::collection::vec(part, 1..5), optional(text())).prop_map(|(role, parts, name)| {
        let held: Vec<&Value> = parts.iter().map(|part| &part.json).collect();
        Message { json: with(json!({"role": role, "parts": held}), vec![("name", name)]), parts }
    })
}

fn input() -> impl Strategy<Value = Message> {
    let role = |names: &'static [&'static str]| prop::sample::select(names).prop_map(str::to_owned);
    prop_oneof![
        message(role(&["system", "user", "critic"]), prop_oneof![text_part(), data(), generic()]),
        message(role(&["tool", "user", "assistant"]), response()),
        answer(),
    ]
}

fn answer() -> impl Strategy<Value = Message> {
    let part = prop_oneof![text_part(), call(), call_without_arguments(), data(), reasoning(), compaction(), generic()];
    // Reasoning is kept with the step of the agent that follows it in its message; here one always does.
    (prop::collection::vec(part, 0..4), text_part()).prop_map(|(mut parts, last)| {
        parts.push(last);
        let held: Vec<&Value> = parts.iter().map(|part| &part.json).collect();
        Message { json: json!({"role": "assistant", "parts": held}), parts }
    })
}

/// A value as OTLP writes it.
fn any_value(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(held) => json!({"boolValue": held}),
        Value::Number(held) if held.is_f64() => json!({"doubleValue": held}),
        Value::Number(held) => json!({"intValue": held.to_string()}),
        Value::String(held) => json!({"stringValue": held}),
        Value::Array(items) => json!({"arrayValue": {"values": items.iter().map(any_value).collect::<Vec<_>>()}}),
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| json!({"key": key, "value": any_value(value)});
            json!({"kvlistValue": {"values": fields.iter().map(pair).collect::<Vec<_>>()}})
        }
    }
}

/// A request with the messages, as text or structured, on the span or on the event of its details.
fn request(attributes: &[(&str, Value)], structured: bool, on_event: bool) -> Vec<u8> {
    let attribute = |(name, value): &(&str, Value)| {
        let value = if structured { any_value(value) } else { json!({"stringValue": value.to_string()}) };
        json!({"key": name, "value": value})
    };
    let attributes: Vec<Value> = attributes.iter().map(attribute).collect();
    let mut span = json!({
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "0000000000000001", "name": "chat",
        "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
    });
    let mut logs = Vec::new();
    if on_event {
        logs.push(json!({
            "traceId": span["traceId"], "spanId": span["spanId"], "timeUnixNano": "1700000001000000000",
            "eventName": "gen_ai.client.inference.operation.details", "attributes": attributes,
        }));
    } else {
        span["attributes"].as_array_mut().unwrap().extend(attributes);
    }
    json!({
        "resourceSpans": [{"scopeSpans": [{"spans": [span]}]}],
        "resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}],
    })
    .to_string()
    .into_bytes()
}

proptest! {
    #[test]
    fn what_the_schemas_allow_is_taken_without_loss(
        instructions in prop::collection::vec(prop_oneof![text_part(), generic()], 0..3),
        given in prop::collection::vec(input(), 0..5),
        answers in prop::collection::vec(answer(), 0..3),
        finish_reason in optional(Just(json!("stop"))),
        structured: bool,
        on_event: bool,
    ) {
        let list = |messages: &[Message]| Value::from(messages.iter().map(|message| message.json.clone()).collect::<Vec<_>>());
        let mut input = list(&given);
        // Without any turn there is nothing to show.
        input.as_array_mut().unwrap().push(json!({"role": "user", "parts": [{"type": "text", "content": "begin"}]}));
        let mut output = list(&answers);
        for message in output.as_array_mut().unwrap() {
            *message = with(message.take(), vec![("finish_reason", finish_reason.clone())]);
        }
        let mut attributes = vec![("gen_ai.input.messages", input), ("gen_ai.output.messages", output)];
        if !instructions.is_empty() {
            let parts = instructions.iter().map(|part| part.json.clone()).collect::<Vec<_>>();
            attributes.push(("gen_ai.system_instructions", Value::from(parts)));
        }
        let bytes = request(&attributes, structured, on_event);
        let decoded = json::decode(&bytes).unwrap();
        decoded.spans.iter().for_each(|span| check_messages(span).unwrap());
        decoded.logs.iter().for_each(|log| check_log_messages(log).unwrap());

        let traces = good("otel", &bytes);
        prop_assert_eq!(traces.len(), 1);
        let steps = serde_json::to_string(&traces[0].steps).unwrap();
        let parts = given.iter().chain(&answers).flat_map(|message| &message.parts).chain(&instructions);
        for part in parts {
            for word in &part.kept {
                prop_assert!(steps.contains(word), "{} is lost: {}", part.json, steps);
            }
            for word in &part.dropped {
                prop_assert!(!steps.contains(word), "{} is copied: {}", part.json, steps);
            }
        }
    }
}
