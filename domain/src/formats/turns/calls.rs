//! Tool calls, in the form of any library.

use crate::formats::common::blocks::{Call, Piece};
use crate::formats::common::tool_input::tool_input;
use crate::json::{Json, Object};
use std::collections::HashSet;

/// Keys under which arguments stand.
const ARGUMENTS: [&str; 5] = ["arguments", "args", "input", "parameters", "arguments_json"];

/// The name of a tool that a call does not name.
const UNNAMED: &str = "unknown";

/// A call: `{id, function: {name, arguments}}`, `{id, custom: {name, input}}`, `{id, name, args}`, `{toolCallId, toolName,
/// input}`, or an object around one of these.
pub(super) fn call(recorded: &Json) -> Option<Call> {
    let id = text(recorded, &["id", "call_id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id"]);
    if let Some(custom @ Json::Object(_)) = recorded.get("custom") {
        let name = text(custom, &["name"]).unwrap_or_else(|| UNNAMED.to_owned());
        return Some(Call { id, name, input: free_form(custom.get("input")), metadata: Object::new() });
    }
    let inner = ["function", "functionCall", "function_call", "toolUse", "tool_call"]
        .iter()
        .find_map(|key| recorded.get(key).filter(|inner| matches!(inner, Json::Object(_))));
    let holder = inner.unwrap_or(recorded);
    let name = text(holder, &["name", "toolName", "tool_name"]);
    let arguments = ARGUMENTS.iter().find_map(|key| holder.get(key));
    if name.is_none() && (arguments.is_none() || id.is_none()) {
        return None;
    }
    let id = id.or_else(|| text(holder, &["id", "toolUseId"]));
    let name = name.unwrap_or_else(|| UNNAMED.to_owned());
    Some(Call { id, name, input: input(arguments), metadata: Object::new() })
}

/// Arguments in any form.
pub(super) fn input(recorded: Option<&Json>) -> Object {
    tool_input(recorded.cloned()).unwrap_or_else(|_| {
        let text = recorded.map_or_else(String::new, Json::compact);
        Object::of("_raw", text)
    })
}

/// The input of a tool that takes any text.
pub(super) fn free_form(recorded: Option<&Json>) -> Object {
    match recorded {
        Some(Json::Text(text)) => Object::of("input", text.clone()),
        other => input(other),
    }
}

/// Adds a call to the pieces of a message, unless it stands there already in another form; the parsed form wins.
pub(super) fn add(pieces: &mut Vec<Piece>, more: Call) {
    let same = |call: &Call| match (&call.id, &more.id) {
        (Some(one), Some(other)) => one == other,
        _ => call.name == more.name && call.input == more.input,
    };
    let held = pieces.iter_mut().find_map(|piece| match piece {
        Piece::Call(call) if same(call) => Some(call),
        _ => None,
    });
    match held {
        Some(held) => {
            if held.input.contains_key("_raw") && !more.input.contains_key("_raw") || held.input.is_empty() {
                held.input = more.input;
            }
            held.id = held.id.take().or(more.id);
        }
        None => pieces.push(more.into()),
    }
}

/// Adds all calls of a list, a single call, or either within a string. Calls of one list are all different.
pub(super) fn add_all(pieces: &mut Vec<Piece>, recorded: &Json) {
    let taken_out = super::taken_out(recorded);
    let recorded = taken_out.as_ref().unwrap_or(recorded);
    match recorded {
        Json::List(items) => add_list(pieces, items),
        Json::Object(_) => {
            if let Some(call) = call(recorded) {
                add(pieces, call);
            }
        }
        _ => {}
    }
}

/// Adds all calls of a list.
pub(super) fn add_list(pieces: &mut Vec<Piece>, items: &[Json]) {
    let repeats = pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
    let mut ids: HashSet<String> = HashSet::new();
    for item in items {
        let taken_out = super::taken_out(item);
        let Some(call) = call(taken_out.as_ref().unwrap_or(item)) else { continue };
        if repeats || call.id.as_ref().is_some_and(|id| ids.contains(id)) {
            add(pieces, call);
        } else {
            ids.extend(call.id.clone());
            pieces.push(call.into());
        }
    }
}

/// A text under one of these keys; a number is taken as its digits, an empty text is none.
pub(super) fn text(value: &Json, keys: &[&str]) -> Option<String> {
    text_of(keys, |key| value.get(key))
}

/// The same of whatever has fields.
pub(super) fn text_of<'j>(keys: &[&str], field: impl Fn(&str) -> Option<&'j Json>) -> Option<String> {
    keys.iter().find_map(|key| match field(key)? {
        Json::Text(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    })
}
