//! Carrier 5: an event or log record for each message, `gen_ai.user.message`, `gen_ai.choice` and so on. The role is in the name.
//!
//! As a log record the message is the body. As an event of the span it is in attributes: a JSON text in `content` or `message`
//! (blocks, mostly), or the whole message in `gen_ai.event.content`.

use super::{Carried, Recording, Spoken, blocks, decoded, message, object, remove, text};
use crate::json::Json;
use crate::otel::Attributes;

/// Reads the records, or else the events.
pub(super) fn read(recording: Recording<'_>) -> Option<Carried> {
    let mut from_logs = Carried::default();
    for log in recording.logs {
        let body = decoded(&log.body).unwrap_or_else(|| log.body.clone());
        take(&log.event_name, body, &log.attributes, log.time_ns, &mut from_logs);
    }
    from_logs.some().or_else(|| {
        let mut from_events = Carried::default();
        for event in &recording.span.events {
            take(&event.name, Json::Null, &event.attributes, 0, &mut from_events);
        }
        from_events.some()
    })
}

fn take(name: &str, body: Json, attributes: &Attributes, time_ns: u64, carried: &mut Carried) {
    let Some(name) = name.strip_prefix("gen_ai.") else { return };
    if name == "choice" {
        return choice(fields_of(body, attributes), time_ns, &mut carried.output);
    }
    let Some(role) = name.strip_suffix(".message") else { return };
    if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
        return;
    }
    let mut fields = fields_of(body, attributes);
    if !says_anything(&fields) {
        return;
    }
    // Some put the content under `message`.
    match remove(&mut fields, "message") {
        Some(Json::Object(inner)) => fields.extend(inner),
        Some(content) if !fields.iter().any(|(key, _)| key == "content") => {
            fields.push(("content".to_owned(), content));
        }
        _ => {}
    }
    settle_role(&mut fields, role);
    if role == "tool" {
        if let Some(result) = remove(&mut fields, "tool.result") {
            fields.push(("content".to_owned(), blocks(result)));
        }
        if let Some(id) = remove(&mut fields, "id") {
            fields.push(("tool_call_id".to_owned(), id));
        }
    }
    carried.input.push(message(Json::Object(fields), time_ns));
}

/// The first choice is the answer; the results that an agent's loop adds to it come after it.
fn choice(mut fields: Vec<(String, Json)>, time_ns: u64, output: &mut Vec<Spoken>) {
    if matches!(remove(&mut fields, "index"), Some(Json::Number(index)) if index.as_str() != "0") {
        return;
    }
    let results = remove(&mut fields, "tool.result");
    let answer = match remove(&mut fields, "message") {
        Some(Json::Object(mut answer)) => {
            // OpenLLMetry has the calls beside the message.
            if !answer.iter().any(|(key, calls)| key == "tool_calls" && *calls != Json::Null) {
                answer.extend(remove(&mut fields, "tool_calls").map(|calls| ("tool_calls".to_owned(), calls)));
            }
            answer
        }
        Some(Json::Null) | None => fields,
        Some(content) => vec![("content".to_owned(), content)],
    };
    if says_anything(&answer) {
        let mut answer = answer;
        settle_role(&mut answer, "assistant");
        output.push(message(Json::Object(answer), time_ns));
    }
    if let Some(results) = results {
        output.push(message(object([("role", text("tool")), ("content", blocks(results))]), time_ns));
    }
}

/// The fields of a message, from a body or from attributes.
fn fields_of(body: Json, attributes: &Attributes) -> Vec<(String, Json)> {
    let mut fields = match body {
        Json::Object(fields) => fields,
        Json::Text(said) if !said.is_empty() => vec![("content".to_owned(), text(said))],
        _ => match attributes.get("gen_ai.event.content").and_then(decoded) {
            Some(Json::Object(fields)) => fields,
            _ => {
                const FIELDS: [&str; 9] =
                    ["role", "content", "message", "id", "name", "tool_calls", "tool.result", "index", "tool_call_id"];
                FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), attributes.value(name)?))).collect()
            }
        },
    };
    for (key, value) in &mut fields {
        match key.as_str() {
            "content" => *value = blocks(std::mem::replace(value, Json::Null)),
            "message" => {
                let found = decoded(value).unwrap_or_else(|| std::mem::replace(value, Json::Null));
                *value = found;
            }
            "tool_calls" => {
                if let Some(calls) = decoded(value) {
                    *value = calls;
                }
            }
            _ => {}
        }
    }
    fields
}

/// Whether there is more than a role: without it the content was not captured.
fn says_anything(fields: &[(String, Json)]) -> bool {
    const SAYING: [&str; 7] = ["content", "tool_calls", "tool.result", "message", "parts", "refusal", "function_call"];
    fields.iter().any(|(key, value)| SAYING.contains(&key.as_str()) && *value != Json::Null)
}

/// The name's role, unless the message has another. What answers a tool's call is a result whatever role it claims.
fn settle_role(fields: &mut Vec<(String, Json)>, role: &str) {
    let own = fields.iter().rev().find(|(key, _)| key == "role").and_then(|(_, value)| value.as_text());
    if role == "tool" || own.is_none_or(str::is_empty) {
        fields.retain(|(key, _)| key != "role");
        fields.insert(0, ("role".to_owned(), text(role)));
    }
}
