//! Events of the OpenTelemetry conventions, one for each message: the role stands in the event's name.

use super::builder::Builder;
use super::fields::Fields;
use super::message;
use crate::json::Json;

/// The name of an event, if it is one.
pub(super) fn name(event: &Json) -> Option<&str> {
    let name = event.get("event.name").or_else(|| event.get("event_name"))?.as_text()?;
    name.starts_with("gen_ai.").then_some(name)
}

/// Takes an event.
pub(super) fn take(event: &Json, builder: &mut Builder) {
    let Some(name) = name(event) else { return };
    let taken_out = event.get("body").and_then(super::taken_out);
    let body = taken_out.as_ref().or_else(|| event.get("body")).filter(|body| matches!(body, Json::Object(_)));
    let body = body.unwrap_or(event);
    let role = match name {
        "gen_ai.choice" => {
            let index = body.get("index");
            if index.is_some_and(|index| !matches!(index, Json::Number(number) if number.as_str() == "0")) {
                return;
            }
            "assistant"
        }
        other => other.strip_prefix("gen_ai.").and_then(|rest| rest.strip_suffix(".message")).unwrap_or("user"),
    };
    let taken_out = body.get("message").and_then(super::taken_out);
    let message = taken_out.as_ref().or_else(|| body.get("message")).unwrap_or(body);
    let fields = match message {
        Json::Object(_) => Fields::of(message),
        Json::Null => return,
        other => Fields::of_content(other.clone()),
    };
    // The body's role counts only if it says something else than the name; but a result stays one.
    let own = message.get("role").and_then(Json::as_text).filter(|role| !role.is_empty());
    let role = if role == "tool" { role } else { own.unwrap_or(role) }.to_owned();
    let id = message.get("id").cloned().filter(|_| role == "tool" && message.get("tool_call_id").is_none());
    let fields = fields.with("role", Json::Text(role));
    let fields = match id {
        Some(id) => fields.with("tool_call_id", id),
        None => fields,
    };
    message::take_fields(&fields, builder);
}
