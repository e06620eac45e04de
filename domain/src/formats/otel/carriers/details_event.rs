//! Carrier 2: the attributes of carrier 1 on an event or log record of the span, `gen_ai.client.inference.operation.details`.

use super::{Carried, Recording, decoded, semantic};
use crate::json::Json;
use crate::otel::Attributes;

const NAME: &str = "gen_ai.client.inference.operation.details";

/// Reads the first such event, or else the first such record, that holds anything.
pub(super) fn read(recording: Recording<'_>) -> Option<Carried> {
    let mut events = recording.span.events.iter().filter(|event| event.name == NAME);
    let mut logs = recording.logs.iter().filter(|log| log.event_name == NAME);
    events.find_map(|event| semantic::read(&event.attributes, 0)).or_else(|| {
        logs.find_map(|log| {
            semantic::read(&log.attributes, log.time_ns).or_else(|| semantic::read(&body(&log.body)?, log.time_ns))
        })
    })
}

/// A body that holds the attributes.
fn body(recorded: &Json) -> Option<Attributes> {
    match decoded(recorded).as_ref().unwrap_or(recorded) {
        Json::Object(fields) => Some(Attributes(fields.clone())),
        _ => None,
    }
}
