//! Messages that cannot be decoded, for a door that refuses them. A file is read anyway: what is no message there is text.
//!
//! Only what is meant to be a list of messages is checked: text that begins as JSON does and is neither JSON nor a literal of
//! Python, or a value that cannot be messages at all.

use super::carriers::semantic::{INPUT, OUTPUT, SYSTEM};
use crate::formats::turns::taken_out;
use crate::json::Json;
use crate::otel::{Attributes, OtelLog, OtelSpan};

/// What is wrong with the messages of a span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("span {span_name:?} ({span_id}): {attribute} {message}")]
pub struct MessageFault {
    /// The span's name, cut.
    pub span_name: String,
    /// Its id.
    pub span_id: String,
    /// The attribute.
    pub attribute: String,
    /// What is wrong with it.
    pub message: String,
}

/// Checks the messages of a span, on it and on its events.
///
/// # Errors
/// [`MessageFault`], the first one.
pub fn check_messages(span: &OtelSpan) -> Result<(), MessageFault> {
    let events = span.events.iter().map(|event| &event.attributes);
    let found = std::iter::once(&span.attributes).chain(events).find_map(fault);
    match found {
        None => Ok(()),
        Some((attribute, message)) => Err(MessageFault {
            span_name: span.name.chars().take(60).collect(),
            span_id: span.span_id.to_string(),
            attribute: attribute.to_owned(),
            message,
        }),
    }
}

/// Checks the messages of a log record, in its attributes and its body.
///
/// # Errors
/// [`MessageFault`], the first one.
pub fn check_log_messages(log: &OtelLog) -> Result<(), MessageFault> {
    let body = if let Json::Object(fields) = &log.body { Attributes(fields.clone()) } else { Attributes::default() };
    match fault(&log.attributes).or_else(|| fault(&body)) {
        None => Ok(()),
        Some((attribute, message)) => Err(MessageFault {
            span_name: log.event_name.chars().take(60).collect(),
            span_id: log.span_id.to_string(),
            attribute: attribute.to_owned(),
            message,
        }),
    }
}

fn fault(attributes: &Attributes) -> Option<(&'static str, String)> {
    [SYSTEM, INPUT, OUTPUT].into_iter().find_map(|name| {
        let message = match attributes.get(name)? {
            value @ Json::Text(text) if text.trim_start().starts_with(['[', '{']) && taken_out(value).is_none() => {
                "is no valid JSON; was it cut by a limit on the length of attributes?".to_owned()
            }
            Json::List(items) if name != SYSTEM => {
                let wrong = items.iter().find(|item| !matches!(item, Json::Object(_) | Json::Text(_) | Json::Null))?;
                format!("must hold messages, not {}", wrong.kind())
            }
            value @ (Json::Bool(_) | Json::Number(_)) => format!("must hold messages, not {}", value.kind()),
            _ => return None,
        };
        Some((name, message))
    })
}
