//! Content blocks of Anthropic messages, as they stand in requests, responses, session files and spans.
//!
//! [`blocks`] takes a message's `content` in any form and gives its pieces in their order. It never fails: what is not
//! understood leaves a mark or stays as JSON, with a warning. Bytes of images and documents are never copied.

use super::content::{self, is_part};
use super::tool_input::tool_input;
use crate::formats::report::ISSUES_LISTED_MAX;
use crate::json::{Json, Object};

/// What a content holds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Blocks {
    /// The pieces, in order.
    pub(crate) pieces: Vec<Piece>,
    /// Whether any text cites: such texts are cut within sentences and joined without a line feed.
    pub(crate) cited: bool,
    /// What was changed or left out.
    pub(crate) warnings: Vec<String>,
}

/// One block. Most are texts, and there may be very many of them, so that what is larger is boxed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Something said.
    Text(String),
    /// What stands in place of something that is no text, such as `[image]`, or the text of a document.
    Mark(String),
    /// Reasoning; no part of what was said.
    Reasoning(String),
    /// A call of a tool, whoever runs it.
    Call(Box<Call>),
    /// The result of a call.
    Result(Box<Answer>),
    /// The summary that stands for all that was said before.
    Compaction(String),
    /// Something about the conversation that nobody said: its name and what it is.
    Note(Box<(String, Json)>),
}

impl From<Call> for Piece {
    fn from(call: Call) -> Self {
        Self::Call(Box::new(call))
    }
}

impl From<Answer> for Piece {
    fn from(answer: Answer) -> Self {
        Self::Result(Box::new(answer))
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    /// Its id, if it has one.
    pub(crate) id: Option<String>,
    /// The tool.
    pub(crate) name: String,
    /// The arguments.
    pub(crate) input: Object,
    /// Further fields of the block.
    pub(crate) metadata: Object,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// Id of the call, if it is given.
    pub(crate) id: Option<String>,
    /// The tool, if it is named.
    pub(crate) tool: Option<String>,
    /// The result as text.
    pub(crate) text: String,
    /// Whether it is marked as an error.
    pub(crate) is_error: bool,
}

/// The name of a tool that a call does not name.
const UNNAMED_TOOL: &str = "unknown";

/// Takes the content of a message apart.
pub(crate) fn blocks(content: Json) -> Blocks {
    let mut found = Blocks::default();
    match content {
        Json::Null => {}
        Json::Text(text) => found.pieces.push(Piece::Text(text)),
        Json::List(items) => match content::only_texts(&items) {
            Some(text) => found.pieces.push(Piece::Text(text)),
            None => items.into_iter().for_each(|item| found.take(item)),
        },
        block @ Json::Object(_) if block.get("type").is_some() => found.take(block),
        other => found.pieces.push(Piece::Text(without_base64(other).compact())),
    }
    found
}

/// Takes a block apart that is held elsewhere. What only says something is not copied: it may be an image.
pub(crate) fn block(block: &Json) -> Blocks {
    let kind = block.get("type").and_then(Json::as_text).unwrap_or("");
    if !matches!(block, Json::Object(_)) || is_taken_apart(kind, block) {
        return blocks(Json::List(vec![block.clone()]));
    }
    let mut found = Blocks::default();
    found.said(kind, block);
    found
}

/// Whether a block is more than what it says.
fn is_taken_apart(kind: &str, block: &Json) -> bool {
    kind.ends_with("tool_use")
        || kind.ends_with("tool_result")
        || matches!(kind, "compaction" | "tool_addition" | "tool_removal")
        || kind.is_empty() && block.get("tool_use_id").is_some()
}

/// A result's content as text: a string as it is, parts joined by line feeds, any other JSON compact.
pub(crate) fn result_text(content: Json, warnings: &mut Vec<String>) -> String {
    match content {
        Json::Text(text) => text,
        other => result_text_of(&other, warnings),
    }
}

/// The same of what is held elsewhere.
pub(crate) fn result_text_of(content: &Json, warnings: &mut Vec<String>) -> String {
    match content {
        Json::Text(text) => text.clone(),
        Json::List(items) if items.iter().any(is_part) => {
            let mut text = String::new();
            for item in items {
                match item {
                    Json::Text(more) => content::join(&mut text, more),
                    part if is_part(part) => content::join(&mut text, &part_text(part, warnings)),
                    other => content::join(&mut text, &compact_without_base64(other)),
                }
            }
            text
        }
        part if is_part(part) => part_text(part, warnings),
        Json::Null => String::new(),
        Json::List(items) if items.is_empty() => String::new(),
        other => compact_without_base64(other),
    }
}

fn part_text(part: &Json, warnings: &mut Vec<String>) -> String {
    let content = content::parts(std::slice::from_ref(part));
    warn_unknown(content.unknown, warnings);
    content.text
}

impl Blocks {
    fn take(&mut self, block: Json) {
        if is_stray(&block) {
            return stray(&block, &mut self.pieces, &mut self.warnings);
        }
        let kind = match &block {
            // Nothing is said.
            Json::Null => return,
            Json::Text(text) if text.is_empty() => return,
            Json::Text(_) => "text".to_owned(),
            _ => block.get("type").and_then(Json::as_text).unwrap_or("").to_owned(),
        };
        match kind.as_str() {
            kind if kind == "tool_use" || kind.ends_with("_tool_use") => self.call(block),
            kind if kind == "tool_result" || kind.ends_with("_tool_result") => self.result(block),
            "" if block.get("tool_use_id").is_some() => self.result(block),
            "compaction" => {
                let text = block.get("content").cloned().map_or_else(String::new, |content| self.text_of(content));
                self.pieces.push(Piece::Compaction(text));
            }
            "tool_addition" | "tool_removal" => {
                if block.is_too_deep() {
                    self.warnings.push(format!("a {kind} was left out: it nests too deep"));
                } else {
                    let fields = fields_without(block, &["type", "cache_control"]);
                    self.pieces.push(Piece::Note(Box::new((kind, Json::Object(fields)))));
                }
            }
            _ => self.said(&kind, &block),
        }
    }

    fn call(&mut self, mut block: Json) {
        let name = match block.get("name").and_then(Json::as_text) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                self.warnings.push(format!("a call names no tool; the name {UNNAMED_TOOL:?} was given to it"));
                UNNAMED_TOOL.to_owned()
            }
        };
        let id = id_of(&block, &["id"]);
        let recorded = block.take("input");
        let compact = recorded.as_ref().filter(|input| input.is_too_deep()).map(Json::compact);
        let input = tool_input(recorded).unwrap_or_else(|_| {
            self.warnings.push(format!("the input of a call of {name:?} nests too deep and was kept as text"));
            Object::of("_raw", compact.unwrap_or_default())
        });
        let more = fields_without(block, &["type", "id", "name", "input", "cache_control"]);
        let worth: Vec<_> = more.into_iter().filter(|(_, value)| is_worth_keeping(value)).collect();
        let metadata = worth.into();
        self.pieces.push(Piece::from(Call { id, name, input, metadata }));
    }

    fn result(&mut self, mut block: Json) {
        let id = id_of(&block, &["tool_use_id", "tool_call_id"]);
        let content = block.take("content").unwrap_or(Json::Null);
        // Server tools have no flag; an error of theirs has a type of its own.
        let failed = content.get("type").and_then(Json::as_text).is_some_and(|kind| kind.ends_with("_error"));
        let is_error = block.get("is_error") == Some(&Json::Bool(true)) || failed;
        let tool = block.get("name").and_then(Json::as_text).map(str::to_owned);
        let text = result_text(content, &mut self.warnings);
        self.pieces.push(Piece::from(Answer { id, tool, text, is_error }));
    }

    fn said(&mut self, kind: &str, block: &Json) {
        self.cited |= matches!(block.get("citations"), Some(Json::List(items)) if !items.is_empty());
        let content = content::parts(std::slice::from_ref(block));
        warn_unknown(content.unknown, &mut self.warnings);
        if let Some(reasoning) = content.reasoning {
            self.pieces.push(Piece::Reasoning(reasoning));
        } else if matches!(kind, "" | "text" | "input_text" | "output_text" | "refusal") {
            self.pieces.push(Piece::Text(content.text));
        } else if !content.text.is_empty() {
            self.pieces.push(Piece::Mark(content.text));
        }
    }

    fn text_of(&mut self, content: Json) -> String {
        let content = content::message(content);
        warn_unknown(content.unknown, &mut self.warnings);
        content.text
    }
}

/// Whether it is nothing that a content is made of: a number, a boolean, a list.
pub(crate) fn is_stray(item: &Json) -> bool {
    !matches!(item, Json::Object(_) | Json::Text(_) | Json::Null)
}

/// Bytes of marks in a row, about a thousand of them; more would say nothing more.
const STRAY_BYTES_MAX: usize = 7_000;

/// Marks what is nothing that a content is made of. All in a row are one piece: there may be a quarter of a million of them, and a
/// piece takes a hundred times what a number does.
pub(crate) fn stray(item: &Json, pieces: &mut Vec<Piece>, warnings: &mut Vec<String>) {
    warn_unknown(vec![item.kind().to_owned()], warnings);
    match pieces.last_mut() {
        Some(Piece::Mark(before)) if before.len() > STRAY_BYTES_MAX && before.ends_with("[file]\n[file]") => {}
        Some(Piece::Mark(before)) => content::join(before, "[file]"),
        _ => pieces.push(Piece::Mark("[file]".to_owned())),
    }
}

fn warn_unknown(kinds: Vec<String>, warnings: &mut Vec<String>) {
    // A report lists no more, and a content may have a quarter of a million of them.
    let listed = ISSUES_LISTED_MAX.saturating_sub(warnings.len());
    for kind in kinds.into_iter().take(listed) {
        let shown: String = kind.chars().take(40).collect();
        warnings.push(format!("a part of the unknown type {shown:?} was replaced by [file]"));
    }
}

/// An id; a number is taken as its digits.
fn id_of(block: &Json, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match block.get(key)? {
        Json::Text(id) if !id.is_empty() => Some(id.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn fields_without(block: Json, keys: &[&str]) -> Vec<(String, Json)> {
    match block {
        Json::Object(fields) => fields.into_iter().filter(|(key, _)| !keys.contains(&key.as_str())).collect(),
        _ => Vec::new(),
    }
}

fn is_worth_keeping(value: &Json) -> bool {
    *value != Json::Null && !value.is_too_deep()
}

/// JSON text, with a mark in place of the bytes of every base64 source in it.
fn compact_without_base64(json: &Json) -> String {
    if has_base64(json) { without_base64(json.clone()).compact() } else { json.compact() }
}

fn has_base64(json: &Json) -> bool {
    match json {
        Json::List(items) => items.iter().any(has_base64),
        Json::Object(fields) => {
            json.get("type").and_then(Json::as_text) == Some("base64")
                || fields.iter().any(|(_, value)| has_base64(value))
        }
        _ => false,
    }
}

/// The same JSON, with a mark in place of the bytes of every base64 source in it.
fn without_base64(json: Json) -> Json {
    match json {
        Json::List(items) => Json::List(items.into_iter().map(without_base64).collect()),
        Json::Object(fields) => {
            let text = |key: &str| {
                fields.iter().rev().find(|(name, _)| name == key).and_then(|(_, value)| value.as_text()).unwrap_or("")
            };
            let mark = (text("type") == "base64")
                .then(|| if text("media_type").starts_with("image/") { "[image]" } else { "[file]" });
            let fields = fields.into_iter().map(|(key, value)| match mark {
                Some(mark) if key == "data" => (key, Json::Text(mark.to_owned())),
                _ => (key, without_base64(value)),
            });
            Json::Object(fields.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Blocks {
        blocks(serde_json::from_str(text).unwrap())
    }

    fn result(content: &str) -> String {
        let found = of(&format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":{content}}}]"#));
        match found.pieces.as_slice() {
            [Piece::Result(answer)] => answer.text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_part_is_marked_in_one_piece() {
        let found = of(r#"[1,2,[3],{"type":"image"},true]"#);
        assert_eq!(found.pieces, [Piece::Mark("[file]\n[file]\n[file]".into()), Piece::Mark("[image]\n[file]".into())]);
        let found = of(&format!("[{}]", vec!["1"; 5_000].join(",")));
        assert!(matches!(&found.pieces[..], [Piece::Mark(marks)] if marks.len() < STRAY_BYTES_MAX + 10));
    }

    #[test]
    fn every_kind_of_block_is_a_piece_in_its_place() {
        let found = of(
            r#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},
            {"type":"text","text":"Look","citations":null},{"type":"image","source":{"type":"base64","data":"AAAA"}},
            {"type":"document","source":{"type":"text","data":"inline"}},
            {"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]},
            {"type":"mcp_tool_use","id":"m1","name":"wx","server_name":"srv","input":"{\"a\":1}"},
            {"type":"mcp_tool_result","tool_use_id":"m1","is_error":true,"content":[{"type":"text","text":"no"}]},
            {"type":"compaction","content":"so far"},{"type":"tool_addition","tool":{"name":"x"}},{"type":"text","text":""}]"#,
        );
        let object = |text: &str| serde_json::from_str::<Object>(text).unwrap();
        let expected = vec![
            Piece::Reasoning("hm".into()),
            Piece::Text("Look".into()),
            Piece::Mark("[image]".into()),
            Piece::Mark("inline".into()),
            Piece::Mark("found".into()),
            Piece::from(Call {
                id: Some("m1".into()),
                name: "wx".into(),
                input: object(r#"{"a":1}"#),
                metadata: Object::of("server_name", "srv"),
            }),
            Piece::from(Answer { id: Some("m1".into()), tool: None, text: "no".into(), is_error: true }),
            Piece::Compaction("so far".into()),
            Piece::Note(Box::new(("tool_addition".into(), serde_json::from_str(r#"{"tool":{"name":"x"}}"#).unwrap()))),
            Piece::Text(String::new()),
        ];
        assert_eq!(found, Blocks { pieces: expected, cited: false, warnings: Vec::new() });
    }

    #[test]
    fn a_result_is_text_or_compact_json_without_bytes() {
        assert_eq!(result(r#""as is""#), "as is");
        assert_eq!(result("null"), "");
        assert_eq!(result("[]"), "");
        assert_eq!(result(r#"[{"type":"text","text":"a"},{"type":"image","source":{}}]"#), "a\n[image]");
        let reference = r#"{"type":"tool_reference","tool_name":"x"}"#;
        assert_eq!(result(&format!("[{reference}]")), format!("[{reference}]"));
        assert_eq!(result(&format!(r#"[{{"type":"image"}},{reference}]"#)), format!("[image]\n{reference}"));
        assert_eq!(
            result(r#"{"type":"web_fetch_result","d":{"type":"base64","media_type":"application/pdf","data":"QQ=="}}"#),
            r#"{"type":"web_fetch_result","d":{"type":"base64","media_type":"application/pdf","data":"[file]"}}"#
        );
    }

    #[test]
    fn what_is_not_understood_is_kept_with_a_warning() {
        let found = of(r#"["plain",{"type":"hologram"},{"type":"tool_use","input":[1]}]"#);
        assert_eq!(found.warnings.len(), 2);
        assert_eq!(found.pieces.first(), Some(&Piece::Text("plain".into())));
        assert_eq!(found.pieces.get(1), Some(&Piece::Mark("[file]".into())));
        assert!(
            matches!(found.pieces.get(2), Some(Piece::Call(call)) if call.name == UNNAMED_TOOL && call.id.is_none())
        );
        let deep = format!(r#"[{{"type":"tool_use","name":"f","input":{}1{}}}]"#, "[".repeat(110), "]".repeat(110));
        assert_eq!(of(&deep).warnings.len(), 1);
        assert_eq!(of("7").pieces, [Piece::Text("7".into())]);
    }
}
