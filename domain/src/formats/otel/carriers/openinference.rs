//! Carrier 3: OpenInference, every field of every message an attribute of its own
//! (`llm.input_messages.0.message.tool_calls.0.tool_call.id`).
//!
//! A message of several contents may repeat its calls among them (`tool_use`); each is one call.

use super::{Carried, Spoken, blocks, glued, message, object, remove, text};
use crate::json::Json;
use crate::otel::Attributes;

/// Reads messages, or else the texts of the completion interface.
pub(super) fn read(attributes: &Attributes) -> Option<Carried> {
    let messages = |name: &str| match attributes.value(name) {
        Some(Json::List(items)) => items.into_iter().filter_map(read_message).map(|json| message(json, 0)).collect(),
        _ => Vec::new(),
    };
    let (mut input, mut output): (Vec<Spoken>, Vec<Spoken>) =
        (messages("llm.input_messages"), messages("llm.output_messages"));
    if input.is_empty() {
        input = texts(attributes, "llm.prompts", "prompt", "user");
    }
    if output.is_empty() {
        output = texts(attributes, "llm.choices", "completion", "assistant");
        output.truncate(1);
    }
    output.iter_mut().for_each(|answer| glued::part(&mut answer.json, attributes));
    Carried { system: None, input, output }.some()
}

/// Texts of the completion interface: `{"prompt": {"text": …}}`, or bare ones.
fn texts(attributes: &Attributes, name: &str, field: &str, role: &str) -> Vec<Spoken> {
    let Some(Json::List(items)) = attributes.value(name) else { return Vec::new() };
    let of_item = |item: &Json| match item {
        Json::Text(text) => Some(text.clone()),
        _ => item.get(field).unwrap_or(item).get("text").and_then(Json::as_text).map(str::to_owned),
    };
    let spoken = |said: String| message(object([("role", text(role)), ("content", text(said))]), 0);
    items.iter().filter_map(of_item).map(spoken).collect()
}

fn read_message(item: Json) -> Option<Json> {
    let Json::Object(mut fields) = item else { return None };
    if let Some(Json::Object(inner)) = remove(&mut fields, "message") {
        fields = inner;
    }
    let mut calls: Vec<Json> = match remove(&mut fields, "tool_calls") {
        Some(Json::List(items)) => items.into_iter().filter_map(read_call).collect(),
        _ => Vec::new(),
    };
    if let Some(name) = remove(&mut fields, "function_call_name") {
        let arguments = remove(&mut fields, "function_call_arguments_json").unwrap_or(Json::Null);
        if calls.is_empty() {
            calls.push(object([("name", name), ("arguments", arguments)]));
        }
    }
    let content = match remove(&mut fields, "contents") {
        Some(Json::List(contents)) => {
            let mut parts: Vec<Json> = contents.into_iter().filter_map(|part| content(part, &mut calls)).collect();
            if parts.is_empty() {
                remove(&mut fields, "content")
            } else {
                // A text beside the contents repeats one of them, or says more.
                if let Some(Json::Text(said)) = remove(&mut fields, "content")
                    && !said.is_empty()
                    && !parts.iter().any(|part| part.get("text").and_then(Json::as_text) == Some(&said))
                {
                    parts.insert(0, object([("type", text("text")), ("text", text(said))]));
                }
                Some(Json::List(parts))
            }
        }
        _ => remove(&mut fields, "content").map(blocks),
    };
    if let Some(Json::List(parts)) = &content {
        let repeated =
            |call: &Json| call.get("id").is_some_and(|id| parts.iter().any(|part| part.get("id") == Some(id)));
        calls.retain(|call| !repeated(call));
    }
    let mut found = Vec::new();
    let mut put = |key: &str, value: Option<Json>| found.extend(value.map(|value| (key.to_owned(), value)));
    put("role", remove(&mut fields, "role"));
    put("content", content);
    put("tool_call_id", remove(&mut fields, "tool_call_id"));
    put("name", remove(&mut fields, "name"));
    put("tool_calls", (!calls.is_empty()).then_some(Json::List(calls)));
    found.extend(fields);
    (!found.is_empty()).then_some(Json::Object(found))
}

fn read_call(item: Json) -> Option<Json> {
    let call = item.get("tool_call").unwrap_or(&item);
    let function = call.get("function").unwrap_or(call);
    let field = |from: &Json, key: &str| from.get(key).cloned().unwrap_or(Json::Null);
    let name = field(function, "name");
    (name != Json::Null)
        .then(|| object([("id", field(call, "id")), ("name", name), ("arguments", field(function, "arguments"))]))
}

/// A content as a part. One that repeats a call becomes that call, in its place among the others.
fn content(part: Json, calls: &mut Vec<Json>) -> Option<Json> {
    let mut fields = match part {
        Json::Object(mut fields) => match remove(&mut fields, "message_content") {
            Some(Json::Object(inner)) => inner,
            _ => fields,
        },
        other => return Some(other),
    };
    let kind = remove(&mut fields, "type").and_then(|kind| kind.as_text().map(str::to_owned)).unwrap_or_default();
    match kind.as_str() {
        "tool_use" => {
            let id = remove(&mut fields, "id");
            let at = calls.iter().position(|call| id.is_none() || call.get("id") == id.as_ref());
            if let Some(call) = at.map(|at| calls.remove(at)) {
                let field = |key: &str| call.get(key).cloned().unwrap_or(Json::Null);
                let fields = [("type", text("tool_use")), ("id", field("id")), ("name", field("name"))];
                let mut block = object(fields);
                if let Json::Object(fields) = &mut block {
                    fields.push(("input".to_owned(), field("arguments")));
                }
                return Some(block);
            }
            // It repeats nothing: either it is a call itself, or it only says that there was one.
            fields.iter().any(|(key, _)| key == "name").then(|| {
                fields.extend(id.map(|id| ("id".to_owned(), id)));
                fields.push(("type".to_owned(), text("tool_use")));
                Json::Object(fields)
            })
        }
        "" if fields.iter().any(|(key, _)| key == "image") => Some(object([("type", text("image"))])),
        "" => {
            fields.push(("type".to_owned(), text("text")));
            Some(Json::Object(fields))
        }
        _ => {
            fields.push(("type".to_owned(), text(kind)));
            Some(Json::Object(fields))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(attributes: &str) -> String {
        let carried = read(&serde_json::from_str(attributes).unwrap()).unwrap();
        let all: Vec<Json> = carried.input.into_iter().chain(carried.output).map(|spoken| spoken.json).collect();
        Json::List(all).compact()
    }

    #[test]
    fn a_call_among_the_contents_stands_once_and_in_its_place() {
        let attributes = r#"{
            "llm.output_messages.0.message.role":"assistant",
            "llm.output_messages.0.message.contents.0.message_content.type":"text",
            "llm.output_messages.0.message.contents.0.message_content.text":"First.",
            "llm.output_messages.0.message.contents.1.message_content.type":"tool_use",
            "llm.output_messages.0.message.contents.2.message_content.type":"text",
            "llm.output_messages.0.message.contents.2.message_content.text":"Then.",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id":"a",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name":"f",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments":"{}"}"#;
        let expected = concat!(
            r#"[{"role":"assistant","content":[{"text":"First.","type":"text"},"#,
            r#"{"type":"tool_use","id":"a","name":"f","input":"{}"},{"text":"Then.","type":"text"}]}]"#
        );
        assert_eq!(read_back(attributes), expected);
    }

    #[test]
    fn completions_are_texts() {
        let attributes = r#"{"llm.prompts.0.prompt.text":"Say hi","llm.choices.0.completion.text":"hi"}"#;
        let expected = r#"[{"role":"user","content":"Say hi"},{"role":"assistant","content":"hi"}]"#;
        assert_eq!(read_back(attributes), expected);
    }
}
