//! Log records that tell of messages.

use super::sent::{Sent, span_id, steps, trace};
use crate::support::World;
use prost::Message as _;
use serde_json::{Value, json};
use stash_command_api::otlp::proto;

const PATH: &str = "/otel/v1/logs";
const EVENT: &str = "gen_ai.client.inference.operation.details";

fn messages(role: &str, text: &str) -> String {
    json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
}

fn in_json(trace: &str, name: &str) -> Value {
    let attribute = |name: &str, value: String| json!({"key": name, "value": {"stringValue": value}});
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"timeUnixNano": "1700000001000000000", "traceId": trace, "spanId": span_id(1), "eventName": name, "attributes": [
            attribute("gen_ai.input.messages", messages("user", "Hi")),
            attribute("gen_ai.output.messages", messages("assistant", "Hello"))]},
        {"body": {"stringValue": "a line of a log"}}
    ]}]}]})
}

fn in_protobuf(trace: &str) -> Vec<u8> {
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap()).collect()
    };
    let attribute = |name: &str, value: String| {
        let value = proto::AnyValue { value: Some(proto::Value::Text(value.into())) };
        proto::KeyValue { key: name.to_owned().into(), value: Some(value) }
    };
    let record = proto::LogRecord {
        time_unix_nano: 1_700_000_001_000_000_000,
        trace_id: bytes(trace).into(),
        span_id: bytes(&span_id(1)).into(),
        event_name: EVENT.into(),
        attributes: vec![
            attribute("gen_ai.input.messages", messages("user", "Hi")),
            attribute("gen_ai.output.messages", messages("assistant", "Hello")),
        ],
        ..proto::LogRecord::default()
    };
    let scope_logs = vec![proto::ScopeLogs { scope: None, log_records: vec![record] }];
    let resource_logs = vec![proto::ResourceLogs { resource: None, scope_logs }];
    proto::LogsRequest { resource_logs }.encode_to_vec()
}

#[tokio::test]
async fn records_and_their_span_may_come_in_any_order_and_twice() {
    let world = World::new().await;
    let span = |number: u64| Sent::new(&trace(number), 1, "chat").with("gen_ai.operation.name", "chat");
    let json = async |number: u64| world.post(PATH).json(&in_json(&trace(number), EVENT)).send().await;
    let protobuf = async |number: u64| {
        let call = world.post(PATH).header("content-type", "application/x-protobuf");
        call.body(in_protobuf(&trace(number))).send().await
    };
    json(1).await.done(200);
    world.spans(&[span(1)]).await;
    world.spans(&[span(2)]).await;
    json(2).await.done(200);
    protobuf(3).await.done(200);
    protobuf(3).await.done(200);
    world.spans(&[span(3)]).await;
    let last = protobuf(3).await;
    assert!(last.done(200).body.is_empty());
    for number in 1..=3 {
        let read = world.trace_after(&trace(number), &last).await;
        assert_eq!(steps(&read), ["user Hi", "assistant Hello"], "{number}");
        assert_eq!(read["spans"][0]["name"], "chat");
    }
    assert_eq!(world.count("rm_otel_spans").await, 6);
}

#[tokio::test]
async fn other_records_are_passed_over_and_bad_messages_refused() {
    let world = World::new().await;
    let plain = world.post(PATH).json(&in_json(&trace(1), "http.request")).send().await;
    assert_eq!(plain.ok(200).json(), json!({}));
    let mut cut = in_json(&trace(1), EVENT);
    cut["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"][0]["value"]["stringValue"] = json!("[{\"ro");
    let said = world.post(PATH).json(&cut).send().await.detail(400, "invalid_request");
    assert!(said.contains("gen_ai.input.messages"), "{said}");
    assert_eq!(world.read("/otel/pending").await, json!([]));
    assert_eq!(world.tail().await, 0);
    let pending = world.post(PATH).json(&in_json(&trace(1), "gen_ai.choice")).send().await;
    world.read_after("/otel/pending", &pending).await.ok(200);
    let listed = world.read("/otel/pending").await;
    assert!(listed.as_array().unwrap().iter().all(|trace| trace["log_count"] == 1 && trace["span_count"] == 0));
}
