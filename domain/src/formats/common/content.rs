//! Text of a message from its content, whatever parts that has.
//!
//! Texts are joined by line feeds. A part that is no text leaves a mark in its place; its bytes are never copied. Reasoning is
//! kept apart: it is no part of what was said.

use crate::formats::report::ISSUES_LISTED_MAX;
use crate::json::Json;

/// What a content holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// The text.
    pub(crate) text: String,
    /// Reasoning found among the parts.
    pub(crate) reasoning: Option<String>,
    /// Types of parts that are unknown and left a mark, as many as a report lists.
    pub(crate) unknown: Vec<String>,
}

impl Content {
    fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => join(&mut self.text, &text),
            Piece::Mark(mark) => join(&mut self.text, mark),
            Piece::Reasoning(text) => join(self.reasoning.get_or_insert_default(), &text),
            Piece::Unknown(kind) => {
                join(&mut self.text, "[file]");
                if self.unknown.len() < ISSUES_LISTED_MAX {
                    self.unknown.push(kind);
                }
            }
            Piece::Nothing => {}
        }
    }
}

/// The text of a content that is nothing but texts. There may be a quarter of a million of them, so that they are one text at once
/// and not a piece each.
pub(crate) fn only_texts(items: &[Json]) -> Option<String> {
    if items.is_empty() || !items.iter().all(|item| matches!(item, Json::Text(_))) {
        return None;
    }
    let mut text = String::new();
    items.iter().filter_map(Json::as_text).for_each(|more| join(&mut text, more));
    Some(text)
}

/// Joins by a line feed. Empty parts count for nothing.
pub(super) fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

enum Piece {
    Text(String),
    Mark(&'static str),
    Reasoning(String),
    Unknown(String),
    Nothing,
}

/// Content of a message that someone says.
pub(crate) fn message(content: Json) -> Content {
    match content {
        Json::Text(text) => Content { text, ..Content::default() },
        other => said(&other),
    }
}

/// The same of what is held elsewhere.
pub(crate) fn said(content: &Json) -> Content {
    match content {
        Json::Null => Content::default(),
        Json::Text(text) => Content { text: text.clone(), ..Content::default() },
        Json::List(items) => parts(items),
        part if is_part(part) => parts(std::slice::from_ref(part)),
        other => Content { text: other.compact(), ..Content::default() },
    }
}

/// What parts say.
pub(crate) fn parts(items: &[Json]) -> Content {
    let mut content = Content::default();
    items.iter().for_each(|part| content.push(piece(part)));
    content
}

/// Content of a tool's result: JSON that is no list of parts is kept as compact JSON.
pub(crate) fn result(content: Json) -> Content {
    match content {
        Json::List(parts) if !parts.is_empty() && parts.iter().all(is_part) => message(Json::List(parts)),
        Json::Null | Json::Text(_) => message(content),
        other => Content { text: other.compact(), ..Content::default() },
    }
}

/// Whether it is a part of a kind that is known.
pub(crate) fn is_part(json: &Json) -> bool {
    json.get("type").and_then(Json::as_text).is_some_and(|kind| kind_of(kind) != Kind::Unknown)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Refusal,
    Reasoning,
    Redacted,
    Image,
    Audio,
    Video,
    File,
    Unknown,
}

fn kind_of(name: &str) -> Kind {
    match name {
        "text" | "input_text" | "output_text" => Kind::Text,
        "refusal" => Kind::Refusal,
        "thinking" | "reasoning" | "reasoning_text" => Kind::Reasoning,
        "redacted_thinking" => Kind::Redacted,
        "image" | "image_url" | "image_file" | "input_image" | "output_image" => Kind::Image,
        "audio" | "audio_url" | "input_audio" | "output_audio" => Kind::Audio,
        "video" | "video_url" | "input_video" => Kind::Video,
        "file" | "file_url" | "input_file" | "document" | "container_upload" | "search_result" => Kind::File,
        _ => Kind::Unknown,
    }
}

fn piece(part: &Json) -> Piece {
    let name = part.get("type").and_then(Json::as_text).unwrap_or("").to_owned();
    let text_at = |keys: &[&str]| keys.iter().find_map(|key| part.get(key).and_then(Json::as_text)).map(str::to_owned);
    match kind_of(&name) {
        Kind::Refusal => Piece::Text(text_at(&["refusal", "text"]).unwrap_or_default()),
        Kind::Reasoning => Piece::Reasoning(text_at(&["thinking", "reasoning", "text"]).unwrap_or_default()),
        Kind::Redacted => Piece::Nothing,
        Kind::Image => Piece::Mark("[image]"),
        Kind::Audio => Piece::Mark("[audio]"),
        Kind::Video => Piece::Mark("[video]"),
        Kind::File => inline_text(part).map_or(Piece::Mark("[file]"), Piece::Text),
        Kind::Text | Kind::Unknown => match part {
            Json::Text(text) => Piece::Text(text.clone()),
            Json::Null => Piece::Nothing,
            _ => match text_at(&["text"]).or_else(|| part.get("text")?.get("value")?.as_text().map(str::to_owned)) {
                Some(text) => Piece::Text(text),
                None if name == "text" => Piece::Nothing,
                None => Piece::Unknown(if name.is_empty() { part.kind().to_owned() } else { name }),
            },
        },
    }
}

/// The text of a document or search result that carries it inline.
fn inline_text(part: &Json) -> Option<String> {
    if part.get("type")?.as_text()? == "search_result" {
        return Some(said(part.get("content")?).text);
    }
    let source = part.get("source")?;
    match source.get("type")?.as_text()? {
        "text" => source.get("data")?.as_text().map(str::to_owned),
        "content" => Some(said(source.get("content")?).text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn parts_are_joined_and_marked() {
        let content = message(json(
            r#"[{"type":"text","text":"See"},"this",{"type":"image_url","image_url":"data:image/png;base64,AAAA"},
               {"type":"input_audio","input_audio":{"data":"AAAA"}},{"type":"file","file":{"file_id":"f"}},
               {"type":"document","source":{"type":"text","data":"inline"}},{"type":"thinking","thinking":"hm"},
               {"type":"hologram"},{"type":"text","text":""}]"#,
        ));
        assert_eq!(content.text, "See\nthis\n[image]\n[audio]\n[file]\ninline\n[file]");
        assert_eq!(content.reasoning.as_deref(), Some("hm"));
        assert_eq!(content.unknown, ["hologram"]);
    }

    #[test]
    fn a_result_that_is_no_list_of_parts_stays_json() {
        assert_eq!(result(json(r#"[{"type":"text","text":"4C"},{"type":"text","text":"wind"}]"#)).text, "4C\nwind");
        assert_eq!(result(json(r#"{"t": 4.0, "a": [1, 2]}"#)).text, r#"{"t":4.0,"a":[1,2]}"#);
        assert_eq!(result(json(r#"[1, 2]"#)).text, "[1,2]");
        assert_eq!(result(json(r#"[]"#)).text, "[]");
        assert_eq!(result(json(r#"[{"type":"row"}]"#)).text, r#"[{"type":"row"}]"#);
        assert_eq!(result(Json::Null).text, "");
    }
}
