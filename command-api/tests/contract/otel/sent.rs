//! Spans and log records to send, in both encodings.

use crate::support::World;
use crate::support::answer::Answer;
use crate::support::request::Call;
use prost::Message as _;
use serde_json::{Value, json};
use stash_command_api::otlp::proto;

/// A trace id with this number.
pub(crate) fn trace(number: u64) -> String {
    format!("5b8efff798038103{number:016x}")
}

/// A span id with this number.
pub(crate) fn span_id(number: u64) -> String {
    format!("eee19b7e{number:08x}")
}

/// A span to send.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) name: String,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) attributes: Vec<(&'static str, String)>,
}

impl Sent {
    pub(crate) fn new(trace: &str, number: u64, name: &str) -> Self {
        Self {
            trace: trace.to_owned(),
            id: span_id(number),
            parent: None,
            name: name.to_owned(),
            start_ns: 1_700_000_000_000_000_000 + number * 1_000_000,
            end_ns: 1_700_000_000_000_500_000 + number * 1_000_000,
            attributes: Vec::new(),
        }
    }

    pub(crate) fn under(mut self, number: u64) -> Self {
        self.parent = Some(span_id(number));
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    fn json(&self) -> Value {
        let attribute = |(name, value): &(&str, String)| json!({"key": name, "value": {"stringValue": value}});
        json!({
            "traceId": self.trace, "spanId": self.id, "parentSpanId": self.parent.as_deref().unwrap_or(""),
            "name": self.name, "kind": 3, "startTimeUnixNano": self.start_ns.to_string(),
            "endTimeUnixNano": self.end_ns.to_string(), "status": {"code": 1},
            "attributes": self.attributes.iter().map(attribute).collect::<Vec<_>>(),
        })
    }

    fn proto(&self) -> proto::Span {
        let bytes = |text: &str| hex(text).into();
        proto::Span {
            trace_id: bytes(&self.trace),
            span_id: bytes(&self.id),
            parent_span_id: bytes(self.parent.as_deref().unwrap_or("")),
            name: self.name.clone().into(),
            kind: 3,
            start_time_unix_nano: self.start_ns,
            end_time_unix_nano: self.end_ns,
            attributes: self.attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
            status: Some(proto::Status { message: "".into(), code: 1 }),
            ..proto::Span::default()
        }
    }
}

fn attribute(name: &str, value: &str) -> proto::KeyValue {
    let value = proto::AnyValue { value: Some(proto::Value::Text(value.to_owned().into())) };
    proto::KeyValue { key: name.to_owned().into(), value: Some(value) }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap()).collect()
}

/// Request body in JSON.
pub(crate) fn in_json(spans: &[Sent]) -> Value {
    let service = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]});
    let spans: Vec<Value> = spans.iter().map(Sent::json).collect();
    json!({"resourceSpans": [{"resource": service, "scopeSpans": [{"scope": {"name": "test"}, "spans": spans}]}]})
}

/// Request body in protobuf.
pub(crate) fn in_protobuf(spans: &[Sent]) -> Vec<u8> {
    let resource = proto::Resource { attributes: vec![attribute("service.name", "shop")] };
    let scope = proto::Scope { name: "test".into(), ..proto::Scope::default() };
    let spans = spans.iter().map(Sent::proto).collect();
    let scope_spans = vec![proto::ScopeSpans { scope: Some(scope), spans }];
    let resource_spans =
        vec![proto::ResourceSpans { resource: Some(resource), scope_spans, ..proto::ResourceSpans::default() }];
    proto::TracesRequest { resource_spans }.encode_to_vec()
}

/// A message of a role with one part.
fn message(role: &str, part: &Value) -> Value {
    json!({"role": role, "parts": [part]})
}

fn said(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

/// The messages of a conversation in which each turn calls a tool and then answers, as far as the call with this number was given
/// them (from 0); and what that call answered.
fn history(call: u64) -> (Vec<Value>, Value) {
    let mut messages = vec![message("user", &said("Begin"))];
    for n in 0..call {
        let call = json!({"type": "tool_call", "id": format!("c{n}"), "name": "look", "arguments": {"n": n}});
        messages.push(message("assistant", &call));
        let result = json!({"type": "tool_call_response", "id": format!("c{n}"), "response": format!("seen {n}")});
        messages.push(message("tool", &result));
    }
    let answer = json!({"type": "tool_call", "id": format!("c{call}"), "name": "look", "arguments": {"n": call}});
    (messages, message("assistant", &answer))
}

/// A call of a model, which repeats the history so far.
pub(crate) fn call(trace: &str, number: u64) -> Sent {
    let (input, output) = history(number);
    Sent::new(trace, 10 * number + 10, &format!("chat {number}"))
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.request.model", "m-1")
        .with("gen_ai.input.messages", Value::from(input).to_string())
        .with("gen_ai.output.messages", json!([output]).to_string())
        .with("shop.basket", format!("basket {number}"))
}

/// The tool's run that a call caused.
pub(crate) fn tool(trace: &str, number: u64) -> Sent {
    Sent::new(trace, 10 * number + 15, "execute_tool look")
        .with("gen_ai.operation.name", "execute_tool")
        .with("gen_ai.tool.name", "look")
        .with("gen_ai.tool.call.id", format!("c{number}"))
        .with("gen_ai.tool.call.result", format!("seen {number}"))
}

/// The agent's run above all of it.
pub(crate) fn root(trace: &str) -> Sent {
    Sent::new(trace, 1, "invoke_agent clerk")
        .with("gen_ai.operation.name", "invoke_agent")
        .with("gen_ai.agent.name", "clerk")
        .with("session.id", "s-1")
}

/// A whole trace: an agent, so many calls, a tool's run for each.
pub(crate) fn whole(trace: &str, calls: u64) -> Vec<Sent> {
    let mut spans = vec![root(trace)];
    for n in 0..calls {
        spans.push(call(trace, n).under(1));
        spans.push(tool(trace, n).under(1));
    }
    spans
}

impl World {
    /// A request of spans in protobuf.
    pub(crate) fn traces_protobuf(&self, spans: &[Sent]) -> Call<'_> {
        self.post("/otel/v1/traces").header("content-type", "application/x-protobuf").body(in_protobuf(spans))
    }

    /// Sends spans in protobuf.
    pub(crate) async fn spans(&self, spans: &[Sent]) -> Answer {
        let answer = self.traces_protobuf(spans).send().await;
        assert!(answer.done(200).body.is_empty(), "all of it is taken");
        answer
    }

    /// Sends spans in JSON.
    pub(crate) async fn spans_json(&self, spans: &[Sent]) -> Answer {
        let answer = self.post("/otel/v1/traces").json(&in_json(spans)).send().await;
        assert_eq!(answer.done(200).json(), json!({}), "all of it is taken");
        answer
    }

    /// The trace as it is read after a request.
    pub(crate) async fn trace_after(&self, trace: &str, request: &Answer) -> Value {
        self.read_after(&format!("/traces/external:{trace}"), request).await.ok(200).json()
    }
}

/// A trace without what two traces of the same spans differ in: ids, times of arrival.
pub(crate) fn content(trace: &Value) -> Value {
    let mut trace = trace.clone();
    for field in ["id", "external_id", "created_at"] {
        trace.as_object_mut().unwrap().remove(field);
    }
    for step in trace["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().remove("id");
    }
    trace
}

/// Role, content and tool of each step.
pub(crate) fn steps(trace: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let step = |step: &Value| format!("{} {}{}", text(&step["role"]), text(&step["content"]), text(&step["tool_name"]));
    trace["steps"].as_array().unwrap().iter().map(step).collect()
}
