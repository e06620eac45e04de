//! Carrier 7: Vercel's AI SDK, `ai.prompt.messages` or `ai.prompt`, and the parts of the answer one by one.

use super::{Carried, decoded, listed, message, object, text, together, whole};
use crate::json::Json;
use crate::otel::Attributes;

/// Reads the prompt and the answer.
pub(super) fn read(attributes: &Attributes) -> Option<Carried> {
    let structured = |name: &str| attributes.value(name).map(|value| decoded(&value).unwrap_or(value));
    let input = match structured("ai.prompt.messages").map(listed).filter(|messages| !messages.is_empty()) {
        Some(messages) => together(messages, 0),
        None => structured("ai.prompt").map(whole).into_iter().collect(),
    };
    let mut parts = Vec::new();
    if let Some(thought) = first(attributes, &["ai.response.reasoning", "ai.result.reasoning"]) {
        parts.push(object([("type", text("reasoning")), ("text", thought)]));
    }
    let said = first(attributes, &["ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object"]);
    if let Some(said) = said {
        let said = if let Json::Text(said) = said { said } else { said.compact() };
        parts.push(object([("type", text("text")), ("text", text(said))]));
    }
    let calls = structured("ai.response.toolCalls").or_else(|| structured("ai.result.toolCalls"));
    for call in calls.map(listed).unwrap_or_default() {
        let Json::Object(mut fields) = call else { continue };
        fields.retain(|(key, _)| key != "type");
        fields.push(("type".to_owned(), text("tool-call")));
        parts.push(Json::Object(fields));
    }
    let answer = object([("role", text("assistant")), ("content", Json::List(parts.clone()))]);
    let output = if parts.is_empty() { Vec::new() } else { vec![message(answer, 0)] };
    Carried { system: None, input, output }.some()
}

fn first(attributes: &Attributes, names: &[&str]) -> Option<Json> {
    let found = names.iter().find_map(|name| attributes.value(name));
    found.filter(|value| !matches!(value, Json::Text(text) if text.is_empty()))
}
