//! Codings, media types and sizes of an import's body.

use crate::support::data::{lines, sample, short};
use crate::support::{Setup, World};
use async_compression::tokio::write::{GzipEncoder, ZstdEncoder};
use serde_json::json;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

const IMPORT: &str = "/traces/import?format=stash";

async fn packed<W: AsyncWrite + Unpin>(mut encoder: W, plain: &str) -> W {
    encoder.write_all(plain.as_bytes()).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder
}

async fn gzip(plain: &str) -> Vec<u8> {
    packed(GzipEncoder::new(Vec::new()), plain).await.into_inner()
}

async fn zstd(plain: &str) -> Vec<u8> {
    packed(ZstdEncoder::new(Vec::new()), plain).await.into_inner()
}

#[tokio::test]
async fn gzip_of_any_number_of_members_and_zstd_are_inflated() {
    let world = World::new().await;
    let (one, two) = (lines(&[short("t-1", "a")]), lines(&[short("t-2", "b")]));
    let members = [gzip(&one).await, gzip(&two).await].concat();
    let frames = [zstd(&one).await, zstd(&two).await].concat();
    for (coding, body, imported) in
        [("gzip", gzip(&one).await, 1), ("x-gzip", members.clone(), 2), ("GZIP", members, 2), ("zstd", frames, 2)]
    {
        let answer = world.post(IMPORT).jsonl("").header("content-encoding", coding).body(body).send().await;
        assert_eq!(answer.done(200).json()["imported"], imported, "{coding}");
        // `updated` counts what can be read already, so the next import waits for this one.
        world.read_after("/traces", &answer).await.ok(200);
    }
    let envelope = json!({"format": "stash", "data": one}).to_string();
    let call = world.post("/traces/import").header("content-type", "application/json");
    let answer = call.header("content-encoding", "gzip").body(gzip(&envelope).await).send().await;
    assert_eq!(answer.done(200).json()["updated"], 1);
}

#[tokio::test]
async fn broken_compression_is_400_and_other_codings_are_415() {
    let world = World::new().await;
    let whole = gzip(&lines(&[sample("t-1")])).await;
    let cut = whole[..whole.len() - 9].to_vec();
    for (coding, body) in [("gzip", cut), ("gzip", b"no gzip".to_vec()), ("zstd", b"no zstd".to_vec())] {
        let answer = world.post(IMPORT).jsonl("").header("content-encoding", coding).body(body).send().await;
        answer.problem(400, "invalid_request");
    }
    for coding in ["br", "gzip, gzip", "deflate"] {
        let answer = world.post(IMPORT).jsonl("").header("content-encoding", coding).send().await;
        answer.problem(415, "unsupported_media_type");
    }
    let twice = world.post(IMPORT).jsonl("").header("content-encoding", "gzip").header("content-encoding", "gzip");
    twice.send().await.problem(415, "unsupported_media_type");
    assert_eq!(world.read("/traces").await["total"], 0);
}

#[tokio::test]
async fn other_media_types_are_415() {
    let world = World::new().await;
    for kind in ["text/csv", "application/x-protobuf", "multipart/form-data; boundary=x"] {
        let answer = world.post(IMPORT).header("content-type", kind).body("{}").send().await;
        assert!(answer.detail(415, "unsupported_media_type").contains(kind));
    }
    world.post(IMPORT).body("{}").send().await.problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn bodies_over_their_limit_are_413_also_when_they_grow_by_inflation() {
    let world = World::with(Setup { import_bytes_max: 2000, ..Setup::default() }).await;
    let large = lines(&[short("t-1", &"x".repeat(4000))]);
    world.post(IMPORT).jsonl(&large).send().await.problem(413, "too_large");
    for (coding, body) in [("gzip", gzip(&large).await), ("zstd", zstd(&large).await)] {
        assert!(body.len() < 2000);
        let answer = world.post(IMPORT).jsonl("").header("content-encoding", coding).body(body).send().await;
        answer.problem(413, "too_large");
    }
    let declared = world.post(IMPORT).jsonl("{}").header("content-length", "2001").send().await;
    declared.problem(413, "too_large");
    let envelope = json!({"format": "stash", "data": "x".repeat(17 * 1024 * 1024)});
    world.post("/traces/import").json(&envelope).send().await.problem(413, "too_large");
    assert_eq!(world.read("/traces").await["total"], 0);
}

#[tokio::test]
async fn a_zstd_frame_that_asks_for_a_huge_window_is_refused() {
    let world = World::new().await;
    // Magic, a header without size whose window descriptor says 2^31 bytes, and an empty last block (RFC 8878, 3.1.1).
    let frame: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    let answer = world.post(IMPORT).jsonl("").header("content-encoding", "zstd").body(frame).send().await;
    answer.problem(400, "invalid_request");
}

#[tokio::test]
async fn an_import_of_many_batches_arrives_whole() {
    let world = World::new().await;
    let traces: Vec<_> = (0..300).map(|n| short(&format!("t-{n}"), &"word ".repeat(8000))).collect();
    let answer = world.post(IMPORT).jsonl(&lines(&traces)).send().await;
    let said = answer.done(200).json();
    assert_eq!(said["imported"], 300);
    let list = world.read_after("/traces?limit=1", &answer).await.ok(200).json();
    assert_eq!(list["total"], 300);
    let last = world.read("/traces/external:t-299").await;
    assert_eq!(last["id"], said["trace_ids"][299]);
    assert_eq!(last["steps"][1]["content"].as_str().unwrap().len(), 40_000);
}

#[tokio::test]
async fn steps_of_large_tool_inputs_arrive_whole() {
    let world = World::new().await;
    let input = json!({"text": "y".repeat(300_000)});
    let call = json!({"role": "assistant", "content": "", "tool_name": "w", "tool_input": input, "metadata": input});
    let trace = json!({"id": "t-1", "steps": vec![call; 30]});
    let answer = world.post(IMPORT).jsonl(&lines(&[trace])).send().await;
    answer.done(200);
    let read = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert_eq!(read["steps"].as_array().unwrap().len(), 30);
    assert!(read["steps"].as_array().unwrap().iter().all(|step| step["tool_input"] == input));
}
