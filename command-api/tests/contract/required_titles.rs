//! Imports that may not do without titles.

use crate::support::data::lines;
use crate::support::{Setup, World};
use serde_json::{Value, json};
use stash_command_api::import::titles::Required;
use stash_infra::clock::SystemClock;
use stash_infra::config::{Environment, LlmSettings};
use stash_infra::llm::Llms;
use stash_infra::testing::llm::{Answer, Asked, LlmServer};
use std::sync::Arc;

fn trace(id: &str, title: Option<&str>, said: &str) -> Value {
    let mut trace = json!({"id": id, "steps": [
        {"role": "system", "content": "You are a shop."}, {"role": "user", "content": said},
        {"role": "assistant", "content": "In the post."}]});
    if let Some(title) = title {
        trace["title"] = json!(title);
    }
    trace
}

async fn world(server: &LlmServer) -> World {
    let settings = LlmSettings::read(&Environment::of([("HOSTED_VLLM_API_BASE", server.base())])).unwrap();
    let llm = Llms::new(settings, Arc::new(SystemClock)).unwrap().open("hosted_vllm/titles", None).unwrap();
    World::with(Setup { required_titles: Some(Required { llm: Ok(llm) }), ..Setup::default() }).await
}

/// Names what was said.
fn titled(asked: &Asked) -> Answer {
    let said = if asked.text().contains("parcel") { "A parcel" } else { "Something else" };
    Answer::says(json!({ "title": said }).to_string())
}

#[tokio::test]
async fn missing_titles_are_written_before_the_import_is_answered_and_kept_by_the_next() {
    let server = LlmServer::start(titled).await;
    let world = world(&server).await;
    let key = format!("sk-ant-api03-{}", "x1".repeat(47));
    let said = format!("Where is my parcel? {key}");
    let first = [trace("a", None, &said), trace("b", Some("Given"), "Hi"), trace("c", None, "Hello")];
    let answer = world.post("/traces/import?format=stash").jsonl(&lines(&first)).send().await;
    answer.done(200);
    let expected = [("a", "A parcel", "generated"), ("b", "Given", "given"), ("c", "Something else", "generated")];
    for (id, title, source) in expected {
        let found = world.read_after(&format!("/traces/external:{id}"), &answer).await.ok(200).json();
        assert_eq!((&found["title"], &found["title_source"]), (&json!(title), &json!(source)));
    }
    assert_eq!(server.asked().len(), 2);
    assert!(server.asked().iter().all(|asked| !asked.text().contains("x1x1") && !asked.text().contains("a shop")));
    // The same message again, and another one.
    let again = [trace("a", None, &said), trace("c", None, "Where is the parcel?")];
    let answer = world.post("/traces/import").json(&json!({"format": "stash", "data": lines(&again)})).send().await;
    answer.done(200);
    let found = world.read_after("/traces/external:c", &answer).await.ok(200).json();
    assert_eq!((&found["title"], server.asked().len()), (&json!("A parcel"), 3));
    world.rebuild().await;
    assert_eq!(world.read("/traces/external:a").await["title_source"], "generated");
}

#[tokio::test]
async fn an_import_whose_titles_cannot_be_written_imports_nothing() {
    let server = LlmServer::start(|asked| match asked.text().contains("parcel") {
        true => Answer::says("\u{1b}[2J no"),
        false => titled(asked),
    })
    .await;
    let world = world(&server).await;
    let both = lines(&[trace("a", None, "Hello"), trace("b", None, "Where is my parcel?")]);
    let detail = world.post("/traces/import?format=stash").jsonl(&both).send().await.detail(422, "llm_failed");
    assert!(detail.contains("nothing was imported") && !detail.contains('\u{1b}'), "{detail}");
    assert_eq!(world.read("/traces").await["total"], 0);
    let many: Vec<Value> = (0..101).map(|number| trace(&number.to_string(), Some("Given"), "Hi")).collect();
    let detail = world.post("/traces/import?format=stash").jsonl(&lines(&many)).send().await.detail(422, "bad_import");
    assert!(detail.contains("at most 100"), "{detail}");
}

#[tokio::test]
async fn what_an_account_forbids_is_not_sent_and_what_is_not_set_up_is_named() {
    let server = LlmServer::start(titled).await;
    let world = world(&server).await;
    world.patch("/llm-processing").json(&json!({"titles": false})).send().await.done(200);
    let answer = world.post("/traces/import?format=stash").jsonl(&lines(&[trace("a", None, "Hello")])).send().await;
    answer.done(200);
    assert_eq!(world.read_after("/traces/external:a", &answer).await.json()["title_source"], "derived");
    assert_eq!(server.asked().len(), 0);

    let none = Some(Required { llm: Err("set ANTHROPIC_API_KEY".to_owned()) });
    let world = World::with(Setup { required_titles: none, ..Setup::default() }).await;
    let call = world.post("/traces/import?format=stash").jsonl(&lines(&[trace("a", None, "Hello")]));
    let detail = call.send().await.detail(503, "not_configured");
    assert!(detail.contains("ANTHROPIC_API_KEY") && detail.contains("RM_TITLE_POLICY"), "{detail}");
    let given = lines(&[trace("a", Some("Given"), "Hello")]);
    world.post("/traces/import?format=stash").jsonl(&given).send().await.done(200);
}
