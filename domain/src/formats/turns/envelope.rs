//! Objects around messages: requests, responses, and what tracers put around those.

use super::builder::{Builder, Message};
use super::fields::Fields;
use super::list::first_choice;
use super::message::{is_message, take_fields};
use super::parts::parts;
use super::{Side, calls, value};
use crate::json::Json;
use crate::trace::Role;

/// Keys under which the messages of a request or response stand, in the order in which they are tried.
const MESSAGES: [&str; 12] = [
    "messages",
    "contents",
    "candidates",
    "choices",
    "generations",
    "prompts",
    "prompt",
    "message",
    "completion",
    "input",
    "output",
    "args",
];

/// Keys that may hold the text of the system beside messages.
const SYSTEM: [&str; 7] = [
    "system",
    "instructions",
    "system_prompt",
    "systemPrompt",
    "system_instruction",
    "systemInstruction",
    "system_message",
];

/// Keys under which an answer may stand alone.
const ANSWERS: [&str; 6] = ["response", "result", "answer", "text", "generated_text", "outputs"];

/// Whether an object is an envelope that holds messages for sure.
pub(super) fn is_envelope(value: &Json) -> bool {
    !is_message(value)
        && ["messages", "contents", "candidates", "choices", "generations", "prompts", "prompt", "completion"]
            .iter()
            .any(|key| value.get(key).is_some_and(|held| *held != Json::Null))
        || value.get("object").and_then(Json::as_text) == Some("response")
        || value.get("message").is_some_and(is_message)
}

/// Opens an envelope; whether it was one.
pub(super) fn take(object: &Json, levels: usize, builder: &mut Builder) -> bool {
    if is_message(object) {
        return false;
    }
    let filled = |key: &&&str| object.get(key).is_some_and(|held| *held != Json::Null);
    let at = |key: &str| object.get(key).unwrap_or(&Json::Null);
    if let Some(Json::List(items)) = object.get("content")
        && items.iter().any(is_message)
    {
        value(at("content"), levels, builder);
        return true;
    }
    let Some(key) = MESSAGES.iter().find(filled) else { return answer(object, levels, builder) };
    // A message without a role may have any of these keys; its content says that it is one.
    if object.get("content").is_some() && !matches!(*key, "messages") {
        return false;
    }
    system(object, builder);
    match (*key, at(key)) {
        ("choices", Json::List(items)) => value(choice(first_choice(items)), levels, builder),
        ("candidates", Json::List(items)) => {
            let first = first_choice(items);
            value(first.get("content").unwrap_or(first), levels, builder);
        }
        ("generations", held) => value(generation(held), levels, builder),
        ("prompts", Json::List(prompts)) => {
            if prompts.len() > 1 {
                builder.warn(format!("{} further prompts of a batch were left out", prompts.len() - 1));
            }
            value(prompts.first().unwrap_or(&Json::Null), levels, builder);
        }
        ("args", Json::List(arguments)) => {
            if let Some(kwargs) = object.get("kwargs").filter(|kwargs| arguments.is_empty() && is_envelope(kwargs)) {
                value(kwargs, levels, builder);
            } else if arguments.iter().any(is_message) {
                value(at("args"), levels, builder);
            } else {
                value(arguments.first().unwrap_or(&Json::Null), levels, builder);
            }
        }
        (_, held) => value(held, levels, builder),
    }
    // Calls may stand beside a text that is the whole of the message.
    if matches!(*key, "completion" | "output" | "message") && builder.side == Side::Output {
        let mut pieces = Vec::new();
        for key in ["tool_calls", "toolCalls"] {
            if let Some(recorded) = object.get(key) {
                calls::add_all(&mut pieces, recorded);
            }
        }
        builder.message(Message::new(Role::Assistant, pieces));
    }
    true
}

/// An object whose only known key holds an answer.
fn answer(object: &Json, levels: usize, builder: &mut Builder) -> bool {
    if object.get("content").is_some() || object.get("parts").is_some() || object.get("tool_calls").is_some() {
        return false;
    }
    let only = |key: &&&str| matches!(object, Json::Object(fields) if fields.len() == 1) && object.get(key).is_some();
    match ANSWERS.iter().find(only) {
        Some(key) => {
            value(object.get(key).unwrap_or(&Json::Null), levels, builder);
            true
        }
        None => false,
    }
}

/// What the object says of the system.
fn system(object: &Json, builder: &mut Builder) {
    let holders = [Some(object), object.get("config"), object.get("options"), object.get("kwargs")];
    for holder in holders.into_iter().flatten() {
        let Some(held) = SYSTEM.iter().find_map(|key| holder.get(key)).filter(|held| **held != Json::Null) else {
            continue;
        };
        let taken_out = super::taken_out(held);
        let held = taken_out.as_ref().unwrap_or(held);
        if is_message(held) {
            return take_fields(&Fields::of(held).with("role", Json::Text("system".to_owned())), builder);
        }
        let content = held.get("parts").unwrap_or(held);
        let found = parts(content, &mut builder.warnings);
        return builder.message(Message::new(Role::System, found.pieces));
    }
}

/// A choice as a message of the agent.
fn choice(choice: &Json) -> &Json {
    match (choice.get("message"), choice.get("delta"), choice.get("text")) {
        (Some(message), ..) | (None, Some(message), _) => message,
        (.., Some(text)) => text,
        _ => choice,
    }
}

/// The first of the generations: lists of lists of `{text, message}`.
fn generation(held: &Json) -> &Json {
    let mut held = held;
    while let Json::List(items) = held {
        held = items.first().unwrap_or(&Json::Null);
    }
    match (held.get("message"), held.get("text")) {
        (Some(message), _) if *message != Json::Null => message,
        (_, Some(text)) => text,
        _ => held,
    }
}
