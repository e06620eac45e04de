//! Carrier 6: whole inputs and outputs: the events `gen_ai.content.prompt` and `gen_ai.content.completion`, the attributes
//! `traceloop.entity.input` and `input.value`. The attributes stand on spans of every kind, so they are read on calls and agents
//! only.

use super::{Carried, Recording, whole};
use crate::json::Json;

/// Reads the first pair that holds anything.
pub(super) fn read(recording: Recording<'_>) -> Option<Carried> {
    let span = recording.span;
    let event = |name: &str, attribute: &str| {
        let mut events = span.events.iter().filter(|event| event.name == name);
        events.find_map(|event| event.attributes.value(attribute))
    };
    let attribute = |name: &str| span.attributes.value(name).filter(|_| recording.speaks);
    pair(event("gen_ai.content.prompt", "gen_ai.prompt"), event("gen_ai.content.completion", "gen_ai.completion"))
        .or_else(|| pair(attribute("traceloop.entity.input"), attribute("traceloop.entity.output")))
        .or_else(|| pair(attribute("input.value"), attribute("output.value")))
}

/// A whole input and a whole output.
pub(super) fn pair(input: Option<Json>, output: Option<Json>) -> Option<Carried> {
    let spoken = |json: Option<Json>| json.filter(says_anything).map(whole).into_iter().collect();
    Carried { system: None, input: spoken(input), output: spoken(output) }.some()
}

fn says_anything(json: &Json) -> bool {
    match json {
        Json::Null => false,
        Json::Text(text) => !text.trim().is_empty(),
        Json::List(items) => !items.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}
