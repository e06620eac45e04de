//! One message: the steps it holds, in order.

use crate::formats::common::blocks::{Answer, Piece, blocks, result_text};
use crate::formats::common::decode::decoded;
use crate::formats::common::record::{Bad, Out, Stop};
use crate::formats::common::roles::role_of;
use crate::formats::common::time::timestamp;
use crate::formats::common::tool_input::too_deep;
use crate::formats::common::turns::{Turns, Voice, results_first, usage};
use crate::json::{Json, Value};
use crate::trace::Role;

/// Takes a message.
pub(super) fn take(item: Json, turns: &mut Turns, out: &mut Out<'_>) -> Result<(), Stop> {
    let item = match item {
        Json::Text(text) => decoded(&text).unwrap_or(Json::Text(text)),
        other => other,
    };
    let Json::Object(fields) = item else {
        return Err(Bad::new("", format!("a message must be an object, not {}", item.kind())).into());
    };
    let (mut voice, content, answers) = sort(fields, out)?;
    let content = content.unwrap_or(Json::Null);
    let mut pieces = if voice.role == Role::Tool && !holds_result(&content) {
        let mut warnings = Vec::new();
        let text = result_text(content, &mut warnings);
        warnings.into_iter().for_each(|warning| out.warn("content", warning));
        vec![Piece::from(Answer { id: answers, tool: None, text, is_error: false })]
    } else {
        let found = blocks(content);
        found.warnings.into_iter().for_each(|warning| out.warn("content", warning));
        voice.glued = found.cited && voice.role == Role::Assistant;
        found.pieces
    };
    if voice.role == Role::Tool {
        voice.role = Role::User;
    }
    if voice.role == Role::User {
        results_first(&mut pieces);
    }
    turns.begin(voice, out)?;
    for piece in pieces {
        turns.piece(piece, out)?;
    }
    let lost = turns.reasoning_lost;
    turns.end(out)?;
    if turns.reasoning_lost > lost {
        out.warn("content", "reasoning was left out: no step of the agent goes with it");
    }
    Ok(())
}

fn holds_result(content: &Json) -> bool {
    let Json::List(items) = content else { return false };
    let kinds = items.iter().filter_map(|item| item.get("type")?.as_text());
    kinds.into_iter().any(|kind| kind.ends_with("tool_result"))
}

/// Who speaks, what, and which call the whole answers.
fn sort(fields: Vec<(String, Json)>, out: &mut Out<'_>) -> Result<(Voice, Option<Json>, Option<String>), Bad> {
    let mut voice = Voice::new(Role::User);
    let (mut first, mut below) = (Vec::new(), Vec::new());
    let (mut role, mut content, mut answers) = (None, None, None);
    for (key, value) in fields {
        if value == Json::Null {
            continue;
        }
        match (key.as_str(), value) {
            ("role", value) => role = Some(value),
            ("content", value) => content = Some(value),
            ("type" | "cache_control", _) => {}
            ("tool_use_id" | "tool_call_id", Json::Text(id)) if !id.is_empty() => answers = Some(id),
            (_, value) if value.is_too_deep() => return Err(too_deep().within(&key)),
            ("usage", value @ Json::Object(_)) => voice.agent = usage(&value),
            ("timestamp" | "created_at" | "created", value) => match timestamp(&value) {
                Some(moment) => voice.each.insert_missing("timestamp", || Value::Text(moment)),
                None => {
                    out.warn(&key, "is no date or time; it was kept as original_time in the step's metadata");
                    first.push(("original_time".to_owned(), value));
                }
            },
            ("metadata", Json::Object(fields)) => {
                below.extend(fields);
            }
            (_, value) => {
                first.push((key, value));
            }
        }
    }
    voice.first = first.into();
    voice.first.fill(below.into());
    let name = match role {
        Some(Json::Text(name)) => name,
        Some(other) => return Err(Bad::new("role", format!("must be a string, not {}", other.kind()))),
        None => return Err(Bad::new("role", "is missing; use user, assistant or system")),
    };
    let known = role_of(&name);
    voice.role = if answers.is_some() { Role::Tool } else { known.unwrap_or(Role::User) };
    if known.is_none() {
        voice.each.insert("original_role", name);
    }
    Ok((voice, content, answers))
}
