//! Carrier 4: OpenLLMetry up to the spring of 2026, `gen_ai.prompt.0.role`, `gen_ai.completion.0.content`.
//!
//! Content may be a list of parts or blocks written as text, which then may repeat the calls beside it. Of several completions
//! the first is the answer, unless it holds the reasoning before it.

use super::{Carried, blocks, message, object, remove, text};
use crate::json::Json;
use crate::otel::Attributes;

/// Reads prompts and completions.
pub(super) fn read(attributes: &Attributes) -> Option<Carried> {
    let items = |name: &str| match attributes.tree(name) {
        Some(Json::List(items)) => items,
        _ => Vec::new(),
    };
    let input = items("gen_ai.prompt").into_iter().filter_map(|item| prompt(item, "user"));
    let input = input.map(|json| message(json, 0)).collect();
    let output = answer(items("gen_ai.completion")).into_iter().map(|json| message(json, 0)).collect();
    Carried { system: None, input, output }.some()
}

/// The completion that is the answer; the reasoning before it becomes its first part.
fn answer(completions: Vec<Json>) -> Option<Json> {
    let mut reasoning = None;
    for item in completions {
        let Some(found) = prompt(item, "assistant") else { continue };
        if found.get("role").and_then(Json::as_text) == Some("thinking") && reasoning.is_none() {
            reasoning = found.get("content").cloned();
            continue;
        }
        return Some(with_reasoning(found, reasoning));
    }
    reasoning.map(|thought| with_reasoning(object([("role", text("assistant"))]), Some(thought)))
}

fn with_reasoning(found: Json, reasoning: Option<Json>) -> Json {
    match (found, reasoning) {
        (Json::Object(mut fields), Some(thought @ Json::Text(_))) => {
            fields.push(("reasoning_content".to_owned(), thought));
            Json::Object(fields)
        }
        (found, _) => found,
    }
}

fn prompt(item: Json, role: &str) -> Option<Json> {
    let Json::Object(mut fields) = item else { return None };
    // The completion interface names the speaker instead of a role.
    if let Some(said @ Json::Text(_)) = remove(&mut fields, "user") {
        return Some(object([("role", text("user")), ("content", said)]));
    }
    let content = match remove(&mut fields, "content").or_else(|| remove(&mut fields, "text")) {
        // `gen_ai.prompt.0.content.1.text`
        Some(Json::List(parts)) => Json::List(parts.into_iter().map(part).collect()),
        Some(content) => blocks(content),
        None => Json::Null,
    };
    if let Json::List(parts) = &content
        && let Some(Json::List(calls)) = remove(&mut fields, "tool_calls")
    {
        let ids: Vec<&Json> = parts.iter().filter_map(id_of_call).collect();
        let kept: Vec<Json> = calls
            .into_iter()
            .filter(|call| !call.get("id").is_some_and(|id| ids.contains(&id)))
            .filter(|call| call.get("id").is_some() || ids.is_empty())
            .collect();
        if !kept.is_empty() {
            fields.push(("tool_calls".to_owned(), Json::List(kept)));
        }
    }
    if content != Json::Null {
        fields.push(("content".to_owned(), content));
    }
    if !fields.iter().any(|(key, value)| key == "role" && value.as_text().is_some_and(|name| !name.is_empty())) {
        fields.retain(|(key, _)| key != "role");
        fields.insert(0, ("role".to_owned(), text(role)));
    }
    Some(Json::Object(fields))
}

fn part(item: Json) -> Json {
    match item {
        Json::Object(mut fields) if !fields.iter().any(|(key, _)| key == "type") => {
            if fields.iter().any(|(key, _)| key == "text") {
                fields.push(("type".to_owned(), text("text")));
            }
            Json::Object(fields)
        }
        other => other,
    }
}

/// The id of the call that a block is.
fn id_of_call(block: &Json) -> Option<&Json> {
    let call = match block.get("type").and_then(Json::as_text) {
        Some("tool_use" | "tool_call" | "server_tool_use") => block,
        _ => return block.get("toolUse")?.get("toolUseId"),
    };
    call.get("id")
}
