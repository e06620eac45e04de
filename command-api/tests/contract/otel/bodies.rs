//! What is taken, and what is refused and how.

use super::sent::{Sent, call, in_json, in_protobuf, steps, trace, whole};
use crate::support::answer::Answer;
use crate::support::{OTLP_BYTES_MAX, World};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as _;
use serde_json::{Value, json};
use stash_command_api::otlp::proto;
use std::io::Write as _;

const PATH: &str = "/otel/v1/traces";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The error of an answer in protobuf.
#[track_caller]
fn status(answer: &Answer, http: u16, code: i32) -> String {
    assert_eq!(answer.status, http, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/x-protobuf");
    let status = proto::RpcStatus::decode(answer.body.as_slice()).unwrap();
    assert_eq!(status.code, code);
    status.message
}

async fn protobuf(world: &World, body: Vec<u8>) -> Answer {
    world.post(PATH).header("content-type", "application/x-protobuf").body(body).send().await
}

#[tokio::test]
async fn gzip_is_taken_with_all_its_members_and_nothing_else() {
    let world = World::new().await;
    let id = trace(1);
    let body = in_protobuf(&whole(&id, 2));
    let (front, back) = body.split_at(body.len() / 2);
    let members = [gzip(front), gzip(back)].concat();
    let send = |coding: &str, body: Vec<u8>| {
        let call = world.post(PATH).header("content-type", "application/x-protobuf; v=1");
        call.header("content-encoding", coding).body(body).send()
    };
    let answer = send("GZIP", members.clone()).await;
    answer.done(200);
    assert_eq!(steps(&world.trace_after(&id, &answer).await).len(), 5);
    for coding in ["zstd", "br", "deflate", "gzip, gzip"] {
        status(&send(coding, members.clone()).await, 415, 3);
    }
    let cut = members[..members.len() - 9].to_vec();
    status(&send("gzip", cut).await, 400, 3);
    status(&send("gzip", b"no gzip".to_vec()).await, 400, 3);
    let json = world.post(PATH).header("content-type", "Application/JSON; charset=utf-8");
    let body = gzip(in_json(&whole(&id, 2)).to_string().as_bytes());
    json.header("content-encoding", "gzip").body(body).send().await.done(200);
}

#[tokio::test]
async fn what_inflates_beyond_the_limit_is_413_and_nothing_is_kept() {
    let world = World::new().await;
    let large = vec![0_u8; OTLP_BYTES_MAX * 200];
    let bomb = gzip(&large);
    assert!(bomb.len() < OTLP_BYTES_MAX);
    let call = || world.post(PATH).header("content-type", "application/x-protobuf");
    let answer = call().header("content-encoding", "gzip").body(bomb.clone()).send().await;
    assert!(status(&answer, 413, 3).contains("smaller batches"));
    // A bomb in the second member.
    let second = [gzip(&in_protobuf(&whole(&trace(1), 1))), bomb].concat();
    status(&call().header("content-encoding", "gzip").body(second).send().await, 413, 3);
    status(&call().body(large).send().await, 413, 3);
    let json = world.post(PATH).header("content-type", "application/json").body(vec![b' '; OTLP_BYTES_MAX + 1]);
    json.send().await.problem(413, "too_large");
    assert_eq!(world.count("subject_key").await, 0);
}

#[tokio::test]
async fn media_types_are_protobuf_and_json() {
    let world = World::new().await;
    for kind in ["text/plain", "application/jsonl", "application/grpc", ""] {
        let call = world.post(PATH).header("content-type", kind).body(in_protobuf(&whole(&trace(1), 1)));
        call.send().await.problem(415, "unsupported_media_type");
    }
    let empty = protobuf(&world, Vec::new()).await;
    assert!(empty.ok(200).body.is_empty());
    assert_eq!(empty.header("content-type"), "application/x-protobuf");
    let empty = world.post(PATH).json(&json!({})).send().await;
    assert_eq!(empty.ok(200).json(), json!({}));
    assert_eq!(empty.header("content-type"), "application/json");
}

#[tokio::test]
async fn whoever_may_not_gets_the_reason_in_the_requests_encoding() {
    let world = World::new().await;
    let reader = world.read_only_key().await;
    let spans = whole(&trace(1), 1);
    assert!(status(&world.traces_protobuf(&spans).anonymous().send().await, 401, 16).contains("API key"));
    assert!(status(&world.traces_protobuf(&spans).key(&reader).send().await, 403, 7).contains("read-only"));
    let json = world.post(PATH).json(&in_json(&spans)).key(&reader).send().await.problem(403, "forbidden_scope");
    assert_eq!((&json["code"], &json["message"]), (&json!(7), &json["detail"]));
    world.identity.set_reward_models_enabled(world.owner, false).await.unwrap().unwrap();
    assert!(status(&world.traces_protobuf(&spans).send().await, 403, 7).contains("switched"));
    assert_eq!(world.count("subject_key").await, 0);
}

#[tokio::test]
async fn messages_that_cannot_be_decoded_are_400_and_nothing_is_kept() {
    let world = World::new().await;
    let id = trace(1);
    let cut = Sent::new(&id, 99, "chat")
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.input.messages", "[{\"role\": \"us");
    let spans = [call(&id, 0), cut];
    let said = status(&world.traces_protobuf(&spans).send().await, 400, 3);
    assert!(said.contains("gen_ai.input.messages") && said.contains("eee19b7e00000063"), "{said}");
    let json = world.post(PATH).json(&in_json(&spans)).send().await;
    assert_eq!(json.detail(400, "invalid_request"), said);
    status(&protobuf(&world, b"\x0a\xff\xff\xff\xff\x0f".to_vec()).await, 400, 3);
    for body in ["", "[", "{\"resourceSpans\": 7}", "{\"a\": 1}", "7"] {
        let call = world.post(PATH).header("content-type", "application/json").body(body);
        call.send().await.problem(400, "invalid_request");
    }
    assert_eq!(world.tail().await, 0, "no record was appended");
    assert_eq!(world.count("subject_key").await, 0);
}

#[tokio::test]
async fn a_span_without_valid_ids_is_left_out_and_counted() {
    let world = World::new().await;
    let id = trace(1);
    let mut spans = whole(&id, 1);
    spans.push(Sent { id: "0000000000000000".to_owned(), ..Sent::new(&id, 7, "no id") });
    spans.push(Sent { trace: "abcd".to_owned(), ..Sent::new(&id, 8, "short id") });
    let answer = protobuf(&world, in_protobuf(&spans)).await;
    let partial = proto::ExportResponse::decode(answer.done(200).body.as_slice()).unwrap().partial_success.unwrap();
    assert_eq!(partial.rejected, 2);
    assert!(partial.error_message.contains("no id") && partial.error_message.contains("traceId"), "{partial:?}");
    assert_eq!(world.trace_after(&id, &answer).await["spans"].as_array().unwrap().len(), 3);
    let json = world.post(PATH).json(&in_json(&spans)).send().await;
    let partial = &json.done(200).json()["partialSuccess"];
    assert_eq!(partial["rejectedSpans"], "2");
    assert!(partial["errorMessage"].as_str().unwrap().contains("\"no id\""), "{partial}");
}

#[tokio::test]
async fn odd_text_and_ids_are_mended_and_depth_is_bounded() {
    let world = World::new().await;
    // Upper case and base64 are the same trace.
    let id = trace(1);
    let mut body = in_json(&[call(&id, 0)]);
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!(id.to_uppercase());
    world.post(PATH).json(&body).send().await.done(200);
    let nul = "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"a\\u0000b\\ud800\"}]}]";
    let odd = Sent::new(&id, 500, "chat\0").with("gen_ai.operation.name", "chat").with("gen_ai.input.messages", nul);
    let answer = world.spans(&[odd]).await;
    let read = world.trace_after(&id, &answer).await;
    assert_eq!(steps(&read).last().unwrap(), "user ab\u{FFFD}");
    let warnings = |read: &Value| read["metadata"]["otel"]["warnings"].as_object().unwrap().clone();
    let told = warnings(&read);
    assert!(
        told.keys().any(|message| message.contains("NUL")) && told.keys().any(|message| message.contains("U+FFFD")),
        "{told:?}"
    );
    // No UTF-8, as exporters leave it that cut in the middle of a character.
    let mut cut = in_protobuf(&[Sent::new(&id, 501, "caf~e")]);
    let at = cut.windows(5).position(|bytes| bytes == b"caf~e").unwrap();
    cut[at + 3] = 0xC3;
    let answer = protobuf(&world, cut).await;
    let read = world.trace_after(&id, answer.done(200)).await;
    assert_eq!(read["spans"][2]["name"], "caf\u{FFFD}e");
    let told = warnings(&read);
    let message = told.keys().find(|message| message.contains("U+FFFD")).unwrap();
    assert_eq!(told[message]["spans"], 2);
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let call = world.post(PATH).header("content-type", "application/json");
    let answer = call.body(format!("{{\"resourceSpans\": {deep}}}")).send().await;
    answer.problem(400, "invalid_request");
    let mut nested = proto::AnyValue::default();
    for _ in 0..200 {
        let array = proto::ArrayValue { values: vec![nested] };
        nested = proto::AnyValue { value: Some(proto::Value::Array(array)) };
    }
    let attributes = vec![proto::KeyValue { key: "a".into(), value: Some(nested) }];
    let resource = Some(proto::Resource { attributes });
    let resource_spans = vec![proto::ResourceSpans { resource, ..proto::ResourceSpans::default() }];
    status(&protobuf(&world, proto::TracesRequest { resource_spans }.encode_to_vec()).await, 400, 3);
}

#[tokio::test]
async fn secrets_are_taken_out_before_anything_is_stored() {
    let world = World::new().await;
    let id = trace(1);
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(12));
    let said =
        json!([{"role": "user", "parts": [{"type": "text", "content": format!("My key is {key}")}]}]).to_string();
    let spans = [Sent::new(&id, 1, "chat").with("gen_ai.operation.name", "chat").with("gen_ai.input.messages", said)];
    let answer = world.spans(&spans).await;
    let read = world.trace_after(&id, &answer).await;
    let content = read["steps"][0]["content"].as_str().unwrap();
    assert!(content.starts_with("My key is [redacted:"), "{content}");
    assert!(!read.to_string().contains(&key));
    assert_eq!(world.trace_after(&id, &world.spans(&spans).await).await, read);
}
