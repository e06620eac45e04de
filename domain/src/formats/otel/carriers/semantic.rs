//! Carrier 1: the semantic conventions' `gen_ai.system_instructions`, `gen_ai.input.messages` and `gen_ai.output.messages` on the
//! span. Messages have parts; the instructions are parts without a role.

use super::{Carried, asks_for_choices, is_empty, listed, together};
use crate::formats::turns::taken_out;
use crate::json::Json;
use crate::otel::Attributes;

/// What stands apart from the messages.
pub(in crate::formats::otel) const SYSTEM: &str = "gen_ai.system_instructions";
/// What the call was given.
pub(in crate::formats::otel) const INPUT: &str = "gen_ai.input.messages";
/// What it answered.
pub(in crate::formats::otel) const OUTPUT: &str = "gen_ai.output.messages";

/// Reads the three attributes; messages get this time.
pub(super) fn read(attributes: &Attributes, time_ns: u64) -> Option<Carried> {
    let value = |name| attributes.get(name).and_then(taken_out).or_else(|| attributes.value(name));
    let messages = |name| value(name).map(listed).unwrap_or_default();
    let mut output = messages(OUTPUT);
    if asks_for_choices(attributes) || have_different_indices(&output) {
        output.truncate(1);
    }
    let system = value(SYSTEM).filter(|system| !is_empty(system));
    Carried { system, input: together(messages(INPUT), time_ns), output: together(output, time_ns) }.some()
}

/// Whether messages are numbered as alternatives.
fn have_different_indices(messages: &[Json]) -> bool {
    let mut indices = messages.iter().filter_map(|message| match message.get("index") {
        Some(Json::Number(number)) => Some(number.as_str()),
        _ => None,
    });
    indices.next().is_some_and(|first| indices.any(|other| other != first))
}
