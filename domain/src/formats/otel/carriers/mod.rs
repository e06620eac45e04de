//! Where the messages of a call stand: a file for each of the eight places that instrumentations have used.
//!
//! A span is read from the first of them that holds anything, never from two: some instrumentations write every message both to
//! the span and to its events. The carriers only find messages; what a message says is for [`turns`](crate::formats::turns).

mod ai_sdk;
mod details_event;
mod glued;
mod indexed_prompts;
mod message_events;
mod openinference;
mod raw_payload;
pub(super) mod semantic;
mod unindexed_prompts;

use crate::json::Json;
use crate::json::parse::whole_value;
use crate::otel::{Attributes, OtelLog, OtelSpan};

/// One message, a list of those of one time, or a whole input or output from which messages are to be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spoken {
    /// As recorded.
    pub(super) json: Json,
    /// Whether it is a whole input or output, of whatever form.
    pub(super) whole: bool,
    /// When it was recorded, if it has a time of its own; else 0.
    pub(super) time_ns: u64,
}

/// What a carrier holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Carried {
    /// Instructions that stand apart from the messages.
    pub(super) system: Option<Json>,
    /// What the call was given.
    pub(super) input: Vec<Spoken>,
    /// What it answered.
    pub(super) output: Vec<Spoken>,
}

impl Carried {
    fn is_empty(&self) -> bool {
        self.system.is_none() && self.input.is_empty() && self.output.is_empty()
    }

    fn some(self) -> Option<Self> {
        (!self.is_empty()).then_some(self)
    }
}

/// A span and the log records that belong to it, in their order.
#[derive(Clone, Copy)]
pub(super) struct Recording<'a> {
    pub(super) span: &'a OtelSpan,
    pub(super) logs: &'a [OtelLog],
    /// Whether the span is a call or an agent by its kind; only then its bare input and output are read.
    pub(super) speaks: bool,
}

/// The messages of a span, from the first carrier that holds any.
pub(super) fn carried(recording: Recording<'_>) -> Option<Carried> {
    let span = recording.span;
    semantic::read(&span.attributes, 0)
        .or_else(|| details_event::read(recording))
        .or_else(|| openinference::read(&span.attributes))
        .or_else(|| indexed_prompts::read(&span.attributes))
        .or_else(|| message_events::read(recording))
        .or_else(|| raw_payload::read(recording))
        .or_else(|| ai_sdk::read(&span.attributes))
        .or_else(|| unindexed_prompts::read(&span.attributes))
}

/// Names of attributes, or what they begin with, that a carrier reads.
pub(super) const NAMES: &[&str] = &[
    "gen_ai.system_instructions",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "llm.choices",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "input.value",
    "output.value",
    "input.mime_type",
    "output.mime_type",
    "ai.prompt",
    "ai.response.text",
    "ai.response.object",
    "ai.response.toolCalls",
    "ai.response.reasoning",
    "ai.result.text",
    "ai.result.object",
    "ai.result.toolCalls",
];

fn message(json: Json, time_ns: u64) -> Spoken {
    Spoken { json, whole: false, time_ns }
}

/// Messages of one time.
fn together(mut messages: Vec<Json>, time_ns: u64) -> Vec<Spoken> {
    match messages.len() {
        0 => Vec::new(),
        1 => messages.drain(..).map(|json| message(json, time_ns)).collect(),
        _ => vec![message(Json::List(messages), time_ns)],
    }
}

fn whole(json: Json) -> Spoken {
    Spoken { json, whole: true, time_ns: 0 }
}

/// The messages of a list, or the one that stands alone.
fn listed(json: Json) -> Vec<Json> {
    match json {
        Json::List(items) => items.into_iter().filter(|item| *item != Json::Null).collect(),
        Json::Null => Vec::new(),
        Json::Text(text) if text.trim().is_empty() => Vec::new(),
        other => vec![other],
    }
}

/// Whether there is no message in it.
fn is_empty(json: &Json) -> bool {
    match json {
        Json::List(items) => items.iter().all(|item| *item == Json::Null),
        Json::Text(text) => text.trim().is_empty(),
        other => *other == Json::Null,
    }
}

fn text(text: impl Into<String>) -> Json {
    Json::Text(text.into())
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A field of an object, taken out of it.
fn remove(fields: &mut Vec<(String, Json)>, key: &str) -> Option<Json> {
    let at = fields.iter().rposition(|(name, _)| name == key)?;
    Some(fields.remove(at).1).filter(|value| *value != Json::Null)
}

/// Content that is a list of blocks written as text, as that list; anything else as it is. Blocks are objects that each have a
/// `type`, or that are Bedrock's (`{"text": …}`, `{"toolUse": …}`, `{"toolResult": …}`).
fn blocks(content: Json) -> Json {
    const BEDROCK: [&str; 4] = ["text", "toolUse", "toolResult", "reasoningContent"];
    let is_block = |item: &Json| match item {
        Json::Object(fields) => {
            matches!(item.get("type"), Some(Json::Text(_)))
                || fields.iter().any(|(key, _)| BEDROCK.contains(&key.as_str()))
        }
        _ => false,
    };
    match decoded(&content) {
        Some(Json::List(items)) if !items.is_empty() && items.iter().all(is_block) => Json::List(items),
        _ => content,
    }
}

/// What a text holds, if it is JSON of an array or object; none for anything else.
fn decoded(json: &Json) -> Option<Json> {
    let text = json.as_text()?.trim_start();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    whole_value(text)
}

/// Whether a recorded number of choices says that several answers are alternatives.
fn asks_for_choices(attributes: &Attributes) -> bool {
    let count = attributes.get("gen_ai.request.choice.count").or_else(|| attributes.get("gen_ai.request.n"));
    matches!(count, Some(Json::Number(number)) if number.as_str().parse::<u32>().is_ok_and(|count| count > 1))
}
