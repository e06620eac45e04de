//! A span as a row of a table, the form in which Phoenix exports spans: ids under `context`, attributes nested or with the
//! table's `attributes.` before their names.

use super::folded;
use super::span::{event, ids, nanoseconds, status_code};
use crate::json::Json;
use crate::json::parse::whole_value;
use crate::otel::id::Recorded;
use crate::otel::{Attributes, OtelSpan};

/// Whether an object, or the sketch of one, is a row.
pub(crate) fn is_row(object: &Json) -> bool {
    let has = |name: &str| object.get(name).is_some();
    has("context.trace_id") || has("context") && (has("span_kind") || has("parent_id")) && !has("messages")
}

/// Reads a row.
///
/// # Errors
/// What is wrong with its ids, in words.
pub(super) fn row(recorded: Json) -> Result<OtelSpan, String> {
    let Json::Object(fields) = recorded else {
        return Err(format!("a row must be an object, not {}", recorded.kind()));
    };
    let (mut trace_id, mut span_id, mut parent) = (Json::Null, Json::Null, Json::Null);
    let (mut name, mut span_kind, mut start_ns, mut end_ns) = (String::new(), None, 0, 0);
    let (mut nested, mut events, mut status) = (Vec::new(), Vec::new(), crate::otel::Status::default());
    for (key, value) in fields {
        if let Some(path) = key.strip_prefix("attributes.") {
            nested.push((path.to_owned(), value));
            continue;
        }
        match (folded(&key).as_str(), value) {
            ("context", context @ Json::Object(_)) => {
                trace_id = context.get("trace_id").cloned().unwrap_or(Json::Null);
                span_id = context.get("span_id").cloned().unwrap_or(Json::Null);
            }
            ("context.traceid", value) => trace_id = value,
            ("context.spanid", value) => span_id = value,
            ("parentid", value) => parent = value,
            ("name", Json::Text(text)) => name = text,
            ("spankind", Json::Text(text)) => span_kind = Some(text),
            ("starttime", value) => start_ns = nanoseconds(&value),
            ("endtime", value) => end_ns = nanoseconds(&value),
            ("statuscode", value) => status.code = status_code(&value),
            ("statusmessage", Json::Text(text)) => status.message = text,
            ("attributes", Json::Object(fields)) => nested.extend(fields),
            ("attributes", Json::Text(text)) => {
                if let Some(Json::Object(fields)) = whole_value(&text) {
                    nested.extend(fields);
                }
            }
            ("events", Json::List(items)) => events = items.into_iter().filter_map(event).collect(),
            _ => {}
        }
    }
    let (trace_id, span_id) = ids(&trace_id, &span_id, &name)?;
    let mut span = OtelSpan::new(trace_id, span_id);
    if let Recorded::Id(id) = Recorded::read(&parent) {
        span.parent = Some(id).filter(|parent| *parent != span_id);
    }
    (span.name, span.start_ns, span.end_ns, span.events, span.status) = (name, start_ns, end_ns, events, status);
    span.attributes = Attributes::flattened(nested);
    const KIND: &str = "openinference.span.kind";
    if let (Some(kind), None) = (span_kind, span.attributes.get(KIND)) {
        span.attributes.0.push((KIND.to_owned(), Json::Text(kind)));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_and_flat_rows_are_the_same_span() {
        let nested = r#"{"name":"M","span_kind":"LLM","parent_id":null,"start_time":"2025-06-01T10:00:00+00:00",
            "end_time":"2025-06-01T10:00:01+00:00","status_code":"OK","status_message":"","events":[],
            "context":{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"eee19b7ec3c1b174"},
            "attributes":{"llm":{"input_messages":[{"message":{"role":"user","content":"Hi"}}]}}}"#;
        let flat = r#"{"context.trace_id":"5b8efff798038103d269b633813fc60c","context.span_id":"eee19b7ec3c1b174",
            "name":"M","span_kind":"LLM","start_time":1748772000000000000,"end_time":1748772001000000000,"status_code":"OK",
            "attributes.llm.input_messages":[{"message":{"role":"user","content":"Hi"}}]}"#;
        let [nested, flat] = [nested, flat].map(|text| row(serde_json::from_str(text).unwrap()).unwrap());
        assert_eq!(nested, flat);
        assert_eq!(nested.attributes.text("llm.input_messages.0.message.content"), Some("Hi"));
        assert_eq!(nested.attributes.text("openinference.span.kind"), Some("LLM"));
        assert_eq!(nested.end_ns - nested.start_ns, 1_000_000_000);
    }
}
