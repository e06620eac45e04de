//! Events: what the interface was told. Nearly all repeat items; they count for turns of which the items are missing.

use super::item::{call_id, input};
use super::line::text;
use super::{Origin, Piece, What};
use crate::formats::common::content;
use crate::json::{Json, Object, Value, take_field};
use crate::trace::Role;

/// Makes pieces of an event. What is unknown or tells of nothing said, called or answered is passed over.
pub(super) fn take(mut event: Vec<(String, Json)>, at: Option<String>, pieces: &mut Vec<Piece>) {
    let kind = text(take_field(&mut event, "type")).unwrap_or_default();
    let mut push = |what| pieces.push(Piece { origin: Origin::Event, at: at.clone(), what });
    match kind.as_str() {
        "user_message" => {
            // Early files told the interface of injected context too.
            let kind = text(take_field(&mut event, "kind"));
            if kind.is_none_or(|kind| kind == "plain") {
                let images = ["images", "local_images"].iter().map(|key| match take_field(&mut event, key) {
                    Some(Json::List(images)) => images.len(),
                    _ => 0,
                });
                let images = images.sum();
                let message = text(take_field(&mut event, "message")).filter(|text| !text.is_empty());
                let lines: Vec<String> =
                    message.into_iter().chain(std::iter::repeat_n("[image]".to_owned(), images)).collect();
                push(said(Role::User, lines.join("\n")));
            }
        }
        "agent_message" => push(said(Role::Assistant, text(take_field(&mut event, "message")).unwrap_or_default())),
        "agent_reasoning" => {
            if let Some(text) = text(take_field(&mut event, "text")).filter(|text| !text.is_empty()) {
                push(What::Reasoning(text));
            }
        }
        "token_count" => {
            if let Some(usage) = take_field(&mut event, "info").and_then(|info| usage(&info)) {
                push(What::Usage(usage));
            }
        }
        "thread_rolled_back" => {
            let turns = match take_field(&mut event, "num_turns") {
                Some(Json::Number(number)) => number.as_str().parse().unwrap_or(0),
                _ => 0,
            };
            push(What::RolledBack(turns));
        }
        "item_completed" => {
            if let Some(Json::Object(item)) = take_field(&mut event, "item") {
                completed(item, at, pieces);
            }
        }
        ended => {
            if let Some(name) = ended.strip_suffix("_end").filter(|_| event.iter().any(|(key, _)| key == "call_id")) {
                tool(name, Origin::Event, event, at, pieces);
            }
        }
    }
}

fn said(role: Role, text: String) -> What {
    What::Text { role, text, metadata: Object::new() }
}

fn usage(info: &Json) -> Option<Object> {
    let last = info.get("last_token_usage")?;
    let names = [
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("cached_input_tokens", "cached_tokens"),
    ];
    let found = names.into_iter().filter_map(|(recorded, name)| match last.get(recorded) {
        Some(Json::Number(number)) => Some((name.to_owned(), Value::Number(number.clone()))),
        _ => None,
    });
    Some(found.collect()).filter(|usage: &Object| !usage.is_empty())
}

/// An item that newer files write in place of events.
fn completed(mut item: Vec<(String, Json)>, at: Option<String>, pieces: &mut Vec<Piece>) {
    let kind: String = text(take_field(&mut item, "type")).unwrap_or_default();
    let kind: String = kind.chars().filter(|character| *character != '_').collect::<String>().to_lowercase();
    let mut push = |what| pieces.push(Piece { origin: Origin::Completed, at: at.clone(), what });
    match kind.as_str() {
        "usermessage" | "agentmessage" => {
            let parts = match take_field(&mut item, "content") {
                Some(Json::List(parts)) => Json::List(parts.into_iter().map(lower_type).collect()),
                other => other.unwrap_or(Json::Null),
            };
            let role = if kind == "usermessage" { Role::User } else { Role::Assistant };
            push(said(role, content::message(parts).text));
        }
        "plan" => push(said(Role::Assistant, text(take_field(&mut item, "text")).unwrap_or_default())),
        "reasoning" => {
            let texts = ["raw_content", "summary_text"].iter().find_map(|key| match take_field(&mut item, key) {
                Some(Json::List(texts)) if !texts.is_empty() => {
                    Some(texts.iter().filter_map(Json::as_text).collect::<Vec<_>>().join("\n"))
                }
                _ => None,
            });
            if let Some(text) = texts.filter(|text| !text.is_empty()) {
                push(What::Reasoning(text));
            }
        }
        "commandexecution" => tool("exec_command", Origin::Completed, item, at, pieces),
        "filechange" => tool("patch_apply", Origin::Completed, item, at, pieces),
        "websearch" => tool("web_search", Origin::Completed, item, at, pieces),
        "imagegeneration" => tool("image_generation", Origin::Completed, item, at, pieces),
        "mcptoolcall" | "dynamictoolcall" | "collabagenttoolcall" => {
            tool("tool_call", Origin::Completed, item, at, pieces);
        }
        _ => {}
    }
}

/// A part whose type is written with capitals.
fn lower_type(part: Json) -> Json {
    let Json::Object(fields) = part else { return part };
    let fields = fields.into_iter().map(|(key, value)| match value {
        Json::Text(name) if key == "type" => match name.to_lowercase().as_str() {
            "localimage" | "local_image" => (key, Json::Text("image".to_owned())),
            name => (key, Json::Text(name.to_owned())),
        },
        other => (key, other),
    });
    Json::Object(fields.collect())
}

/// Where an event keeps what the tool gave, the fullest first.
const OUTPUTS: [&str; 9] = [
    "aggregated_output",
    "formatted_output",
    "output",
    "stdout",
    "stderr",
    "result",
    "content_items",
    "error",
    "saved_path",
];

/// Fields that are neither arguments nor output.
const BESIDES: [&str; 9] =
    ["turn_id", "process_id", "status", "duration", "exit_code", "success", "parsed_cmd", "source", "completed_at_ms"];

/// A call and its result, from the event that tells of both.
fn tool(name: &str, origin: Origin, mut event: Vec<(String, Json)>, at: Option<String>, pieces: &mut Vec<Piece>) {
    let id = call_id(&mut event);
    let failed = [("success", Json::Bool(false)), ("status", Json::Text("failed".to_owned()))];
    let mut failed = failed.iter().any(|(key, value)| event.iter().any(|(name, held)| name == key && held == value));
    let mut content = String::new();
    for key in OUTPUTS {
        let found = take_field(&mut event, key).unwrap_or(Json::Null);
        if content.is_empty() && name != "image_generation" {
            let (found, is_error) = unwrapped(found);
            content = content::result(found).text;
            failed |= is_error && !content.is_empty();
        }
    }
    if name == "image_generation" {
        "[image]".clone_into(&mut content);
    }
    event.retain(|(key, _)| !BESIDES.contains(&key.as_str()));
    let mut name = name.to_owned();
    let invocation = match take_field(&mut event, "invocation") {
        Some(Json::Object(fields)) => fields,
        _ => Vec::new(),
    };
    event.extend(invocation);
    if let Some(tool) = text(take_field(&mut event, "tool")) {
        name = tool;
        event.retain(|(key, _)| key == "arguments" || key == "prompt");
    }
    let arguments = take_field(&mut event, "arguments").or_else(|| take_field(&mut event, "action"));
    let input = input(Some(arguments.unwrap_or(Json::Object(event))));
    let metadata = Object::new();
    pieces.push(Piece { origin, at: at.clone(), what: What::Call { id: id.clone(), name, input, metadata } });
    let mut metadata = Object::new();
    if failed {
        metadata.insert("is_error", true);
    }
    pieces.push(Piece { origin, at, what: What::Output { id, name: None, content, metadata } });
}

/// What stands inside `{"Ok": …}` or `{"Err": …}`, and its content if it has one; whether it is an error.
fn unwrapped(result: Json) -> (Json, bool) {
    let (inner, mut is_error) = match result {
        Json::Object(mut fields) if fields.len() == 1 => match (take_field(&mut fields, "Ok"), fields.pop()) {
            (Some(inner), _) => (inner, false),
            (None, Some((key, inner))) if key == "Err" => (inner, true),
            (None, Some(field)) => (Json::Object(vec![field]), false),
            (None, None) => (Json::Null, false),
        },
        other => (other, false),
    };
    let Json::Object(mut fields) = inner else { return (inner, is_error) };
    is_error |= ["is_error", "isError"]
        .iter()
        .any(|key| fields.iter().any(|(name, value)| name == key && *value == Json::Bool(true)));
    match take_field(&mut fields, "content") {
        Some(content @ (Json::List(_) | Json::Text(_))) => (content, is_error),
        Some(content) => {
            fields.push(("content".to_owned(), content));
            (Json::Object(fields), is_error)
        }
        None => (Json::Object(fields), is_error),
    }
}
