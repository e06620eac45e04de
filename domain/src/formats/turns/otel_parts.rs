//! Parts of the OpenTelemetry conventions for generative AI: `{type, content}` and tool calls with their responses.

use super::calls::{input, text};
use crate::formats::common::blocks::{Answer, Call, Piece, result_text_of};
use crate::json::{Json, Object};

/// The piece of a part, if it is of this dialect.
pub(super) fn piece(part: &Json, warnings: &mut Vec<String>) -> Option<Piece> {
    let kind = part.get("type").and_then(Json::as_text).unwrap_or("");
    let said = || part.get("content").and_then(Json::as_text).map(str::to_owned);
    match kind {
        "tool_call" => {
            let arguments = ["arguments", "args", "input"].iter().find_map(|key| part.get(key));
            let name = text(part, &["name"]).unwrap_or_else(|| "unknown".to_owned());
            Some(Piece::from(Call { id: text(part, &["id"]), name, input: input(arguments), metadata: Object::new() }))
        }
        "tool_call_response" => {
            let content = ["response", "result", "content", "output"].iter().find_map(|key| part.get(key));
            Some(answer(part, content.unwrap_or(&Json::Null), warnings))
        }
        "server_tool_call" => {
            let held = part.get("server_tool_call").unwrap_or(&Json::Null);
            let name = text(part, &["name"]).or_else(|| text(held, &["name", "type"]));
            let id = text(part, &["id"]).or_else(|| text(held, &["id"]));
            let input = match held {
                Json::Object(fields) if !held.is_too_deep() => {
                    let kept = |key: &str| !matches!(key, "type" | "id" | "name");
                    let kept: Vec<_> = fields.iter().filter(|(key, _)| kept(key)).cloned().collect();
                    kept.into()
                }
                other => input(Some(other)),
            };
            let name = name.unwrap_or_else(|| "unknown".to_owned());
            Some(Piece::from(Call { id, name, input, metadata: Object::new() }))
        }
        "server_tool_call_response" => {
            let content = part.get("server_tool_call_response").or_else(|| part.get("response"));
            Some(answer(part, content.unwrap_or(&Json::Null), warnings))
        }
        "text" => part.get("text").is_none().then(said).flatten().map(Piece::Text),
        "refusal" => said().map(Piece::Text),
        "reasoning" | "thinking" => said().map(Piece::Reasoning),
        "compaction" => Some(Piece::Compaction(said().unwrap_or_default())),
        "blob" | "uri" => Some(data(part)),
        "file" if part.get("file_id").is_some() || part.get("modality").is_some() => Some(data(part)),
        _ => None,
    }
}

/// The text of a part of a kind that nobody here knows; the conventions leave kinds open.
pub(super) fn unnamed(part: &Json) -> Option<Piece> {
    text(part, &["type"])?;
    part.get("content").and_then(Json::as_text).filter(|said| !said.is_empty()).map(|said| Piece::Text(said.to_owned()))
}

/// What stands in place of data: what was said in it, if that was written down, else a mark.
fn data(part: &Json) -> Piece {
    match text(part, &["transcript"]) {
        Some(said) => Piece::Text(said),
        None => {
            let kind = text(part, &["modality", "mime_type"]).unwrap_or_default();
            Piece::Mark(super::parts::mark_of(&kind).to_owned())
        }
    }
}

fn answer(part: &Json, content: &Json, warnings: &mut Vec<String>) -> Piece {
    let text_of = match texts_only(content) {
        Some(text) => text,
        None => result_text_of(content, warnings),
    };
    let is_error = part.get("is_error") == Some(&Json::Bool(true));
    let tool = text(part, &["name"]);
    Piece::from(Answer { id: text(part, &["id", "tool_call_id", "tool_use_id"]), tool, text: text_of, is_error })
}

/// The text of a list of `{text}` without types.
pub(super) fn texts_only(content: &Json) -> Option<String> {
    let Json::List(items) = content else { return None };
    let texts: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            Json::Object(fields) => match fields.as_slice() {
                [(key, Json::Text(text))] if key == "text" => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}
