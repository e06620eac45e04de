//! Items of the conversation with the model: messages, reasoning, calls and their outputs.

use super::line::text;
use super::{Origin, Piece, What};
use crate::formats::common::content;
use crate::formats::common::roles::role_of;
use crate::formats::common::tool_input::tool_input;
use crate::json::{Json, Object, take_field};
use crate::trace::Role;

/// Items that hold nothing that was said, called or answered. A compaction's text stands in the line that tells of it.
const SILENT: [&str; 6] = [
    "compaction",
    "compaction_summary",
    "context_compaction",
    "ghost_snapshot",
    "additional_tools",
    "configuration_update",
];

/// What the harness begins a message of its own with.
const INJECTED: [&str; 20] = [
    "<environment_context",
    "<user_instructions",
    "<INSTRUCTIONS",
    "# AGENTS.md instructions",
    "<permissions instructions",
    "<turn_aborted",
    "<collaboration_mode",
    "<model_switch",
    "<personality_spec",
    "<apps_instructions",
    "<skills_instructions",
    "<plugins_instructions",
    "<recommended_plugins",
    "<realtime_conversation",
    "<hook_prompt",
    "<goal_context",
    "<subagent_notification",
    "<skill>",
    "<skills>",
    "<token_budget",
];

/// Whether an item of this type calls a tool or answers a call.
pub(super) fn is_call_or_output(kind: &str) -> bool {
    kind.ends_with("_call") || kind.ends_with("_call_output") || kind == "tool_search_output"
}

/// Makes pieces of an item.
///
/// # Errors
/// The item's type, if it is unknown and nothing can be told of it.
pub(super) fn take(mut item: Vec<(String, Json)>, at: Option<String>, pieces: &mut Vec<Piece>) -> Result<(), String> {
    let kind = text(take_field(&mut item, "type")).unwrap_or_default();
    let has = |key: &str| item.iter().any(|(name, _)| name == key);
    let mut push = |what| pieces.push(Piece { origin: Origin::Item, at: at.clone(), what });
    match kind.as_str() {
        "message" | "" if has("role") => message(item, &mut push),
        "agent_message" => push(mail(item)),
        "reasoning" => {
            if let Some(text) = reasoning(&mut item) {
                push(What::Reasoning(text));
            }
        }
        "image_generation_call" => {
            let made = take_field(&mut item, "result").is_some_and(|result| result != Json::Text(String::new()));
            let id = call_id(&mut item);
            let input = input(
                take_field(&mut item, "revised_prompt").map(|prompt| Json::Object(vec![("prompt".to_owned(), prompt)])),
            );
            push(What::Call { id: id.clone(), name: "image_generation".to_owned(), input, metadata: Object::new() });
            if made {
                push(What::Output { id, name: None, content: "[image]".to_owned(), metadata: Object::new() });
            }
        }
        silent if SILENT.contains(&silent) => {}
        output if output.ends_with("_output") => push(self::output(output, item)),
        call if call.ends_with("_call") => push(self::call(call, item)),
        _ if has("role") && has("content") => message(item, &mut push),
        _ => return Err(kind),
    }
    Ok(())
}

/// A message between agents. The person did not write it, the agent of this session neither.
pub(super) fn mail(mut item: Vec<(String, Json)>) -> What {
    let text = content::message(without_secrets(take_field(&mut item, "content").unwrap_or(Json::Null))).text;
    let mut metadata = Object::of("injected", true);
    for key in ["author", "recipient"] {
        if let Some(Json::Text(name)) = take_field(&mut item, key) {
            metadata.insert(key, name);
        }
    }
    What::Mail { text, metadata }
}

/// The content without parts that only the model's maker can read.
fn without_secrets(content: Json) -> Json {
    match content {
        Json::List(parts) => Json::List(parts.into_iter().filter(|part| kind(part) != "encrypted_content").collect()),
        other => other,
    }
}

fn kind(part: &Json) -> &str {
    part.get("type").and_then(Json::as_text).unwrap_or("")
}

fn message(mut item: Vec<(String, Json)>, push: &mut dyn FnMut(What)) {
    let name = text(take_field(&mut item, "role")).unwrap_or_default();
    let content = without_secrets(take_field(&mut item, "content").unwrap_or(Json::Null));
    let mut metadata = Object::new();
    if let Some(Json::Text(phase)) = take_field(&mut item, "phase") {
        metadata.insert("phase", phase);
    }
    let role = role_of(&name).unwrap_or_else(|| {
        metadata.insert("original_role", name);
        Role::User
    });
    match role {
        Role::System => {
            metadata.insert("injected", true);
            push(What::Text { role, text: content::message(content).text, metadata });
        }
        Role::User => {
            let (before, said) = split_injected(unwrap_images(content));
            if let Some(text) = before {
                let metadata = Object::of("injected", true);
                push(What::Text { role: Role::System, text, metadata });
            }
            push(What::Text { role, text: content::message(said).text, metadata });
        }
        Role::Tool => {
            let id = call_id(&mut item);
            let name = text(take_field(&mut item, "name"));
            push(What::Output { id, name, content: content::result(content).text, metadata });
        }
        Role::Assistant => {
            let content = content::message(content);
            if let Some(text) = content.reasoning.filter(|text| !text.is_empty()) {
                push(What::Reasoning(text));
            }
            push(What::Text { role, text: content.text, metadata });
        }
    }
}

/// Drops the tags that stand around an image as texts of their own.
fn unwrap_images(content: Json) -> Json {
    let Json::List(parts) = content else { return content };
    let is_image = |part: &Json| kind(part).contains("image");
    let is_tag = |part: &Json| {
        let text = part.get("text").and_then(Json::as_text).unwrap_or("").trim();
        text == "</image>"
            || text == "<image>"
            || text.starts_with("<image ") && text.ends_with('>') && !text.contains('\n')
    };
    let near_image = |at: usize| {
        let neighbours = [at.checked_sub(1), at.checked_add(1)];
        neighbours.into_iter().flatten().filter_map(|at| parts.get(at)).any(is_image)
    };
    let keep: Vec<bool> = parts.iter().enumerate().map(|(at, part)| !(is_tag(part) && near_image(at))).collect();
    Json::List(parts.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(part, _)| part).collect())
}

/// Cuts off what the harness put before the person's words: the leading parts that are the harness's, or all.
fn split_injected(content: Json) -> (Option<String>, Json) {
    let begins = |text: &str| INJECTED.iter().any(|mark| text.trim_start().starts_with(mark));
    match content {
        Json::Text(text) if begins(&text) => (Some(text), Json::Null),
        Json::List(mut parts) => {
            let injected =
                parts.iter().take_while(|part| part.get("text").and_then(Json::as_text).is_some_and(begins)).count();
            if injected == 0 {
                return (None, Json::List(parts));
            }
            let said = parts.split_off(injected);
            (Some(content::message(Json::List(parts)).text), Json::List(said))
        }
        other => (None, other),
    }
}

/// The reasoning's text: itself if it is there, else its summary.
fn reasoning(item: &mut Vec<(String, Json)>) -> Option<String> {
    let full = take_field(item, "content").map(parts_text).unwrap_or_default();
    let text = if full.is_empty() { take_field(item, "summary").map(parts_text).unwrap_or_default() } else { full };
    Some(text).filter(|text| !text.is_empty())
}

/// The texts of parts of any type.
fn parts_text(parts: Json) -> String {
    match parts {
        Json::Text(text) => text,
        Json::List(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_text().or_else(|| part.get("text")?.as_text()));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The id that joins a call and its output. Early local shells have only an id of the item, which their output names.
pub(super) fn call_id(item: &mut Vec<(String, Json)>) -> Option<String> {
    let call_id = text(take_field(item, "call_id")).filter(|id| !id.is_empty());
    call_id.or_else(|| text(take_field(item, "id")).filter(|id| !id.is_empty()))
}

fn call(kind: &str, mut item: Vec<(String, Json)>) -> What {
    // The item's own id joins nothing where results name a call_id; only these two kinds are answered by it, or not at all.
    let id = match kind {
        "local_shell_call" | "web_search_call" => call_id(&mut item),
        _ => text(take_field(&mut item, "call_id")).filter(|id| !id.is_empty()),
    };
    let recorded = text(take_field(&mut item, "name")).filter(|name| !name.is_empty());
    let name = recorded.unwrap_or_else(|| match kind {
        "function_call" | "custom_tool_call" => "unknown".to_owned(),
        other => other.strip_suffix("_call").unwrap_or(other).to_owned(),
    });
    let mut metadata = Object::new();
    if let Some(Json::Text(namespace)) = take_field(&mut item, "namespace") {
        metadata.insert("namespace", namespace);
    }
    let recorded = ["arguments", "action", "input"].iter().find_map(|key| take_field(&mut item, key));
    let input = match recorded {
        Some(Json::Text(text)) if kind == "custom_tool_call" => Object::of("input", text),
        recorded => input(recorded),
    };
    What::Call { id, name, input, metadata }
}

/// Arguments as an object. What nests too deep for a trace is kept as text.
pub(super) fn input(recorded: Option<Json>) -> Object {
    match recorded {
        Some(deep) if deep.is_too_deep() => Object::of("_raw", deep.compact()),
        recorded => tool_input(recorded).unwrap_or_default(),
    }
}

fn output(kind: &str, mut item: Vec<(String, Json)>) -> What {
    let id = call_id(&mut item);
    let recorded = ["output", "tools", "result", "content"].iter().find_map(|key| take_field(&mut item, key));
    let (content, is_error) = match recorded.unwrap_or(Json::Null) {
        Json::Object(mut fields) if fields.iter().any(|(key, _)| key == "content" || key == "content_items") => {
            let failed = take_field(&mut fields, "success") == Some(Json::Bool(false));
            let content = take_field(&mut fields, "content").filter(|content| *content != Json::Null);
            let content = content.or_else(|| take_field(&mut fields, "content_items"));
            (content.unwrap_or(Json::Null), failed)
        }
        other => (other, false),
    };
    let mut metadata = Object::new();
    if is_error {
        metadata.insert("is_error", true);
    }
    let name = (kind == "tool_search_output").then(|| "tool_search".to_owned());
    What::Output { id, name, content: content::result(without_secrets(content)).text, metadata }
}
