//! One run: a span, and what the merging needs of it.

use super::runs::Run;
use crate::formats::common::record::Out;
use crate::formats::merge::{SourceKind, SourceSpan};
use crate::formats::observed::Observed;
use crate::formats::observed::facts::{facts, usage};
use crate::formats::observed::spans::{nanoseconds, raw, times};
use crate::formats::observed::tools::tool_use;
use crate::formats::turns::{of_call, taken_out};
use crate::json::{Json, Value};
use crate::trace::Span;
use std::borrow::Cow;

/// The value at a path of keys.
pub(super) fn at<'j>(value: &'j Json, path: &[&str]) -> Option<&'j Json> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The model of a run.
pub(super) fn model(run: &Json) -> Option<&str> {
    const PLACES: [&[&str]; 6] = [
        &["extra", "invocation_params", "model"],
        &["extra", "invocation_params", "model_name"],
        &["extra", "metadata", "ls_model_name"],
        &["invocation_params", "model"],
        &["outputs", "llm_output", "model_name"],
        &["outputs", "model"],
    ];
    PLACES.iter().find_map(|path| at(run, path)?.as_text())
}

/// Inputs or outputs of a run; either may be JSON within a string.
pub(super) fn side<'r>(run: &'r Json, key: &str) -> Cow<'r, Json> {
    let held = run.get(key).unwrap_or(&Json::Null);
    taken_out(held).map_or(Cow::Borrowed(held), Cow::Owned)
}

/// Takes a run.
pub(super) fn take(run: &Run, out: &mut Out<'_>) -> Observed {
    let fields = &run.fields;
    let text = |key: &str| fields.get(key).and_then(Json::as_text).filter(|text| !text.is_empty());
    let kind = text("run_type").unwrap_or("chain").to_lowercase();
    let name = text("name").unwrap_or(&kind).to_owned();
    let (start, end) = (nanoseconds(fields.get("start_time")), nanoseconds(fields.get("end_time")));
    let times = times(start, end, &run.id, out);
    let error = text("error").or_else(|| text("status").filter(|status| *status == "error").map(|_| ""));
    let (inputs, outputs) = (side(fields, "inputs"), side(fields, "outputs"));
    let mut warnings = Vec::new();
    let source_kind = match kind.as_str() {
        "llm" | "chat_model" => SourceKind::Llm,
        "tool" => SourceKind::Tool,
        "agent" => SourceKind::Agent,
        _ => SourceKind::Other,
    };
    let mut source = SourceSpan {
        id: run.id.clone(),
        parent: run.parent.clone(),
        kind: source_kind,
        start_ns: times.map_or(0, |(start, _)| start),
        end_ns: times.map_or(0, |(_, end)| end),
        order: text("dotted_order").unwrap_or("").to_owned(),
        ..SourceSpan::default()
    };
    match source_kind {
        SourceKind::Llm => {
            (source.input, source.output) = of_call(&inputs, &outputs, &mut warnings);
            source.facts = facts(tokens(fields, &outputs), model(fields), error, text("status").is_some());
        }
        SourceKind::Tool => {
            let metadata = at(fields, &["extra", "metadata"]);
            let places = [metadata, fields.get("extra")];
            let error = error.filter(|message| !message.is_empty());
            source.tool = Some(Box::new(tool_use(&name, &inputs, &outputs, error, &places, &mut warnings)));
        }
        SourceKind::Agent | SourceKind::Other => {}
    }
    for warning in warnings {
        out.warn(format!("runs[{}]", run.id.chars().take(40).collect::<String>()), warning);
    }
    let span = times.map(|(start_ns, end_ns)| Span {
        id: run.id.clone(),
        parent_id: run.parent.clone(),
        name,
        kind: Some(kind),
        start_ns,
        end_ns,
        input: raw(fields.get("inputs")),
        output: raw(fields.get("outputs")),
        step_indices: Vec::new(),
    });
    Observed { span, source }
}

fn tokens(run: &Json, outputs: &Json) -> Option<Value> {
    let mut generation = outputs.get("generations");
    while let Some(Json::List(items)) = generation {
        generation = items.first();
    }
    let message = generation.and_then(|generation| generation.get("message"));
    let message = message.map(|message| message.get("kwargs").unwrap_or(message));
    usage(&[
        outputs.get("usage_metadata"),
        message.and_then(|message| message.get("usage_metadata")),
        outputs.get("usage"),
        at(outputs, &["llm_output", "token_usage"]),
        message.and_then(|message| at(message, &["response_metadata", "token_usage"])),
        at(run, &["extra", "metadata", "usage_metadata"]),
        Some(run),
    ])
}
