//! OTLP in protobuf.
//!
//! What is read is the same as of OTLP in JSON: see [`super::json`]. The parts of a request are counted before any is decoded.

pub mod messages;
mod parts;

use super::json::{Decoded, FAULTS_LISTED_MAX};
use super::{
    Attributes, BYTES, Context, OtelEvent, OtelId, OtelLink, OtelLog, OtelSpan, OtelSpanId, OtelTraceId, SpanKind,
    Status, StatusCode, double,
};
use crate::json::Json;
use crate::json::parse::Parts;
use bytes::Bytes;
use messages as proto;
use parts::Message;
use prost::Message as _;

/// Characters of a span's name that a fault repeats.
const NAME_CHARS_MAX: usize = 60;

/// Why a request cannot be decoded at all.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is no request of OTLP.
    #[error("not OTLP in protobuf: {0}")]
    Malformed(#[from] prost::DecodeError),
    /// It has more parts than a request of its size may have; see [`JSON_PARTS_FREE`](crate::limits::JSON_PARTS_FREE).
    #[error(
        "the request holds too many spans, attributes or values for its {0} bytes: they are nearly all empty; send them in \
         smaller batches"
    )]
    TooManyParts(usize),
}

/// Decodes a request for spans (`ExportTraceServiceRequest`).
///
/// # Errors
/// [`DecodeError`]; a span without valid ids is a fault of what was decoded.
pub fn decode_traces(bytes: Bytes) -> Result<Decoded, DecodeError> {
    let (size, parts) = (bytes.len(), counted(&bytes, Message::TracesRequest)?);
    let mut decoded = Decoded::default();
    for resource_spans in proto::TracesRequest::decode(bytes)?.resource_spans {
        let resource = resource_of(resource_spans.resource);
        let old = resource_spans.instrumentation_library_spans;
        for scope_spans in resource_spans.scope_spans.into_iter().chain(old) {
            let context = context(&resource, scope_spans.scope, scope_spans.spans.len(), &parts, size)?;
            scope_spans.spans.into_iter().for_each(|span| take_span(span, &context, &mut decoded));
        }
    }
    Ok(decoded)
}

/// Decodes a request for log records (`ExportLogsServiceRequest`).
///
/// # Errors
/// [`DecodeError`].
pub fn decode_logs(bytes: Bytes) -> Result<Decoded, DecodeError> {
    let (size, parts) = (bytes.len(), counted(&bytes, Message::LogsRequest)?);
    let mut decoded = Decoded::default();
    for resource_logs in proto::LogsRequest::decode(bytes)?.resource_logs {
        let resource = resource_of(resource_logs.resource);
        for scope_logs in resource_logs.scope_logs {
            let context = context(&resource, scope_logs.scope, scope_logs.log_records.len(), &parts, size)?;
            scope_logs.log_records.into_iter().for_each(|record| take_log(record, &context, &mut decoded));
        }
    }
    Ok(decoded)
}

/// What a request for spans counts as, in parts of about 64 bytes.
pub fn traces_parts(bytes: &[u8]) -> usize {
    parts::count(bytes, Message::TracesRequest, usize::MAX)
}

/// What a request for log records counts as, in parts of about 64 bytes.
pub fn logs_parts(bytes: &[u8]) -> usize {
    parts::count(bytes, Message::LogsRequest, usize::MAX)
}

/// What is left once the parts of a request are counted.
fn counted(bytes: &[u8], request: Message) -> Result<Parts, DecodeError> {
    let parts = Parts::of(bytes.len());
    if parts.take(parts::count(bytes, request, parts.left())) {
        Ok(parts)
    } else {
        Err(DecodeError::TooManyParts(bytes.len()))
    }
}

/// Where the items of a scope come from; each carries it, so it counts for each.
fn context(
    resource: &Attributes,
    scope: Option<proto::Scope>,
    items: usize,
    parts: &Parts,
    request_bytes: usize,
) -> Result<Context, DecodeError> {
    if items == 0 {
        return Ok(Context::default());
    }
    let scope = scope.unwrap_or_default();
    let context =
        Attributes::context(resource.clone(), &text(scope.name), &text(scope.version), attributes(scope.attributes));
    if parts.take(context.parts().saturating_mul(items)) {
        Ok(context)
    } else {
        Err(DecodeError::TooManyParts(request_bytes))
    }
}

fn take_span(recorded: proto::Span, context: &Context, decoded: &mut Decoded) {
    match span(recorded) {
        Ok(span) => decoded.spans.push(OtelSpan { context: context.clone(), ..span }),
        Err(fault) => {
            decoded.faults_count += 1;
            if decoded.faults.len() < FAULTS_LISTED_MAX {
                decoded.faults.push(fault);
            }
        }
    }
}

fn take_log(recorded: proto::LogRecord, context: &Context, decoded: &mut Decoded) {
    match log(recorded).filter(OtelLog::is_generative) {
        Some(log) => {
            let sequence = u32::try_from(decoded.logs.len()).unwrap_or(u32::MAX);
            decoded.logs.push(OtelLog { context: context.clone(), sequence, ..log });
        }
        None => decoded.logs_ignored += 1,
    }
}

/// The attributes of a resource that its spans carry.
fn resource_of(resource: Option<proto::Resource>) -> Attributes {
    attributes(resource.unwrap_or_default().attributes).small()
}

fn span(recorded: proto::Span) -> Result<OtelSpan, String> {
    let trace_id = id(&recorded.trace_id, "traceId", &recorded.name)?;
    let span_id: OtelSpanId = id(&recorded.span_id, "spanId", &recorded.name)?;
    let mut span = OtelSpan::new(trace_id, span_id);
    span.parent = OtelSpanId::from_bytes(&recorded.parent_span_id).filter(|parent| *parent != span_id);
    span.name = text(recorded.name);
    span.kind = SpanKind::from_number(recorded.kind.into());
    (span.start_ns, span.end_ns) = (recorded.start_time_unix_nano, recorded.end_time_unix_nano);
    span.attributes = attributes(recorded.attributes);
    span.events = recorded.events.into_iter().filter(|event| !event.name.is_empty()).map(event).collect();
    span.links = recorded.links.iter().filter_map(link).collect();
    if let Some(status) = recorded.status {
        span.status = Status { code: StatusCode::from_number(status.code.into()), message: text(status.message) };
    }
    Ok(span)
}

fn id<const N: usize>(bytes: &Bytes, field: &str, name: &Bytes) -> Result<OtelId<N>, String> {
    OtelId::from_bytes(bytes).ok_or_else(|| {
        let name: String = text(name.clone()).chars().take(NAME_CHARS_MAX).collect();
        let what = match bytes.iter().all(|byte| *byte == 0) {
            true => "is missing or zero".to_owned(),
            false => format!("has {} bytes instead of {N}", bytes.len()),
        };
        format!("span {name:?}: {field} {what}")
    })
}

fn event(recorded: proto::Event) -> OtelEvent {
    let attributes = attributes(recorded.attributes);
    OtelEvent { name: text(recorded.name), time_ns: recorded.time_unix_nano, attributes }
}

fn link(recorded: &proto::Link) -> Option<OtelLink> {
    let trace_id = OtelTraceId::from_bytes(&recorded.trace_id)?;
    Some(OtelLink { trace_id, span_id: OtelSpanId::from_bytes(&recorded.span_id)? })
}

/// None for a record that belongs to no span.
fn log(recorded: proto::LogRecord) -> Option<OtelLog> {
    let attributes = attributes(recorded.attributes);
    let mut event_name = text(recorded.event_name);
    if event_name.is_empty() {
        event_name = attributes.text("event.name").unwrap_or_default().to_owned();
    }
    let timed = recorded.time_unix_nano != 0;
    Some(OtelLog {
        trace_id: OtelTraceId::from_bytes(&recorded.trace_id)?,
        span_id: OtelSpanId::from_bytes(&recorded.span_id)?,
        time_ns: if timed { recorded.time_unix_nano } else { recorded.observed_time_unix_nano },
        event_name,
        attributes,
        body: value(recorded.body),
        sequence: 0,
        context: Context::default(),
    })
}

fn attributes(recorded: Vec<proto::KeyValue>) -> Attributes {
    Attributes(recorded.into_iter().map(|entry| (text(entry.key), value(entry.value))).collect())
}

fn value(recorded: Option<proto::AnyValue>) -> Json {
    match recorded.and_then(|recorded| recorded.value) {
        None => Json::Null,
        Some(proto::Value::Text(bytes)) => Json::Text(text(bytes)),
        Some(proto::Value::Bool(flag)) => Json::Bool(flag),
        Some(proto::Value::Int(number)) => Json::Number(number.into()),
        Some(proto::Value::Double(number)) => double(number),
        Some(proto::Value::Array(array)) => {
            Json::List(array.values.into_iter().map(|item| value(Some(item))).collect())
        }
        Some(proto::Value::Map(map)) => Json::Object(attributes(map.values).0),
        Some(proto::Value::Bytes(_)) => Json::Text(BYTES.to_owned()),
    }
}

/// Text; what is no UTF-8 in it becomes U+FFFD.
fn text(bytes: Bytes) -> String {
    match std::str::from_utf8(&bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
