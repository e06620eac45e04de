//! Parts of the AI SDK: `tool-call` and `tool-result`, and calls as flat objects.

use super::calls::{input, text};
use crate::formats::common::blocks::{Answer, Call, Piece, result_text_of};
use crate::json::{Json, Object};

/// The piece of a part, if it is of this dialect.
pub(super) fn piece(part: &Json, warnings: &mut Vec<String>) -> Option<Piece> {
    let kind = part.get("type").and_then(Json::as_text).unwrap_or("");
    let id = || text(part, &["toolCallId", "tool_call_id", "id"]);
    let tool = || text(part, &["toolName", "tool_name", "name"]);
    match kind {
        "tool-call" | "tool_call" if part.get("toolName").is_some() => {
            let arguments = part.get("input").or_else(|| part.get("args"));
            Some(Piece::from(Call { id: id(), name: tool()?, input: input(arguments), metadata: Object::new() }))
        }
        "tool-result" | "tool-error" => {
            let recorded = ["output", "result", "error", "content"].iter().find_map(|key| part.get(key));
            let (content, failed) = output(recorded.unwrap_or(&Json::Null));
            let is_error = failed || kind == "tool-error" || part.get("isError") == Some(&Json::Bool(true));
            Some(Piece::from(Answer { id: id(), tool: tool(), text: result_text_of(content, warnings), is_error }))
        }
        "" if is_call(part) => {
            let arguments = part.get("input").or_else(|| part.get("args"));
            Some(Piece::from(Call { id: id(), name: tool()?, input: input(arguments), metadata: Object::new() }))
        }
        _ => None,
    }
}

/// Whether it is a call as a flat object.
pub(super) fn is_call(part: &Json) -> bool {
    let has = |key: &str| part.get(key).is_some();
    has("toolCallId") && has("toolName") && !has("result") && !has("output")
}

/// The value of an output that says of which kind it is, and whether it is an error.
fn output(recorded: &Json) -> (&Json, bool) {
    let kind = recorded.get("type").and_then(Json::as_text).unwrap_or("");
    match (kind, recorded.get("value")) {
        ("text" | "json" | "content", Some(value)) => (value, false),
        ("error-text" | "error-json", Some(value)) => (value, true),
        _ => (recorded, false),
    }
}
