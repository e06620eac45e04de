//! One log record.

use super::any_value::{named, plain};
use super::folded;
use super::span::nanoseconds;
use crate::json::Json;
use crate::otel::id::Recorded;
use crate::otel::{Attributes, Context, OtelLog};

/// Reads a record; none if it belongs to no span. Its context is not set yet.
pub(super) fn log(recorded: Json) -> Option<OtelLog> {
    let Json::Object(fields) = recorded else { return None };
    let (mut trace_id, mut span_id, mut time_ns, mut observed_ns) = (Recorded::Absent, Recorded::Absent, 0, 0);
    let (mut event_name, mut attributes, mut body) = (String::new(), Attributes::default(), Json::Null);
    for (key, value) in fields {
        match (folded(&key).as_str(), value) {
            ("traceid", value) => trace_id = Recorded::read(&value),
            ("spanid", value) => span_id = Recorded::read(&value),
            ("timeunixnano", value) => time_ns = nanoseconds(&value),
            ("observedtimeunixnano", value) => observed_ns = nanoseconds(&value),
            ("eventname" | "name", Json::Text(name)) => event_name = name,
            ("attributes", value) => attributes = named(value),
            ("body", value) => body = plain(value),
            _ => {}
        }
    }
    let (Recorded::Id(trace_id), Recorded::Id(span_id)) = (trace_id, span_id) else { return None };
    if event_name.is_empty()
        && let Some(name) = attributes.text("event.name")
    {
        event_name = name.to_owned();
    }
    let time_ns = if time_ns == 0 { observed_ns } else { time_ns };
    Some(OtelLog { trace_id, span_id, time_ns, event_name, attributes, body, sequence: 0, context: Context::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_named_and_timed() {
        let text = r#"{"timeUnixNano":"0","observedTimeUnixNano":"5","traceId":"5b8efff798038103d269b633813fc60c",
            "spanId":"eee19b7ec3c1b174","attributes":[{"key":"event.name","value":{"stringValue":"gen_ai.choice"}}],
            "body":{"kvlistValue":{"values":[{"key":"index","value":{"intValue":"0"}}]}}}"#;
        let found = log(serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!((found.time_ns, found.event_name.as_str()), (5, "gen_ai.choice"));
        assert_eq!(found.body.compact(), r#"{"index":0}"#);
        assert_eq!(log(serde_json::from_str(r#"{"body":{"stringValue":"plain log"}}"#).unwrap()), None);
    }
}
