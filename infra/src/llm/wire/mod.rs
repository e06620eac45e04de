//! The two wire formats: a call to the bytes of a request, the bytes of a response to a reply.

mod anthropic;
mod openai;
mod refusal;
#[cfg(test)]
mod tests;

pub(super) use refusal::{message, name, without_key};

use super::call::{Call, Stop, Usage};
use super::endpoint::Endpoint;
use super::form::Form;
use super::providers::Wire;
use super::schema::AnswerSchema;
use serde_json::value::RawValue;

/// What a response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) stop: Stop,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
}

/// The body of a request.
pub(super) fn body(endpoint: &Endpoint, call: &Call, form: Form) -> Result<Vec<u8>, serde_json::Error> {
    match endpoint.model.provider.wire {
        Wire::Anthropic => anthropic::body(endpoint, call, form),
        Wire::OpenAi => openai::body(endpoint, call, form),
    }
}

/// Headers of a request, the key among them.
pub(super) fn headers(endpoint: &Endpoint) -> Vec<(&'static str, String)> {
    let mut headers = vec![("content-type", "application/json".to_owned())];
    let key = endpoint.key.as_ref().map(|key| key.expose());
    match endpoint.model.provider.wire {
        Wire::Anthropic => {
            headers.push(("anthropic-version", anthropic::VERSION.to_owned()));
            headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
        }
        Wire::OpenAi => headers.extend(key.map(|key| ("authorization", format!("Bearer {key}")))),
    }
    headers
}

/// Reads a response of status 200.
///
/// # Errors
/// What is wrong with it, without any of it.
pub(super) fn read(wire: Wire, bytes: &[u8]) -> Result<Heard, String> {
    match wire {
        Wire::Anthropic => anthropic::read(bytes),
        Wire::OpenAi => openai::read(bytes),
    }
}

/// A schema's text, embedded as it is.
fn raw(text: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(text.to_owned())
}

/// The instructions of a call, with what the form needs said in words.
fn instructions(call: &Call, form: Form) -> String {
    let Some(schema) = &call.answer else { return call.instructions.clone() };
    let added = match form {
        Form::Schema | Form::ForcedTool => return call.instructions.clone(),
        Form::OfferedTool => format!("Give your answer by calling the tool `{}`, once.", schema.name()),
        Form::JsonObject | Form::Text => in_words(schema),
    };
    if call.instructions.is_empty() { added } else { format!("{}\n\n{added}", call.instructions) }
}

fn in_words(schema: &AnswerSchema) -> String {
    format!("Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{}", schema.text())
}
