//! Messages of LangChain, in the forms in which it dumps them.
//!
//! `{"lc": 1, "type": "constructor", "id": [.., "AIMessage"], "kwargs": {..}}`, `{"type": "ai", "data": {..}}`,
//! `{"type": "ai", "content": ..}`, `["human", ".."]`, and objects that could not be dumped, of which only a `repr` is left.

use super::fields::Fields;
use super::python;
use crate::json::Json;

/// What a value is to LangChain.
pub(super) enum Dumped<'j> {
    /// A message, in the fields of an OpenAI one.
    Message(Fields<'j>),
    /// Something that nobody said.
    Nothing,
}

/// The message that a value dumps; none if it is of no such form.
pub(super) fn dumped(value: &Json) -> Option<Dumped<'_>> {
    let kind = value.get("type").and_then(Json::as_text).unwrap_or("");
    if value.get("lc").is_some() || matches!(kind, "constructor" | "not_implemented") {
        let Some(Json::List(path)) = value.get("id") else { return None };
        let class = path.last().and_then(Json::as_text).unwrap_or("");
        if class.starts_with("RemoveMessage") {
            return Some(Dumped::Nothing);
        }
        let fields = match value.get("kwargs") {
            Some(kwargs @ Json::Object(_)) => Fields::of(kwargs),
            _ => from_repr(value.get("repr").and_then(Json::as_text)?),
        };
        // Values of prompts and documents hold messages or text.
        if !is_class(class) && fields.get("content").is_none() {
            return None;
        }
        return Some(Dumped::Message(with_role(fields, class)));
    }
    if kind.starts_with("RemoveMessage") || kind == "remove" {
        return Some(Dumped::Nothing);
    }
    let role = value.get("role").is_some();
    match (is_name(kind), value.get("data"), value.get("content")) {
        (true, Some(data @ Json::Object(_)), None) => Some(Dumped::Message(with_role(Fields::of(data), kind))),
        (true, _, Some(_)) if !role => Some(Dumped::Message(with_role(Fields::of(value), kind))),
        _ => None,
    }
}

/// Whether the dump is a piece of a streamed answer.
pub(super) fn is_chunk(value: &Json) -> bool {
    let class = match value.get("id") {
        Some(Json::List(path)) if value.get("lc").is_some() => path.last().and_then(Json::as_text),
        _ => value.get("type").and_then(Json::as_text),
    };
    class.is_some_and(|class| class.ends_with("MessageChunk"))
}

fn is_class(class: &str) -> bool {
    class.strip_suffix("Chunk").unwrap_or(class).ends_with("Message")
}

/// Whether a type names a message.
fn is_name(kind: &str) -> bool {
    matches!(kind, "human" | "ai" | "system" | "tool" | "function" | "chat" | "developer" | "generic") || is_class(kind)
}

fn with_role<'j>(message: Fields<'j>, class: &str) -> Fields<'j> {
    let class = class.strip_suffix("Chunk").unwrap_or(class);
    let class = class.strip_suffix("Message").unwrap_or(class);
    let named = message.get("role").and_then(Json::as_text).map(str::to_owned);
    let role = match class.to_lowercase().as_str() {
        "human" => "user".to_owned(),
        "ai" => "assistant".to_owned(),
        "chat" | "generic" | "base" | "" => named.unwrap_or_else(|| "user".to_owned()),
        other => other.to_owned(),
    };
    message.without(&["type", "id"]).with("role", Json::Text(role))
}

/// The content within `HumanMessage(content='..', ..)`.
fn from_repr(repr: &str) -> Fields<'static> {
    let content = repr.split_once("content=").and_then(|(_, rest)| python::string(rest));
    Fields::of_content(Json::Text(content.unwrap_or_else(|| repr.to_owned())))
}
