//! The fields beside the messages: facts of the trace, the system prompt, and the response if there is one.

use crate::formats::common::head::HeadBuilder;
use crate::formats::common::record::{Bad, HeadField, Out};
use crate::json::Json;
use crate::trace::TraceHead;

/// What the fields hold.
pub(super) struct Found {
    pub(super) head: TraceHead,
    pub(super) system: Option<Json>,
    /// The response and where it stands.
    pub(super) answer: Option<(String, Json)>,
}

/// Sorts the fields of a record.
pub(super) fn read(fields: Vec<HeadField>, out: &mut Out<'_>) -> Result<Found, Bad> {
    let mut head = HeadBuilder::default();
    let (mut id, mut custom_id, mut system, mut answer) = (None, None, None, None);
    let mut model = None;
    let (own, fields) = own_message(fields);
    if let Some(message) = own {
        answer = Some((String::new(), message));
    }
    for (path, value) in fields {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            ["id"] => id = Some(value),
            ["custom_id"] => custom_id = Some(value),
            ["metadata"] => match value {
                Json::Object(_) | Json::Null => {
                    user(&value, &mut head);
                    head.metadata(value)?;
                }
                other => head.extra(path, other)?,
            },
            ["params" | "request" | "body" | "input", "metadata"] => {
                user(&value, &mut head);
                head.extra(path, value)?;
            }
            ["model"] | ["params" | "request" | "body" | "input", "model"] if value != Json::Null => {
                model = Some(value)
            }
            ["system"] | ["params" | "request" | "body" | "input", "system"] if system.is_none() => {
                system = Some(value).filter(|value| *value != Json::Null);
            }
            ["result"] => match batch_result(value)? {
                Ok(message) => answer = Some(("result.message".to_owned(), message)),
                Err(other) => head.extra(path, other)?,
            },
            [key] if answer.is_none() => match response(key, value) {
                Ok((at, message)) => answer = Some((at, message)),
                Err(other) => head.extra(path, other)?,
            },
            _ => head.extra(path, value)?,
        }
    }
    if let Some((_, message)) = &answer {
        model = model.or_else(|| message.get("model").filter(|model| matches!(model, Json::Text(_))).cloned());
    }
    head.fact("model", model.unwrap_or(Json::Null));
    if let Some(id) = id {
        head.external_id("id", id)?;
    }
    if let Some(id) = custom_id {
        if head.has_external_id() {
            head.extra(vec!["custom_id".to_owned()], id)?;
        } else {
            head.external_id("custom_id", id)?;
        }
    }
    Ok(Found { head: head.finish(out), system, answer })
}

/// The person whom a request names.
fn user(metadata: &Json, head: &mut HeadBuilder) {
    if let Some(user @ (Json::Text(_) | Json::Number(_))) = metadata.get("user_id") {
        head.fact("user", user.clone());
    }
}

/// A record that is a message itself: the message, and the fields that are the trace's.
fn own_message(fields: Vec<HeadField>) -> (Option<Json>, Vec<HeadField>) {
    let has = |name: &str| fields.iter().any(|(path, _)| matches!(path.as_slice(), [key] if key == name));
    if !(has("content") && has("role")) {
        return (None, fields);
    }
    let (mut message, mut rest) = (Vec::new(), Vec::new());
    for (path, value) in fields {
        match path.as_slice() {
            [key] if matches!(key.as_str(), "id" | "model") => {
                rest.push((path, value));
            }
            [key] if !matches!(key.as_str(), "custom_id" | "metadata" | "system" | "response" | "result" | "tools") => {
                message.push((key.clone(), value));
            }
            _ => rest.push((path, value)),
        }
    }
    (Some(Json::Object(message)), rest)
}

/// The message of a batch's result, or the value given back if it is none.
fn batch_result(mut value: Json) -> Result<Result<Json, Json>, Bad> {
    let is_message = matches!(value.get("message"), Some(Json::Object(_)));
    match is_message.then(|| value.take("message")).flatten() {
        Some(message) => Ok(Ok(with_role(message))),
        None => match value.get("type").and_then(Json::as_text) {
            Some(kind @ ("errored" | "canceled" | "expired")) => {
                Err(Bad::new("result", format!("is {kind:?}: there is no message to import")))
            }
            _ => Ok(Err(value)),
        },
    }
}

/// The response at a key and where it stands, or the value given back if it is none.
fn response(key: &str, mut value: Json) -> Result<(String, Json), Json> {
    let is_message = |json: &Json| {
        let kind = json.get("type").and_then(Json::as_text);
        json.get("content").is_some() && (kind == Some("message") || key == "response" && json.get("role").is_some())
    };
    if is_message(&value) {
        return Ok((key.to_owned(), with_role(value)));
    }
    let is_body = value.get("body").is_some_and(is_message);
    match is_body.then(|| value.take("body")).flatten() {
        Some(body) => Ok((format!("{key}.body"), with_role(body))),
        None => Err(value),
    }
}

/// A response is the agent's, whether it says so or not.
fn with_role(message: Json) -> Json {
    match message {
        Json::Object(mut fields) => {
            if !fields.iter().any(|(key, _)| key == "role") {
                fields.push(("role".to_owned(), Json::Text("assistant".to_owned())));
            }
            Json::Object(fields)
        }
        other => other,
    }
}
