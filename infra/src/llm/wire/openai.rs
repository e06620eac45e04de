//! OpenAI's chat completions, and what servers that speak them do otherwise.

use super::anthropic::shape;
use super::{Heard, instructions, raw};
use crate::llm::call::{Call, Speaker, Stop, Usage};
use crate::llm::endpoint::Endpoint;
use crate::llm::form::Form;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_schema: Option<JsonSchema<'a>>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Box<RawValue>,
}

pub(super) fn body(endpoint: &Endpoint, call: &Call, form: Form) -> Result<Vec<u8>, serde_json::Error> {
    let system = instructions(call, form);
    let mut messages = Vec::with_capacity(call.turns.len() + 1);
    if !system.is_empty() {
        messages.push(Message { role: "system", content: Cow::Borrowed(&system) });
    }
    messages.extend(call.turns.iter().enumerate().map(|(index, turn)| {
        let role = match turn.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let content = match index {
            0 if !call.context.is_empty() => Cow::Owned(format!("{}{}", call.context, turn.text)),
            _ => Cow::Borrowed(turn.text.as_str()),
        };
        Message { role, content }
    }));
    // OpenAI's newer models refuse the old name; other servers mostly know the old name alone.
    let is_new = endpoint.model.provider.name == "openai" && endpoint.is_own;
    let response_format = match (&call.answer, form) {
        (Some(schema), Form::Schema) => Some(ResponseFormat {
            r#type: "json_schema",
            json_schema: Some(JsonSchema { name: schema.name(), strict: true, schema: raw(schema.strict_text())? }),
        }),
        (Some(_), Form::JsonObject) => Some(ResponseFormat { r#type: "json_object", json_schema: None }),
        _ => None,
    };
    serde_json::to_vec(&Body {
        model: &endpoint.model.name,
        messages,
        max_tokens: (!is_new).then_some(call.tokens_max),
        max_completion_tokens: is_new.then_some(call.tokens_max),
        temperature: call.temperature,
        stream: false,
        response_format,
    })
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    /// A text, or parts of one.
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Cached>,
}

#[derive(Deserialize)]
struct Cached {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Heard, String> {
    let response: Response = serde_json::from_slice(bytes).map_err(|error| shape(&error))?;
    let choice = response.choices.into_iter().next().ok_or("it has no choices")?;
    let text = match choice.message.content {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    };
    let counts = response.usage.unwrap_or_default();
    let cached = counts.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
    let declined = choice.message.refusal.is_some_and(|refusal| !refusal.is_empty());
    Ok(Heard {
        text,
        stop: match choice.finish_reason.as_deref() {
            _ if declined => Stop::Declined,
            Some("length") => Stop::Length,
            Some("content_filter") => Stop::Declined,
            _ => Stop::End,
        },
        model: response.model,
        usage: Usage {
            // Here the tokens read count those from the cache too.
            input: counts.prompt_tokens.unwrap_or(0).saturating_sub(cached),
            output: counts.completion_tokens.unwrap_or(0),
            cache_read: cached,
            cache_written: 0,
        },
    })
}
