//! One message: the steps it holds, in order. Text is a step, each call a step of its own, a result a step.

use crate::formats::common::call_ids::CallIds;
use crate::formats::common::content::{self, Content};
use crate::formats::common::decode::decoded;
use crate::formats::common::record::{Bad, Out, Stop};
use crate::formats::common::roles::role_of;
use crate::formats::common::shared;
use crate::formats::common::time::timestamp;
use crate::formats::common::tool_input::{too_deep, tool_input};
use crate::json::{Json, Object, Value, take_field};
use crate::trace::{Role, Step};

/// The fields of a message, sorted by what they are for.
#[derive(Default)]
struct Fields {
    role: Option<Json>,
    content: Option<Json>,
    name: Option<String>,
    tool_calls: Vec<Json>,
    /// A call that is in no list, and its key.
    only_call: Option<(String, Json)>,
    tool_call_id: Option<String>,
    refusal: Option<String>,
    audio: Option<Json>,
    reasoning: Option<String>,
    /// Metadata of every step of the message.
    common: Object,
    /// Metadata of its first step: fields of the message, and below them those of its own metadata.
    first: Vec<(String, Json)>,
    below: Vec<(String, Json)>,
}

impl Fields {
    fn makes_calls(&self) -> bool {
        !self.tool_calls.is_empty() || self.only_call.is_some()
    }
}

/// Takes a message.
pub(super) fn take(item: Json, calls: &mut CallIds, out: &mut Out<'_>) -> Result<(), Stop> {
    let fields = match item {
        Json::Object(fields) => fields,
        other => match other.as_text().and_then(decoded) {
            Some(Json::Object(fields)) => fields,
            _ => return Err(Bad::new("", format!("a message must be an object, not {}", other.kind())).into()),
        },
    };
    let mut message = sort(fields, out)?;
    let role = role(&mut message)?;
    if is_tool_definition(role, &message) {
        out.warn("", "the definition of a tool in the place of a message was left out; it is no step");
        return Ok(());
    }
    if role == Role::Tool { result(message, calls, out) } else { spoken(role, message, calls, out) }
}

/// Whether it is a tool's definition that passes for a result: some frameworks record both in one list.
fn is_tool_definition(role: Role, message: &Fields) -> bool {
    let Some(content) = message.content.as_ref().filter(|_| role == Role::Tool && message.tool_call_id.is_none())
    else {
        return false;
    };
    let function = content.get("function").unwrap_or(&Json::Null);
    content.get("type").and_then(Json::as_text) == Some("function")
        && function.get("name").is_some()
        && (function.get("parameters").is_some() || function.get("description").is_some())
}

fn sort(fields: Vec<(String, Json)>, out: &mut Out<'_>) -> Result<Fields, Bad> {
    let mut message = Fields::default();
    for (key, value) in fields {
        if value == Json::Null {
            continue;
        }
        match (key.as_str(), value) {
            ("role", value) => message.role = Some(value),
            ("content", value) => message.content = Some(value),
            ("name", Json::Text(name)) => message.name = Some(name),
            ("tool_calls", Json::List(calls)) => {
                message.tool_calls = calls;
            }
            ("tool_calls" | "function_call", call @ Json::Object(_)) => message.only_call = Some((key, call)),
            ("tool_calls" | "function_call", other) => {
                return Err(Bad::new(&key, format!("must hold calls, not {}", other.kind())));
            }
            ("tool_call_id", id) => {
                message.tool_call_id = Some(id_text("tool_call_id", id)?).filter(|id| !id.is_empty())
            }
            // In the plural, with one id.
            ("tool_call_ids", Json::List(ids)) if matches!(ids[..], [Json::Text(_) | Json::Number(_)]) => {
                if let (None, Some(id)) = (&message.tool_call_id, ids.into_iter().next()) {
                    message.tool_call_id = Some(id_text("tool_call_ids", id)?).filter(|id| !id.is_empty());
                }
            }
            ("refusal", Json::Text(refusal)) => message.refusal = Some(refusal),
            ("audio", audio @ Json::Object(_)) => message.audio = Some(audio),
            ("reasoning_content" | "reasoning" | "thinking", Json::Text(text)) => message.reasoning = Some(text),
            (_, value) if value.is_too_deep() => return Err(too_deep().within(&key)),
            ("timestamp" | "created_at" | "created", value) => match timestamp(&value) {
                Some(moment) => {
                    message.common.insert_missing("timestamp", || Value::Text(moment));
                }
                None => {
                    out.warn(&key, "is no date or time; it was kept as original_time in the step's metadata");
                    message.first.push(("original_time".to_owned(), value));
                }
            },
            ("weight", value) => {
                message.common.insert(&key, value.into_value());
            }
            ("metadata", Json::Object(fields)) => {
                message.below.extend(fields);
            }
            (_, value) => {
                message.first.push((key, value));
            }
        }
    }
    Ok(message)
}

/// Finds the role. What answers a call is a result, and what makes one is the agent's, whatever the message calls itself.
fn role(message: &mut Fields) -> Result<Role, Bad> {
    let name = match message.role.take() {
        Some(Json::Text(name)) => name,
        Some(other) => return Err(Bad::new("role", format!("must be a string, not {}", other.kind()))),
        None => return Err(Bad::new("role", "is missing; use system, user, assistant or tool")),
    };
    let known = role_of(&name);
    let role = if message.makes_calls() {
        Role::Assistant
    } else if message.tool_call_id.is_some() {
        Role::Tool
    } else {
        known.unwrap_or(Role::User)
    };
    if known.is_none() {
        message.common.insert("original_role", name);
    }
    Ok(role)
}

fn result(mut message: Fields, calls: &mut CallIds, out: &mut Out<'_>) -> Result<(), Stop> {
    let content = content::result(message.content.take().unwrap_or(Json::Null));
    warn_unknown(&content, out);
    let (id, called) = calls.result(message.tool_call_id.take(), message.name.as_deref());
    out.step(Step {
        role: Role::Tool,
        content: content.text,
        tool_name: message.name.take().or(called),
        tool_input: None,
        tool_call_id: Some(id),
        metadata: metadata(&mut message),
    })
}

fn spoken(role: Role, mut message: Fields, calls: &mut CallIds, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut content = content::message(message.content.take().unwrap_or(Json::Null));
    warn_unknown(&content, out);
    if let Some(refusal) = message.refusal.take().filter(|refusal| *refusal != content.text) {
        join(&mut content.text, &refusal);
    }
    if let (Some(audio), true) = (message.audio.take(), content.text.is_empty()) {
        content.text = audio.get("transcript").and_then(Json::as_text).unwrap_or("[audio]").to_owned();
    }
    if let Some(name) = message.name.take() {
        message.common.insert("name", name);
    }
    let reasoning = content.reasoning.take().into_iter().chain(message.reasoning.take()).find(|text| !text.is_empty());
    let silent = content.text.is_empty() && !message.makes_calls();
    match reasoning {
        Some(_) if role != Role::Assistant || silent => {
            out.warn("", "reasoning was left out: no step of the agent goes with it")
        }
        Some(text) => {
            message.first.push(("reasoning".to_owned(), Json::Text(text)));
        }
        None => {}
    }
    if !content.text.is_empty() {
        let metadata = metadata(&mut message);
        let content = content.text;
        out.step(Step { role, content, tool_name: None, tool_input: None, tool_call_id: None, metadata })?;
    }
    let listed = std::mem::take(&mut message.tool_calls).into_iter().enumerate();
    let listed = listed.map(|(n, recorded)| call(recorded).map_err(|bad| bad.within(&format!("tool_calls[{n}]"))));
    let only = message.only_call.take().map(|(key, recorded)| call(recorded).map_err(|bad| bad.within(&key)));
    for call in listed.chain(only) {
        let call = call?;
        let id = calls.call(call.id, &call.name);
        out.step(Step {
            role: Role::Assistant,
            content: String::new(),
            tool_name: Some(call.name),
            tool_input: Some(call.input),
            tool_call_id: Some(id),
            metadata: metadata(&mut message),
        })?;
    }
    Ok(())
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

fn warn_unknown(content: &Content, out: &mut Out<'_>) {
    for kind in &content.unknown {
        let shown: String = kind.chars().take(40).collect();
        out.warn("content", format!("a part of the unknown type {shown:?} was replaced by [file]"));
    }
}

/// Metadata of the message's next step.
fn metadata(message: &mut Fields) -> Option<Object> {
    let mut metadata = Object::from(std::mem::take(&mut message.first));
    metadata.fill(std::mem::take(&mut message.below).into());
    metadata.append(shared::metadata(&mut message.common));
    metadata.some()
}

struct Call {
    id: Option<String>,
    name: String,
    input: Object,
}

/// Reads a call in any of its forms: `function`, `custom`, or flat.
fn call(recorded: Json) -> Result<Call, Bad> {
    let Json::Object(mut fields) = recorded else {
        return Err(Bad::new("", format!("a call must be an object, not {}", recorded.kind())));
    };
    let id = match take_field(&mut fields, "id") {
        Some(id) if id != Json::Null => Some(id_text("id", id)?),
        _ => None,
    };
    let custom = take_field(&mut fields, "custom");
    let function = take_field(&mut fields, "function");
    let (path, free_form, mut inner) = match (function, custom) {
        (Some(Json::Object(inner)), _) => ("function", false, inner),
        (_, Some(Json::Object(inner))) => ("custom", true, inner),
        _ => ("", false, fields),
    };
    let name = match take_field(&mut inner, "name") {
        Some(Json::Text(name)) if !name.is_empty() => name,
        _ => return Err(Bad::new("name", "must be the name of the tool").within(path)),
    };
    let recorded = ["arguments", "args", "input", "parameters"].iter().find_map(|key| take_field(&mut inner, key));
    let input = match recorded {
        Some(Json::Text(text)) if free_form => Object::of("input", text),
        other => tool_input(other).map_err(|bad| bad.within("arguments").within(path))?,
    };
    Ok(Call { id, name, input })
}

/// An id; a number is taken as its digits.
fn id_text(field: &str, id: Json) -> Result<String, Bad> {
    match id {
        Json::Text(id) => Ok(id),
        Json::Number(number) => Ok(number.to_string()),
        other => Err(Bad::new(field, format!("must be a string, not {}", other.kind()))),
    }
}
