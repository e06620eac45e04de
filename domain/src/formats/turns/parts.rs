//! Parts of a message's content, of any dialect.

use super::{ai_sdk, calls, gemini, otel_parts};
use crate::formats::common::blocks::{Answer, Piece, block, is_stray, result_text_of, stray};
use crate::formats::common::content::{is_part, only_texts};
use crate::json::Json;

/// A content taken apart.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) pieces: Vec<Piece>,
    /// Whether texts are cut within sentences and join without a line feed.
    pub(super) glued: bool,
}

/// Takes a content apart: a text, a part, or a list of both. A text that is a list of parts in JSON is that list.
pub(super) fn parts(content: &Json, warnings: &mut Vec<String>) -> Parts {
    let mut found = Parts::default();
    match content {
        Json::Null => {}
        Json::Text(text) => match list_of_parts(text) {
            Some(items) => return listed_parts(&items, warnings),
            None => found.pieces.push(Piece::Text(text.clone())),
        },
        Json::List(items) => return listed_parts(items, warnings),
        other => take(other, &mut found, warnings),
    }
    found
}

/// Takes the parts of a list.
pub(super) fn listed_parts(items: &[Json], warnings: &mut Vec<String>) -> Parts {
    let mut found = Parts::default();
    if let Some(text) = only_texts(items) {
        found.pieces.push(Piece::Text(text));
        return found;
    }
    items.iter().for_each(|item| take(item, &mut found, warnings));
    found
}

/// The parts that a text holds as JSON; none if it is any other text.
pub(super) fn list_of_parts(text: &str) -> Option<Vec<Json>> {
    match super::strings::container(text)? {
        Json::List(items) if !items.is_empty() && items.iter().all(is_known_part) => Some(items),
        _ => None,
    }
}

/// Whether it is a part of a known type.
pub(super) fn is_known_part(item: &Json) -> bool {
    let kind = item.get("type").and_then(Json::as_text).unwrap_or("");
    let call_or_result = kind.ends_with("tool_use") || kind.ends_with("tool_result");
    is_part(item)
        || call_or_result
        || matches!(kind, "redacted_thinking" | "tool_call" | "tool_call_response" | "tool-call" | "tool-result")
        || bedrock(item).is_some()
}

fn take(item: &Json, found: &mut Parts, warnings: &mut Vec<String>) {
    if is_stray(item) {
        return stray(item, &mut found.pieces, warnings);
    }
    let piece = bedrock(item)
        .map(|held| bedrock_piece(held, warnings))
        .or_else(|| ai_sdk::piece(item, warnings))
        .or_else(|| otel_parts::piece(item, warnings))
        .or_else(|| gemini::piece(item, warnings))
        .or_else(|| if is_known_part(item) { None } else { otel_parts::unnamed(item) });
    let pieces = match piece {
        Some(piece) => vec![piece],
        None => {
            let more = block(item);
            warnings.extend(more.warnings);
            found.glued |= more.cited;
            more.pieces
        }
    };
    for piece in pieces {
        match piece {
            Piece::Call(call) => calls::add(&mut found.pieces, *call),
            Piece::Text(text) if text.is_empty() => {}
            piece => found.pieces.push(piece),
        }
    }
}

/// What a Bedrock block holds: its only key says of which kind it is.
fn bedrock(item: &Json) -> Option<(&str, &Json)> {
    match item {
        Json::Object(fields) => match fields.as_slice() {
            [(key, held @ Json::Object(_))] if matches!(key.as_str(), "toolUse" | "toolResult") => Some((key, held)),
            _ => None,
        },
        _ => None,
    }
}

fn bedrock_piece((kind, held): (&str, &Json), warnings: &mut Vec<String>) -> Piece {
    if kind == "toolUse"
        && let Some(call) = calls::call(held)
    {
        return call.into();
    }
    let content = held.get("content").unwrap_or(&Json::Null);
    let text = otel_parts::texts_only(content).unwrap_or_else(|| result_text_of(content, warnings));
    let is_error = held.get("status").and_then(Json::as_text) == Some("error");
    Piece::from(Answer { id: calls::text(held, &["toolUseId"]), tool: None, text, is_error })
}

/// What stands in place of data of a modality or media type.
pub(super) fn mark_of(kind: &str) -> &'static str {
    match kind.split(['/', ';']).next().unwrap_or("") {
        "image" => "[image]",
        "audio" => "[audio]",
        "video" => "[video]",
        _ => "[file]",
    }
}
