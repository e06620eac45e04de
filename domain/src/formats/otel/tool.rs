//! What a tool's span ran, and what came of it.

use crate::formats::common::content;
use crate::formats::common::tool_input::tool_input;
use crate::formats::merge::ToolUse;
use crate::json::Json;
use crate::otel::{OtelSpan, StatusCode};
use std::borrow::Cow;

const NAMES: [&str; 4] = ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"];
const IDS: [&str; 4] = ["gen_ai.tool.call.id", "tool_call.id", "tool.call.id", "ai.toolCall.id"];
const INPUTS: [&str; 4] = ["gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value", "traceloop.entity.input"];
const OUTPUTS: [&str; 4] = ["gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output"];

/// Names of attributes that are read here.
pub(super) const READ: [[&str; 4]; 4] = [NAMES, IDS, INPUTS, OUTPUTS];

/// The arguments of a tool's span, as recorded.
pub(super) fn arguments(span: &OtelSpan) -> Option<Cow<'_, Json>> {
    INPUTS.iter().find_map(|name| span.attributes.held(name)).or_else(|| {
        // Strands writes them as the event of the message that made the call.
        event_field(span, "gen_ai.tool.message", "content")
    })
}

/// The result of a tool's span, as recorded.
pub(super) fn result(span: &OtelSpan) -> Option<Cow<'_, Json>> {
    OUTPUTS.iter().find_map(|name| span.attributes.held(name)).or_else(|| event_field(span, "gen_ai.choice", "message"))
}

fn event_field<'s>(span: &'s OtelSpan, event: &str, attribute: &str) -> Option<Cow<'s, Json>> {
    span.events.iter().filter(|other| other.name == event).find_map(|event| event.attributes.held(attribute))
}

/// What the span of a tool ran.
pub(super) fn tool_use(span: &OtelSpan) -> ToolUse {
    let text = |names: &[&str]| names.iter().find_map(|name| span.attributes.text(name)).map(str::to_owned);
    let from_name = || span.name.strip_prefix("execute_tool ").map(str::to_owned);
    ToolUse {
        call_id: text(&IDS),
        name: text(&NAMES).or_else(from_name).or_else(|| Some(span.name.clone()).filter(|name| !name.is_empty())),
        input: arguments(span).and_then(|recorded| tool_input(Some(recorded.into_owned())).ok()),
        result: result(span).map(|recorded| result_text(recorded.into_owned())),
        is_error: span.status.code == StatusCode::Error,
    }
}

fn result_text(recorded: Json) -> String {
    content::result(recorded).text
}
