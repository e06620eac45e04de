//! What a tool's own observation says: which call it answers, its arguments, its result.

use crate::formats::common::blocks::result_text_of;
use crate::formats::merge::ToolUse;
use crate::formats::turns::{Side, taken_out, turns};
use crate::json::{Json, Object};
use crate::trace::Role;

/// Names under which the id of the call may stand.
const IDS: [&str; 6] = ["tool_call_id", "toolCallId", "tool_use_id", "call_id", "gen_ai.tool.call.id", "tool.call.id"];

/// Names under which arguments stand alone within an input.
const ARGUMENTS: [&str; 5] = ["input", "args", "arguments", "parameters", "tool_input"];

/// What a tool ran, from its recorded input and output; further places may hold the id of the call.
pub(crate) fn tool_use(
    name: &str,
    input: &Json,
    output: &Json,
    error: Option<&str>,
    places: &[Option<&Json>],
    warnings: &mut Vec<String>,
) -> ToolUse {
    let (input_held, output_held) = (taken_out(input), taken_out(output));
    let (input, output) = (input_held.as_ref().unwrap_or(input), output_held.as_ref().unwrap_or(output));
    let id_at = |place: &Json| IDS.iter().find_map(|key| place.get(key)?.as_text()).map(str::to_owned);
    let inner = output.get("output").filter(|inner| matches!(inner, Json::Object(_)));
    let (result, result_id, failed) = result(inner.unwrap_or(output), warnings);
    // A call of LangChain's is recorded whole: {name, args, id, type: tool_call}.
    let call =
        (input.get("type").and_then(Json::as_text) == Some("tool_call")).then(|| input.get("id")?.as_text()).flatten();
    let found = [Some(output), inner, Some(input)].into_iter().chain(places.iter().copied()).flatten().find_map(id_at);
    let call_id = result_id.or(found).or(call.map(str::to_owned));
    let (result, is_error) = match (result, error) {
        (None, Some(error)) => (Some(error.to_owned()), true),
        (result, error) => (result, failed || error.is_some()),
    };
    ToolUse {
        call_id,
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        input: arguments(input),
        result,
        is_error,
    }
}

fn arguments(input: &Json) -> Option<Object> {
    let Json::Object(fields) = input else { return None };
    for key in ARGUMENTS {
        let Some(held) = input.get(key) else { continue };
        let taken_out = taken_out(held);
        let held = taken_out.as_ref().unwrap_or(held);
        let rest = |key: &str| matches!(key, "id" | "name" | "type" | "toolCallId" | "toolName" | "tool_call_id");
        let alone = fields.iter().all(|(other, _)| other == key || rest(other));
        if let (Json::Object(fields), true, false) = (held, alone, held.is_too_deep()) {
            return Some(Object::from(fields.clone()));
        }
    }
    (!input.is_too_deep()).then(|| Object::from(fields.clone()))
}

/// The result as text, the id of its call, and whether it is an error.
fn result(output: &Json, warnings: &mut Vec<String>) -> (Option<String>, Option<String>, bool) {
    if *output == Json::Null {
        return (None, None, false);
    }
    if matches!(output, Json::Object(_) | Json::List(_)) {
        let steps = turns(output, Side::Output, &mut Vec::new());
        if let [step] = steps.as_slice()
            && step.role == Role::Tool
        {
            let failed = step.metadata.as_ref().is_some_and(|metadata| metadata.contains_key("is_error"));
            return (Some(step.content.clone()), step.tool_call_id.clone(), failed);
        }
    }
    let alone = match output {
        Json::Object(fields) => match fields.as_slice() {
            [(key, held)] if key == "output" => Some(held),
            _ => None,
        },
        _ => None,
    };
    (Some(result_text_of(alone.unwrap_or(output), warnings)), None, false)
}
