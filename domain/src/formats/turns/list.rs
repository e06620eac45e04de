//! A list, told by its items.

use super::builder::{Builder, Message};
use super::langchain::{self, Dumped};
use super::message::is_message;
use super::parts::{is_known_part, listed_parts, parts};
use super::{Side, ai_sdk, calls, message};
use crate::formats::common::blocks::Piece;
use crate::formats::common::roles::role_of;
use crate::json::Json;
use crate::trace::Role;

/// Texts of a list that are a message each, however short.
const TEXTS_FREE: usize = 1_000;

/// Bytes of text for each beyond them.
const BYTES_PER_TEXT: usize = 64;

/// `["human", "…"]`: a role and what was said.
pub(super) fn is_pair(item: &Json) -> bool {
    matches!(item, Json::List(pair) if matches!(pair.as_slice(), [Json::Text(role), Json::Text(_) | Json::List(_)] if role_of(role).is_some()))
}

/// Takes a list.
pub(super) fn take(items: &[Json], levels: usize, builder: &mut Builder) {
    if let [Json::Text(role), content] = items
        && let Some(role) = role_of(role)
        && matches!(content, Json::Text(_) | Json::List(_))
    {
        let found = parts(content, &mut builder.warnings);
        return builder.message(Message { glued: found.glued, ..Message::new(role, found.pieces) });
    }
    if items.iter().any(|item| matches!(item, Json::List(_))) && !items.iter().any(is_pair) {
        return batch(items, levels, builder);
    }
    if is_choices(items) {
        return super::value(first_choice(items), levels, builder);
    }
    if builder.side == Side::Output && items.len() > 1 && items.iter().all(is_chunk) {
        return chunks(items, builder);
    }
    if builder.side == Side::Output
        && !items.is_empty()
        && items.iter().all(|item| ai_sdk::is_call(item) || is_call(item))
    {
        let mut pieces: Vec<Piece> = Vec::new();
        if builder.wants(Role::Assistant) {
            calls::add_list(&mut pieces, items);
        }
        return builder.message(Message::new(Role::Assistant, pieces));
    }
    // Parts without a message around them are one message.
    if !items.is_empty() && items.iter().all(|item| !is_message(item) && is_bare_part(item)) {
        if !builder.wants(builder.side.role()) {
            return;
        }
        let found = listed_parts(items, &mut builder.warnings);
        return builder.message(Message { glued: found.glued, ..Message::new(builder.side.role(), found.pieces) });
    }
    let is_bare = if are_data(items) { is_bare_or_text } else { is_bare };
    for same in items.chunk_by(|a, b| is_bare(a) && is_bare(b)) {
        match same {
            // Within a list of messages, an object is one, whatever else it may look like.
            [item @ Json::Object(_)] if is_message(item) => message::take(item, builder),
            [item] => super::value(item, levels, builder),
            // Numbers are data, not one message each, and so are thousands of words.
            bare => builder.text(Json::compact_list(bare)),
        }
    }
}

fn is_bare(item: &Json) -> bool {
    matches!(item, Json::Number(_) | Json::Bool(_))
}

fn is_bare_or_text(item: &Json) -> bool {
    is_bare(item) || matches!(item, Json::Text(_))
}

/// Whether the texts of a list are data, not one message each: there are more of them than anybody said, and they are short. A
/// message takes several hundred bytes of memory.
fn are_data(items: &[Json]) -> bool {
    let texts = || items.iter().filter_map(Json::as_text);
    let free = BYTES_PER_TEXT * TEXTS_FREE;
    items.len() > TEXTS_FREE && texts().map(str::len).sum::<usize>() + free < BYTES_PER_TEXT * texts().count()
}

/// Lists within a list are a batch, of which only the first is this call's.
fn batch(items: &[Json], levels: usize, builder: &mut Builder) {
    if items.len() > 1 && items.iter().all(|item| matches!(item, Json::List(_))) {
        builder.warn(format!("{} further elements of a batch were left out", items.len() - 1));
    }
    match items {
        [first @ Json::List(_), ..] => super::value(first, levels, builder),
        _ => items.iter().for_each(|item| super::value(item, levels, builder)),
    }
}

fn is_bare_part(item: &Json) -> bool {
    is_known_part(item) && !matches!(langchain::dumped(item), Some(Dumped::Message(_)))
        || matches!(item, Json::Object(fields) if fields.len() == 1 && matches!(item.get("text"), Some(Json::Text(_))))
}

fn is_call(item: &Json) -> bool {
    let kind = item.get("type").and_then(Json::as_text).unwrap_or("");
    matches!(item.get("function"), Some(Json::Object(_))) && matches!(kind, "function" | "")
        || kind == "tool_call" && item.get("name").is_some()
}

fn is_choices(items: &[Json]) -> bool {
    !items.is_empty()
        && items.iter().all(|item| {
            let marked =
                item.get("finish_reason").is_some() || item.get("index").is_some() || item.get("logprobs").is_some();
            item.get("role").is_none()
                && super::events::name(item).is_none()
                && (matches!(item.get("message"), Some(Json::Object(_))) || marked && item.get("text").is_some())
        })
}

/// The choice of index 0, or the first. The others are alternatives.
pub(super) fn first_choice(items: &[Json]) -> &Json {
    let is_first = |item: &&Json| matches!(item.get("index"), Some(Json::Number(number)) if number.as_str() == "0");
    items.iter().find(is_first).or_else(|| items.first()).unwrap_or(&Json::Null)
}

/// A piece of a streamed answer: a bare text, or a chunk.
fn is_chunk(item: &Json) -> bool {
    matches!(item, Json::Text(text) if super::strings::container(text).is_none()) || langchain::is_chunk(item)
}

fn chunks(items: &[Json], builder: &mut Builder) {
    let mut pieces: Vec<Piece> = Vec::new();
    for item in items {
        // Texts join as they are; an answer may have come in a hundred thousand of them.
        if let (Json::Text(more), Some(Piece::Text(text))) = (item, pieces.last_mut()) {
            text.push_str(more);
            continue;
        }
        let Some(Dumped::Message(message)) = langchain::dumped(item) else {
            pieces.extend(parts(item, &mut builder.warnings).pieces);
            continue;
        };
        pieces.extend(parts(message.get("content").unwrap_or(&Json::Null), &mut builder.warnings).pieces);
        for key in ["tool_calls", "invalid_tool_calls"] {
            if let Some(recorded) = message.get(key) {
                calls::add_all(&mut pieces, recorded);
            }
        }
    }
    builder.message(Message { glued: true, ..Message::new(Role::Assistant, pieces) });
}
