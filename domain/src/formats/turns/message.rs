//! One message, of any dialect: who speaks, and the pieces of what is said.

use super::builder::{Builder, Message};
use super::calls::{self, text, text_of};
use super::fields::Fields;
use super::langchain::{self, Dumped};
use super::parts::{Parts, list_of_parts, parts};
use super::{ai_sdk, events, otel_parts, responses};
use crate::formats::common::blocks::{Answer, Piece, result_text_of};
use crate::formats::common::roles::role_of;
use crate::formats::common::shared;
use crate::formats::common::time::timestamp;
use crate::json::{Json, Object};
use crate::trace::Role;

/// Keys of messages. Writers that went through a message as if it were a list left these words as messages.
const KEYS: [&str; 10] =
    ["role", "content", "name", "type", "id", "tool_calls", "tool_call_id", "additional_kwargs", "parts", "refusal"];

/// Whether an object is a message in a form that is known.
pub(super) fn is_message(value: &Json) -> bool {
    value.get("role").and_then(Json::as_text).is_some()
        || langchain::dumped(value).is_some()
        || events::name(value).is_some()
        || responses::is_item(value)
        || ai_sdk::is_call(value)
}

/// Takes a message, or an object that may be one.
pub(super) fn take(recorded: &Json, builder: &mut Builder) {
    match langchain::dumped(recorded) {
        Some(Dumped::Message(message)) => return take_fields(&message, builder),
        Some(Dumped::Nothing) => return,
        None => {}
    }
    if events::name(recorded).is_some() {
        events::take(recorded, builder);
    } else if responses::is_item(recorded) {
        responses::take(recorded, builder);
    } else {
        take_fields(&Fields::of(recorded), builder);
    }
}

/// Takes what has the fields of a message.
pub(super) fn take_fields(message: &Fields<'_>, builder: &mut Builder) {
    let name = message.get("role").and_then(Json::as_text).map(str::trim).filter(|role| !role.is_empty());
    let holder = ["content", "parts"].iter().find_map(|key| message.get(key).filter(|held| **held != Json::Null));
    let content = holder.or_else(|| message.get("text")).unwrap_or(&Json::Null);
    if name.is_none() && is_junk(message, content) {
        builder.warn("a message that is only the name of a message's field was left out");
        return;
    }
    if name.is_some_and(|name| name.eq_ignore_ascii_case("thinking")) {
        let found = parts(content, &mut builder.warnings);
        let texts = found.pieces.into_iter().filter_map(|piece| match piece {
            Piece::Text(text) | Piece::Reasoning(text) => Some(text),
            _ => None,
        });
        return builder.reasoning(&texts.collect::<Vec<_>>().join("\n"));
    }
    let answers = call_id(message);
    let mut metadata = metadata(message);
    let known = name.map_or(Some(builder.side.role()), role_of);
    let mut role = known.unwrap_or(Role::User);
    let mut tool = text_of(&["name", "tool_name", "toolName"], |key| message.get(key));
    if let (None, Some(name)) = (known, name) {
        if builder.was_called(name) {
            role = Role::Tool;
            tool = Some(name.to_owned());
        } else {
            metadata.insert("original_role", name);
        }
    }
    if !builder.wants(role) {
        return;
    }
    let makes_calls = CALLS.iter().any(|key| message.get(key).is_some_and(|calls| !is_empty(calls)));
    if answers.is_some() && !makes_calls {
        role = Role::Tool;
    }
    if role == Role::Tool {
        return result(message, content, answers, tool, metadata, builder);
    }
    if let (Some(name), true) = (tool, role != Role::System) {
        metadata.insert("name", name);
    }
    let Parts { mut pieces, glued } = body(content, message, builder);
    let mut all = reasoning(message);
    all.append(&mut pieces);
    further(message, &mut all);
    let glued = glued && role == Role::Assistant;
    // Who calls a tool is the agent.
    let is_call = all.iter().any(|piece| matches!(piece, Piece::Call(_)));
    let role = if is_call && known.is_none() { Role::Assistant } else { role };
    builder.message(Message { role, pieces: all, metadata, glued });
}

/// Keys under which the calls of a message stand.
const CALLS: [&str; 5] = ["tool_calls", "toolCalls", "function_call", "invalid_tool_calls", "tool_call"];

fn body(content: &Json, message: &Fields<'_>, builder: &mut Builder) -> Parts {
    if let Some(call) = message.recorded().filter(|message| ai_sdk::is_call(message)) {
        return parts(call, &mut builder.warnings);
    }
    let has_known_key = ["content", "parts", "text", "refusal", "audio"].iter().any(|key| message.get(key).is_some());
    let has_calls = CALLS.iter().any(|key| message.get(key).is_some());
    let is_message =
        has_known_key || has_calls || ["role", "additional_kwargs"].iter().any(|key| message.get(key).is_some());
    let Some(block) = message.recorded().filter(|_| !is_message) else {
        return match content {
            // Data that is no part, such as a structured answer.
            Json::Object(fields)
                if !fields.is_empty() && content.get("type").is_none() && !is_untyped_part(content) =>
            {
                Parts { pieces: vec![Piece::Text(content.compact())], glued: false }
            }
            content => parts(content, &mut builder.warnings),
        };
    };
    // A block by itself, or data of any kind, which stays as it is.
    if block.get("type").and_then(Json::as_text).is_some() || is_untyped_part(block) {
        return parts(block, &mut builder.warnings);
    }
    let text = match block {
        Json::Object(fields) if fields.is_empty() => String::new(),
        other => other.compact(),
    };
    Parts { pieces: vec![Piece::Text(text)], glued: false }
}

fn is_untyped_part(part: &Json) -> bool {
    const MARKS: [&str; 11] = [
        "text",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "toolUse",
        "toolResult",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
    ];
    MARKS.iter().any(|key| part.get(key).is_some())
}

/// What stands beside the content: refusal, sound, calls under any key.
fn further(message: &Fields<'_>, pieces: &mut Vec<Piece>) {
    let says =
        |pieces: &[Piece], said: &str| pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text == said));
    if let Some(refusal) = text_of(&["refusal"], |key| message.get(key)).filter(|refusal| !says(pieces, refusal)) {
        pieces.push(Piece::Text(refusal));
    }
    let silent = !pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if !text.is_empty()));
    if let (Some(audio @ Json::Object(_)), true) = (message.get("audio"), silent) {
        let said = text(audio, &["transcript"]);
        pieces.push(said.map_or_else(|| Piece::Mark("[audio]".to_owned()), Piece::Text));
    }
    let more = message.get("additional_kwargs");
    for recorded in CALLS.iter().filter_map(|key| message.get(key)) {
        calls::add_all(pieces, recorded);
    }
    for recorded in CALLS.iter().filter_map(|key| more?.get(key)) {
        calls::add_all(pieces, recorded);
    }
}

fn reasoning(message: &Fields<'_>) -> Vec<Piece> {
    const KEYS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];
    let more = || text(message.get("additional_kwargs")?, &KEYS);
    let found = text_of(&KEYS, |key| message.get(key)).or_else(more);
    found.map(Piece::Reasoning).into_iter().collect()
}

/// A tool's result.
fn result(
    message: &Fields<'_>,
    content: &Json,
    mut answers: Option<String>,
    mut tool: Option<String>,
    metadata: Object,
    builder: &mut Builder,
) {
    if is_definition(content, answers.as_deref()) {
        builder.warn("the definition of a tool in the place of a message was left out; it is no step");
        return;
    }
    let failed = message.get("status").and_then(Json::as_text) == Some("error")
        || message.get("is_error") == Some(&Json::Bool(true));
    let held = parts_with_results(content, builder);
    let pieces = held.unwrap_or_else(|| {
        let listed = content.as_text().and_then(list_of_parts).map(Json::List);
        let content = listed.as_ref().unwrap_or(content);
        let text = otel_parts::texts_only(content).unwrap_or_else(|| result_text_of(content, &mut builder.warnings));
        vec![Piece::from(Answer { text, ..Answer::default() })]
    });
    let pieces = pieces.into_iter().map(|piece| match piece {
        Piece::Result(answer) => Piece::from(Answer {
            id: answer.id.or_else(|| shared::text(&mut answers)),
            tool: answer.tool.or_else(|| shared::text(&mut tool)),
            is_error: answer.is_error || failed,
            ..*answer
        }),
        other => other,
    });
    builder.message(Message { role: Role::Tool, pieces: pieces.collect(), metadata, glued: false });
}

/// The results that stand as parts in a tool's message.
fn parts_with_results(content: &Json, builder: &mut Builder) -> Option<Vec<Piece>> {
    let listed = content.as_text().and_then(list_of_parts).map(Json::List);
    let content = listed.as_ref().unwrap_or(content);
    if !matches!(content, Json::List(_) | Json::Object(_)) {
        return None;
    }
    let mut warnings = Vec::new();
    let pieces: Vec<Piece> =
        parts(content, &mut warnings).pieces.into_iter().filter(|piece| matches!(piece, Piece::Result(_))).collect();
    if pieces.is_empty() {
        return None;
    }
    builder.warnings.append(&mut warnings);
    Some(pieces)
}

/// Whether it is a tool's definition that passes for a result.
fn is_definition(content: &Json, answers: Option<&str>) -> bool {
    let taken_out = super::taken_out(content);
    let content = taken_out.as_ref().unwrap_or(content);
    answers.is_none()
        && content.get("type").and_then(Json::as_text) == Some("function")
        && matches!(content.get("function"), Some(Json::Object(_)))
}

fn call_id(message: &Fields<'_>) -> Option<String> {
    text_of(&["tool_call_id", "toolCallId", "tool_use_id", "call_id"], |key| message.get(key))
        .or_else(|| match message.get("tool_call_ids") {
            Some(Json::List(ids)) => match ids.as_slice() {
                [Json::Text(id)] => Some(id.clone()),
                _ => None,
            },
            _ => None,
        })
        .filter(|_| !message.recorded().is_some_and(ai_sdk::is_call))
}

fn metadata(message: &Fields<'_>) -> Object {
    let mut metadata = Object::new();
    let moment = ["timestamp", "created_at", "created"].iter().find_map(|key| timestamp(message.get(key)?));
    if let Some(moment) = moment {
        metadata.insert("timestamp", moment);
    }
    metadata
}

/// `{"content": "role"}`: a message that was gone through as if it were a list of messages.
fn is_junk(message: &Fields<'_>, content: &Json) -> bool {
    let Some(Json::Object(fields)) = message.recorded() else { return false };
    fields.len() == 1 && content.as_text().is_some_and(|word| KEYS.contains(&word.trim()))
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Text(text) => text.is_empty(),
        Json::List(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
