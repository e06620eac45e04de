//! Items of the Responses API: messages, reasoning, calls and their outputs stand beside each other in one list.

use super::builder::{Builder, Message};
use super::calls::{free_form, input, text};
use super::fields::Fields;
use super::message;
use crate::formats::common::blocks::{Answer, Call, Piece, result_text_of};
use crate::json::{Json, Object};
use crate::trace::Role;

/// Whether it is an item that only this API has.
pub(super) fn is_item(item: &Json) -> bool {
    let kind = item.get("type").and_then(Json::as_text).unwrap_or("");
    kind == "message" && item.get("role").is_some()
        || kind == "reasoning" && (item.get("summary").is_some() || item.get("encrypted_content").is_some())
        || kind == "item_reference"
        || kind.ends_with("_call") && kind != "tool_call" && item.get("content").is_none()
        || kind.ends_with("_call_output")
}

/// Takes an item.
pub(super) fn take(item: &Json, builder: &mut Builder) {
    let kind = item.get("type").and_then(Json::as_text).unwrap_or("");
    match kind {
        other if other != "message" && !builder.wants(Role::Assistant) => {}
        "message" => message::take_fields(&Fields::of(item), builder),
        "reasoning" => {
            let mut texts = Vec::new();
            for key in ["summary", "content"] {
                if let Some(Json::List(parts)) = item.get(key) {
                    texts.extend(parts.iter().filter_map(|part| text(part, &["text"])));
                }
            }
            builder.reasoning(&texts.join("\n"));
        }
        "item_reference" => {}
        output if output.ends_with("_call_output") => {
            let content = item.get("output").unwrap_or(&Json::Null);
            let text_of = result_text_of(content, &mut builder.warnings);
            let id = text(item, &["call_id", "id"]);
            let answer = Answer { id, tool: text(item, &["name"]), text: text_of, is_error: false };
            builder.message(Message::new(Role::Tool, vec![answer.into()]));
        }
        call => take_call(call, item, builder),
    }
}

fn take_call(kind: &str, item: &Json, builder: &mut Builder) {
    let id = text(item, &["call_id", "id"]);
    let tool = kind.strip_suffix("_call").unwrap_or(kind);
    let name = text(item, &["name"]).unwrap_or_else(|| tool.to_owned());
    let input = match kind {
        "function_call" | "mcp_call" => input(item.get("arguments")),
        "custom_tool_call" => free_form(item.get("input")),
        _ => ["action", "arguments", "input", "queries", "code"]
            .iter()
            .find_map(|key| item.get(key))
            .map_or_else(Object::new, |recorded| input(Some(recorded))),
    };
    let mut pieces = vec![Piece::from(Call { id: id.clone(), name, input, metadata: Object::new() })];
    // Calls that the provider ran hold what came of them.
    let recorded =
        ["output", "result", "results", "error"].iter().find_map(|key| item.get(key).filter(|v| **v != Json::Null));
    if let Some(content) = recorded {
        let mark = if kind == "image_generation_call" { Some("[image]".to_owned()) } else { None };
        let text_of = mark.unwrap_or_else(|| result_text_of(content, &mut builder.warnings));
        let is_error = item.get("error").is_some_and(|error| *error != Json::Null);
        pieces.push(Piece::from(Answer { id, tool: None, text: text_of, is_error }));
    }
    builder.message(Message::new(Role::Assistant, pieces));
}
