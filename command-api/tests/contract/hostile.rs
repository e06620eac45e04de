//! Input that means harm, or that nobody thought of.

use crate::support::World;
use crate::support::data::{lines, short};
use serde_json::{Value, json};

const IMPORT: &str = "/traces/import?format=stash";

#[tokio::test]
async fn nul_and_lone_surrogates_are_mended_with_a_warning() {
    let world = World::new().await;
    let data = r#"{"id": "t-1", "steps": [{"role": "user", "content": "a\u0000b\ud800c"}, {"role": "assistant", "content": "x"}]}"#;
    let raw = world.post(IMPORT).jsonl(data).send().await;
    assert!(raw.done(200).json()["warning_count"].as_u64().unwrap() >= 1, "{}", raw.text());
    let content = |trace: &Value| trace["steps"][0]["content"].as_str().unwrap().to_owned();
    let trace = world.read_after("/traces/external:t-1", &raw).await.ok(200).json();
    assert_eq!(content(&trace), "ab\u{FFFD}c");

    // The same inside the envelope, and a lone surrogate of the envelope itself.
    let envelope =
        format!(r#"{{"format": "stash", "data": {}}}"#, Value::from(data).to_string().replace("x", "\\udfff"));
    let call = world.post("/traces/import").header("content-type", "application/json");
    let answer = call.body(envelope).send().await;
    assert!(answer.done(200).json()["warning_count"].as_u64().unwrap() >= 2, "{}", answer.text());
    let trace = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert_eq!((content(&trace).as_str(), &trace["steps"][1]["content"]), ("ab\u{FFFD}c", &json!("\u{FFFD}")));
}

#[tokio::test]
async fn deep_nesting_is_refused_in_every_body() {
    let world = World::new().await;
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let line = format!(r#"{{"steps": [{{"role": "user", "content": "a", "metadata": {{"x": {deep}}}}}]}}"#);
    world.post(IMPORT).jsonl(&line).send().await.problem(422, "bad_import");
    world.post(IMPORT).jsonl(&deep).send().await.problem(422, "bad_import");
    let envelope = json!({"format": "stash", "data": line});
    world.post("/traces/import").json(&envelope).send().await.problem(422, "bad_import");
    let trace = world.sample().await;
    let path = format!("/traces/{}/annotations", trace["id"].as_str().unwrap());
    for body in [deep.clone(), format!(r#"{{"comment": {deep}}}"#)] {
        let answer = world.post(&path).header("content-type", "application/json").body(body).send().await;
        assert!(matches!(answer.status.as_u16(), 400 | 422), "{}", answer.text());
    }
}

#[tokio::test]
async fn numbers_keep_all_their_digits() {
    let world = World::new().await;
    let input =
        r#"{"big":123456789012345678901234567890,"max":18446744073709551615,"min":-9223372036854775808,"f":0.10}"#;
    let line = format!(
        r#"{{"id": "t-1", "metadata": {input}, "steps": [{{"role": "assistant", "content": "", "tool_name": "t", "tool_input": {input}}}]}}"#
    );
    let answer = world.post(IMPORT).jsonl(&line).send().await;
    answer.done(200);
    for path in ["/traces/external:t-1", "/export/traces"] {
        let text = world.read_after(path, &answer).await.ok(200).text();
        for number in ["123456789012345678901234567890", "18446744073709551615", "-9223372036854775808"] {
            assert_eq!(text.matches(number).count(), 2, "{path} {number}: {text}");
        }
    }
}

#[tokio::test]
async fn external_ids_may_be_long_and_odd_but_not_longer() {
    let world = World::new().await;
    for (id, in_path) in [
        ("é".repeat(512), "%C3%A9".repeat(512)),
        ("a/b?c#d e".to_owned(), "a%2Fb%3Fc%23d%20e".to_owned()),
        ("external:x".to_owned(), "external:x".to_owned()),
        ("👍🏽".to_owned(), "%F0%9F%91%8D%F0%9F%8F%BD".to_owned()),
    ] {
        world.import(&[short(&id, "a")]).await;
        let path = format!("/traces/external:{in_path}");
        assert_eq!(world.read(&path).await["external_id"], id.as_str());
        let body = json!({"rating": 1});
        world.post(&format!("{path}/annotations")).json(&body).send().await.done(201);
        world.delete(&path).send().await.done(204);
    }
    let answer = world.post(IMPORT).jsonl(&lines(&[short(&"x".repeat(513), "a")])).send().await;
    answer.problem(422, "bad_import");
}

#[tokio::test]
async fn odd_ids_in_paths_never_reach_the_database() {
    let world = World::new().await;
    for id in ["external:%00", &format!("external:{}", "x".repeat(3000)), "external:", "external:'%3B--"] {
        world.delete(&format!("/traces/{id}")).send().await.problem(404, "not_found");
        let path = format!("/traces/{id}/annotations");
        world.post(&path).json(&json!({"rating": 1})).send().await.problem(404, "not_found");
    }
    for id in ["%00", "x", "%FF", "00000000", &"9".repeat(3000), "external:%FF"] {
        world.delete(&format!("/traces/{id}")).send().await.problem(400, "invalid_request");
    }
    for path in ["/annotations/x", "/annotations/%00"] {
        world.delete(path).send().await.problem(400, "invalid_request");
        world.patch(path).json(&json!({})).send().await.problem(400, "invalid_request");
    }
    world.post("/reward-models/x/cancel").send().await.problem(400, "invalid_request");
}

#[tokio::test]
async fn nul_in_what_people_write_is_dropped_or_refused() {
    let world = World::new().await;
    let trace = world.sample().await;
    let id = trace["id"].as_str().unwrap();
    let path = format!("/traces/{id}/annotations");
    let written = world.post(&path).json(&json!({"comment": "a\0b"})).send().await;
    let said = written.done(201).json();
    assert_eq!(said["comment"], "ab");
    let read = format!("/annotations/{}", said["id"].as_str().unwrap());
    assert_eq!(world.read(&read).await, said);
    let changed = world.patch(&read).json(&json!({"comment": "\0c", "label_error": true, "label_error_note": "n\0"}));
    let said = changed.send().await.done(200).json();
    assert_eq!((&said["comment"], &said["label_error_note"]), (&json!("c"), &json!("n")));
    world.post(&path).json(&json!({"comment": "\0"})).send().await.problem(422, "bad_annotation");
    for body in
        [json!({"name": "a\0", "trace_ids": [id]}), json!({"name": "a", "base_model": "b\0", "trace_ids": [id]})]
    {
        world.post("/reward-models").json(&body).send().await.problem(422, "invalid_field");
    }
}
