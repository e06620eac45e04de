//! One observation: a span, and what the merging needs of it.

use super::media::marked;
use crate::formats::common::record::Out;
use crate::formats::merge::{SourceKind, SourceSpan};
use crate::formats::observed::Observed;
use crate::formats::observed::facts::{facts, usage};
use crate::formats::observed::spans::{nanoseconds, raw, times};
use crate::formats::observed::tools::tool_use;
use crate::formats::turns::{of_call, system_of_call, taken_out, turns};
use crate::json::{Json, Value};
use crate::trace::{Role, Span, Step};
use std::borrow::Cow;

/// The model of a generation.
pub(super) fn model(observation: &Json) -> Option<&str> {
    ["model", "providedModelName", "internalModel"].iter().find_map(|key| observation.get(key)?.as_text())
}

/// Takes an observation of this id.
pub(super) fn take(id: &str, observation: &Json, out: &mut Out<'_>) -> Observed {
    let text = |key: &str| observation.get(key).and_then(Json::as_text).filter(|text| !text.is_empty());
    let kind = text("type").unwrap_or("span").to_lowercase();
    let name = text("name").unwrap_or(&kind).to_owned();
    let parent = text("parentObservationId").map(str::to_owned);
    let (start, end) = (nanoseconds(observation.get("startTime")), nanoseconds(observation.get("endTime")));
    let times = times(start, end, id, out);
    let input = marked(observation.get("input").unwrap_or(&Json::Null));
    let output = marked(observation.get("output").unwrap_or(&Json::Null));
    let failed = text("level").is_some_and(|level| level.eq_ignore_ascii_case("error"));
    let error = failed.then(|| text("statusMessage").unwrap_or(""));
    let mut warnings = Vec::new();
    let source_kind = match kind.as_str() {
        "generation" | "llm" => SourceKind::Llm,
        "agent" => SourceKind::Agent,
        "tool" => SourceKind::Tool,
        _ => SourceKind::Other,
    };
    let mut source = SourceSpan {
        id: id.to_owned(),
        parent: parent.clone(),
        kind: source_kind,
        start_ns: times.map_or(0, |(start, _)| start),
        end_ns: times.map_or(0, |(_, end)| end),
        ..SourceSpan::default()
    };
    match source_kind {
        SourceKind::Llm | SourceKind::Agent => {
            (source.input, source.output) = of_call(&input, &output, &mut warnings);
            if source_kind == SourceKind::Llm {
                add_calls(observation, &mut source.output, &mut warnings);
                source.facts =
                    facts(tokens(observation), model(observation), error, observation.get("level").is_some());
            }
        }
        SourceKind::Tool => {
            let metadata = decoded(observation.get("metadata"));
            let attributes = metadata.as_deref().and_then(|metadata| metadata.get("attributes"));
            let places = [metadata.as_deref(), attributes];
            let error = error.filter(|message| !message.is_empty());
            source.tool = Some(Box::new(tool_use(&name, &input, &output, error, &places, &mut warnings)));
        }
        SourceKind::Other => {}
    }
    for warning in warnings {
        out.warn(format!("observations[{}]", id.chars().take(40).collect::<String>()), warning);
    }
    let kind = Some(if kind == "generation" { "llm".to_owned() } else { kind });
    let (input, output) = (raw(observation.get("input")), raw(observation.get("output")));
    let span = times.map(|(start_ns, end_ns)| Span {
        id: id.to_owned(),
        parent_id: parent,
        name,
        kind,
        start_ns,
        end_ns,
        input,
        output,
        step_indices: Vec::new(),
    });
    Observed { span, source }
}

/// Calls that were recorded beside the output only.
fn add_calls(observation: &Json, output: &mut Vec<Step>, warnings: &mut Vec<String>) {
    let has_calls = output.iter().any(|step| step.role == Role::Assistant && step.tool_name.is_some());
    let Some(calls @ Json::List(_)) = observation.get("toolCalls").filter(|_| !has_calls) else { return };
    let fields =
        vec![("role".to_owned(), Json::Text("assistant".to_owned())), ("tool_calls".to_owned(), calls.clone())];
    output.extend(turns(&Json::Object(fields), crate::formats::turns::Side::Output, warnings));
}

fn tokens(observation: &Json) -> Option<Value> {
    usage(&[observation.get("usageDetails"), observation.get("usage"), Some(&Json::Object(own_tokens(observation)))])
}

/// Tokens that stand in the observation itself.
fn own_tokens(observation: &Json) -> Vec<(String, Json)> {
    const KEYS: [(&str, &str); 6] = [
        ("inputUsage", "input"),
        ("outputUsage", "output"),
        ("promptTokens", "input"),
        ("completionTokens", "output"),
        ("inputTokens", "input"),
        ("outputTokens", "output"),
    ];
    KEYS.iter().filter_map(|(key, name)| Some(((*name).to_owned(), observation.get(key)?.clone()))).collect()
}

/// A value that may be JSON within a string.
pub(super) fn decoded(value: Option<&Json>) -> Option<Cow<'_, Json>> {
    value.map(|value| taken_out(value).map_or(Cow::Borrowed(value), Cow::Owned))
}

/// What an observation says of the system, for traces whose generations do not.
pub(super) fn system(observation: &Json) -> Vec<Step> {
    let (input, output) =
        (observation.get("input").unwrap_or(&Json::Null), observation.get("output").unwrap_or(&Json::Null));
    let given = system_of_call(&marked(input), &marked(output));
    given.into_iter().map(|step| Step { metadata: None, ..step }).collect()
}
