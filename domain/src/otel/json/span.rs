//! One span.

use super::any_value::named;
use super::folded;
use crate::formats::common::time::timestamp;
use crate::json::Json;
use crate::otel::id::Recorded;
use crate::otel::{OtelEvent, OtelLink, OtelSpan, SpanKind, Status, StatusCode};

/// Reads a span; its context is not set yet.
///
/// # Errors
/// What is wrong with its ids, in words.
pub(super) fn span(recorded: Json) -> Result<OtelSpan, String> {
    let Json::Object(fields) = recorded else {
        return Err(format!("a span must be an object, not {}", recorded.kind()));
    };
    let (mut trace_id, mut span_id, mut parent) = (Json::Null, Json::Null, Json::Null);
    let (mut name, mut kind, mut start_ns, mut end_ns) = (String::new(), SpanKind::default(), 0, 0);
    let (mut attributes, mut events, mut links, mut status) = (Json::Null, Vec::new(), Vec::new(), Status::default());
    for (key, value) in fields {
        match (folded(&key).as_str(), value) {
            ("traceid", value) => trace_id = value,
            ("spanid", value) => span_id = value,
            ("parentspanid" | "parentid", value) => parent = value,
            ("name", Json::Text(text)) => name = text,
            ("kind", value) => kind = span_kind(&value),
            ("starttimeunixnano" | "starttime", value) => start_ns = nanoseconds(&value),
            ("endtimeunixnano" | "endtime", value) => end_ns = nanoseconds(&value),
            ("attributes", value) => attributes = value,
            ("events", Json::List(items)) => events = items.into_iter().filter_map(event).collect(),
            ("links", Json::List(items)) => links = items.iter().filter_map(link).collect(),
            ("status", value) => status = span_status(value),
            _ => {}
        }
    }
    let (trace_id, span_id) = ids(&trace_id, &span_id, &name)?;
    // An invalid parent is no parent: the span itself is good.
    let parent = if let Recorded::Id(id) = Recorded::read(&parent) { Some(id) } else { None };
    let mut span = OtelSpan::new(trace_id, span_id);
    span.parent = parent.filter(|parent| *parent != span_id);
    (span.name, span.kind, span.start_ns, span.end_ns) = (name, kind, start_ns, end_ns);
    (span.attributes, span.events, span.links, span.status) = (named(attributes), events, links, status);
    Ok(span)
}

/// Both ids of a span, or what is wrong with them.
pub(super) fn ids(
    trace_id: &Json,
    span_id: &Json,
    name: &str,
) -> Result<(crate::otel::OtelTraceId, crate::otel::OtelSpanId), String> {
    let wrong = |field: &str, recorded: &Json, absent: bool, bytes: usize| {
        let shown: String = recorded.compact().chars().take(60).collect();
        let name: String = name.chars().take(60).collect();
        let what = if absent { "is missing or zero".to_owned() } else { format!("{shown} is no id of {bytes} bytes") };
        format!("span {name:?}: {field} {what}")
    };
    let trace = match Recorded::<16>::read(trace_id) {
        Recorded::Id(id) => id,
        other => return Err(wrong("traceId", trace_id, other == Recorded::Absent, 16)),
    };
    match Recorded::<8>::read(span_id) {
        Recorded::Id(id) => Ok((trace, id)),
        other => Err(wrong("spanId", span_id, other == Recorded::Absent, 8)),
    }
}

/// Nanoseconds since the epoch: a number, its digits, the two halves of one, or a date and time. 0 for anything else.
pub(super) fn nanoseconds(recorded: &Json) -> u64 {
    let digits = match recorded {
        Json::Number(number) => number.as_str(),
        Json::Text(text) => text.trim(),
        Json::Object(_) => return halves(recorded).unwrap_or(0),
        _ => return 0,
    };
    if let Ok(nanoseconds) = digits.parse() {
        return nanoseconds;
    }
    if let Ok(number) = digits.parse::<f64>()
        && (0.0..18_446_744_073_709_551_615.0).contains(&number)
    {
        // Truncation is meant: the check above keeps the value in range.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        return number as u64;
    }
    let moment = timestamp(recorded).and_then(|text| text.parse::<jiff::Timestamp>().ok());
    moment.and_then(|moment| u64::try_from(moment.as_nanosecond()).ok()).unwrap_or(0)
}

/// `{"low": …, "high": …}`, two signed halves of 32 bits.
fn halves(recorded: &Json) -> Option<u64> {
    let half = |name| match recorded.get(name) {
        Some(Json::Number(number)) => {
            number.as_str().parse::<i64>().ok().map(|half| half.cast_unsigned() & 0xFFFF_FFFF)
        }
        _ => None,
    };
    Some(half("high")? << 32 | half("low")?)
}

fn span_kind(recorded: &Json) -> SpanKind {
    match recorded {
        Json::Number(number) => number.as_str().parse().map(SpanKind::from_number).unwrap_or_default(),
        Json::Text(text) => {
            let name = text.to_lowercase();
            match name.strip_prefix("span_kind_").unwrap_or(&name) {
                "internal" | "1" => SpanKind::Internal,
                "server" | "2" => SpanKind::Server,
                "client" | "3" => SpanKind::Client,
                "producer" | "4" => SpanKind::Producer,
                "consumer" | "5" => SpanKind::Consumer,
                _ => SpanKind::Unspecified,
            }
        }
        _ => SpanKind::Unspecified,
    }
}

/// The status of a code alone.
pub(super) fn status_code(recorded: &Json) -> StatusCode {
    match recorded {
        Json::Number(number) => number.as_str().parse().map(StatusCode::from_number).unwrap_or_default(),
        Json::Text(text) => {
            let name = text.to_lowercase();
            match name.strip_prefix("status_code_").unwrap_or(&name) {
                "ok" | "1" => StatusCode::Ok,
                "error" | "2" => StatusCode::Error,
                _ => StatusCode::Unset,
            }
        }
        _ => StatusCode::Unset,
    }
}

fn span_status(recorded: Json) -> Status {
    let mut status = Status::default();
    let Json::Object(fields) = recorded else { return Status { code: status_code(&recorded), ..status } };
    for (key, value) in fields {
        match (folded(&key).as_str(), value) {
            ("code" | "statuscode", value) => status.code = status_code(&value),
            ("message" | "description", Json::Text(text)) => status.message = text,
            _ => {}
        }
    }
    status
}

/// Reads an event; none if it has no name.
pub(super) fn event(recorded: Json) -> Option<OtelEvent> {
    let Json::Object(fields) = recorded else { return None };
    let mut event = OtelEvent::default();
    for (key, value) in fields {
        match (folded(&key).as_str(), value) {
            ("name", Json::Text(name)) => event.name = name,
            ("timeunixnano" | "timestamp" | "time", value) => event.time_ns = nanoseconds(&value),
            ("attributes", value) => event.attributes = named(value),
            _ => {}
        }
    }
    (!event.name.is_empty()).then_some(event)
}

fn link(recorded: &Json) -> Option<OtelLink> {
    let Json::Object(fields) = recorded else { return None };
    let (mut trace_id, mut span_id) = (None, None);
    for (key, value) in fields {
        match folded(key).as_str() {
            "traceid" => trace_id = Some(Recorded::read(value)),
            "spanid" => span_id = Some(Recorded::read(value)),
            _ => {}
        }
    }
    match (trace_id, span_id) {
        (Some(Recorded::Id(trace_id)), Some(Recorded::Id(span_id))) => Some(OtelLink { trace_id, span_id }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_every_form() {
        for (recorded, expected) in [
            ("1", 1),
            ("\"1700000000000000001\"", 1_700_000_000_000_000_001),
            ("18446744073709551615", u64::MAX),
            ("1.7e18", 1_700_000_000_000_000_000),
            (r#"{"low":-1,"high":1,"unsigned":true}"#, 0x1_FFFF_FFFF),
            ("\"2025-06-01T10:00:00Z\"", 1_748_772_000_000_000_000),
            ("null", 0),
            ("-1", 0),
            ("\"soon\"", 0),
        ] {
            assert_eq!(nanoseconds(&serde_json::from_str(recorded).unwrap()), expected, "{recorded}");
        }
    }

    #[test]
    fn kinds_and_states_come_as_numbers_and_names() {
        let kind = |text: &str| span_kind(&serde_json::from_str(text).unwrap());
        assert_eq!([kind("3"), kind("\"SPAN_KIND_CLIENT\""), kind("\"Client\"")], [SpanKind::Client; 3]);
        let status = |text: &str| span_status(serde_json::from_str(text).unwrap());
        let failed = Status { code: StatusCode::Error, message: "no".to_owned() };
        assert_eq!(status(r#"{"code":2,"message":"no"}"#), failed);
        assert_eq!(status(r#"{"code":"STATUS_CODE_ERROR","message":"no"}"#), failed);
        assert_eq!(status(r#"{}"#), Status::default());
    }

    #[test]
    fn links_may_be_arrays_and_wrong_ones_go() {
        let text = r#"{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","links":[
            {"traceId":[91,142,255,247,152,3,129,3,210,105,182,51,129,63,198,12],"spanId":[238,225,155,126,195,193,177,116]},
            {"traceId":7},3]}"#;
        let found = span(serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(found.links, [OtelLink { trace_id: found.trace_id, span_id: found.span_id }]);
    }

    #[test]
    fn wrong_ids_are_named() {
        let fault = |text: &str| span(serde_json::from_str(text).unwrap()).unwrap_err();
        assert_eq!(fault(r#"{"name":"a"}"#), "span \"a\": traceId is missing or zero");
        let text = r#"{"name":"a","traceId":"5b8efff798038103d269b633813fc60c","spanId":"zz"}"#;
        assert_eq!(fault(text), "span \"a\": spanId \"zz\" is no id of 8 bytes");
    }
}
