//! `PATCH /traces/{trace_id}`, `POST /traces/{trace_id}/title`, and what is left of a title after an import or a rebuild.

use crate::support::data::lines;
use crate::support::{Setup, World};
use serde_json::{Value, json};
use stash_domain::events::{Event, TitleFailed, TraceTitled};
use stash_domain::ids::{CommandId, Digest, SubjectId, TraceId};
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::Sealed;
use stash_domain::time::Timestamp;
use stash_domain::titling::TitleFrame;
use stash_infra::seal::{self, Purpose};
use stash_infra::submit::Outcome;
use uuid::Uuid;

/// A trace that begins so, with a title or without.
fn trace(title: Option<&str>, said: &str) -> String {
    let mut trace = json!({"id": "t-1", "steps": [
        {"role": "user", "content": said}, {"role": "assistant", "content": "In the post."}]});
    if let Some(title) = title {
        trace["title"] = json!(title);
    }
    lines(&[trace])
}

async fn import(world: &World, lines: &str) -> Value {
    let answer = world.post("/traces/import?format=stash").jsonl(lines).send().await;
    answer.done(200);
    world.read_after("/traces/external:t-1", &answer).await.ok(200).json()
}

/// Title, source and error.
fn shown(trace: &Value) -> (Value, Value, Value) {
    (trace["title"].clone(), trace["title_source"].clone(), trace["title_error"].clone())
}

/// What a worker says of the trace's title.
async fn told(world: &World, said: &str, title: Option<&str>) -> Value {
    let (trace, subject): (Uuid, Uuid) =
        sqlx::query_as("SELECT trace_id, subject_id FROM rm.rm_traces").fetch_one(&world.pools.system).await.unwrap();
    let (trace_id, subject_id) = (TraceId(trace), SubjectId(subject));
    let frame = TitleFrame { title: title.map(str::to_owned), basis: Some(Digest::of(said.as_bytes())) };
    let sealed = sealed(world, subject_id, &frame).await;
    let (input_tokens, output_tokens, cost_micros) = (10, 2, None);
    let event: Event = match title {
        Some(_) => TraceTitled {
            trace_id,
            title_source: "generated".to_owned(),
            subject_id,
            title: sealed,
            model: Some("scripted".to_owned()),
            input_tokens,
            output_tokens,
            cost_micros,
        }
        .into(),
        None => TitleFailed {
            trace_id,
            code: "llm_failed".to_owned(),
            message: "the model declined to answer".to_owned(),
            subject_id,
            basis: sealed,
            input_tokens,
            output_tokens,
            cost_micros,
        }
        .into(),
    };
    let command = CommandId(Uuid::now_v7());
    let record = Record {
        command_id: command,
        owner_id: world.owner,
        request_digest: Digest::of(b""),
        actor: Actor::System,
        causation_id: None,
        correlation_id: command.0,
        recorded_at: Timestamp(1),
        appends: vec![Append { stream: StreamId::Trace(trace_id), expected: Expected::Any, events: vec![event] }],
    };
    assert!(matches!(world.submitter.submit(&record).await.unwrap(), Outcome::Judged { .. }));
    world.read("/traces/external:t-1").await
}

async fn sealed(world: &World, subject: SubjectId, frame: &TitleFrame) -> Sealed {
    let keys = world.keys().get(world.owner, &[subject]).await.unwrap();
    seal::seal(&keys[&subject], Purpose::TITLE_FRAME, &frame.encode().unwrap()).unwrap()
}

fn is(title: &str, source: &str) -> (Value, Value, Value) {
    (json!(title), json!(source), Value::Null)
}

#[tokio::test]
async fn a_persons_title_stands_over_imports_and_generated_ones_until_it_is_taken_back() {
    let world = World::new().await;
    assert_eq!(shown(&import(&world, &trace(None, "Where is it?")).await), is("Where is it?", "derived"));
    let path = "/traces/external:t-1";
    let answer = world.patch(path).json(&json!({"title": "  My\ttitle\u{202e} "})).send().await;
    let said = answer.done(200).json();
    assert_eq!((&said["title"], &said["title_source"]), (&json!("My title"), &json!("edited")));
    assert_eq!(said.as_object().unwrap().len(), 4);
    for lines in [trace(None, "Where is it?"), trace(Some("Given"), "Where is it?"), trace(None, "Who is it?")] {
        assert_eq!(shown(&import(&world, &lines).await), is("My title", "edited"));
    }
    assert_eq!(shown(&told(&world, "Who is it?", Some("Generated")).await), is("My title", "edited"));
    let exported: Value = serde_json::from_slice(&world.get("/export/traces").send().await.ok(200).body).unwrap();
    assert_eq!(exported["title"], "My title");
    world.rebuild().await;
    assert_eq!(shown(&world.read(path).await), is("My title", "edited"));
    let answer = world.patch(path).json(&json!({"title": null})).send().await;
    assert_eq!(answer.done(200).json()["title"], "Generated");
    assert_eq!(shown(&import(&world, &trace(Some("Given"), "Who is it?")).await), is("Given", "given"));
}

#[tokio::test]
async fn a_generated_title_stands_while_the_first_message_is_the_same() {
    let world = World::new().await;
    let said = format!("{} is it?", "Where ".repeat(30));
    import(&world, &trace(None, &said)).await;
    assert_eq!(shown(&told(&world, &said, Some("A lost parcel")).await), is("A lost parcel", "generated"));
    assert_eq!(shown(&import(&world, &trace(None, &said)).await), is("A lost parcel", "generated"));
    // The same first 80 characters, and another message all the same.
    let other = format!("{said} Or was it?");
    assert_eq!(import(&world, &trace(None, &other)).await["title_source"], "derived");
    assert_eq!(shown(&import(&world, &trace(None, &said)).await), is("A lost parcel", "generated"));
    assert_eq!(shown(&import(&world, &trace(Some("Given"), &said)).await), is("Given", "given"));
    let exported: Value = serde_json::from_slice(&world.get("/export/traces").send().await.ok(200).body).unwrap();
    assert_eq!(exported["title"], "Given");
    import(&world, &trace(None, &said)).await;
    // One that comes late, about a message that is gone, is not shown.
    assert_eq!(told(&world, "Gone", Some("Late")).await["title_source"], "derived");
    world.rebuild().await;
    // A deletion takes it along.
    world.delete("/traces/external:t-1").send().await.done(204);
    assert_eq!(import(&world, &trace(None, &said)).await["title_source"], "derived");
}

#[tokio::test]
async fn a_failure_is_shown_and_asked_again_on_request() {
    let world = World::new().await;
    import(&world, &trace(None, "Where is it?")).await;
    let failed = (json!("Where is it?"), json!("derived"), json!("the model declined to answer"));
    assert_eq!(shown(&told(&world, "Where is it?", None).await), failed);
    assert_eq!(shown(&import(&world, &trace(None, "Where is it?")).await), failed);
    let wanted = async || -> bool {
        sqlx::query_scalar("SELECT title_wanted FROM rm.rm_traces").fetch_one(&world.pools.system).await.unwrap()
    };
    assert!(!wanted().await, "it is not asked again by itself");
    let asked = world.post("/traces/external:t-1/title").send().await;
    assert_eq!(asked.done(202).json()["title_error"], Value::Null);
    assert!(wanted().await);
    assert_eq!(shown(&told(&world, "Where is it?", Some("A parcel")).await), is("A parcel", "generated"));
    assert!(!wanted().await);
    // Another one may be asked for, and the one there is stands until it comes.
    world.post("/traces/external:t-1/title").send().await.done(202);
    assert!(wanted().await);
    assert_eq!(shown(&world.read("/traces/external:t-1").await), is("A parcel", "generated"));
    world.rebuild().await;
    assert!(wanted().await);
    // Another message is another matter.
    told(&world, "Where is it?", None).await;
    assert_eq!(shown(&import(&world, &trace(None, "Who is it?")).await), is("Who is it?", "derived"));
    assert!(wanted().await);
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_reason() {
    let world = World::with(Setup { titles: None, ..Setup::default() }).await;
    import(&world, &trace(None, "Where is it?")).await;
    let path = "/traces/external:t-1";
    for body in [json!({}), json!({"title": " "}), json!({"title": "x".repeat(201)}), json!({"title": 3})] {
        world.patch(path).json(&body).send().await.problem(422, "invalid_field");
    }
    let asked = format!("{path}/title");
    let detail = world.post(&asked).send().await.detail(503, "not_configured");
    assert!(detail.contains("RM_TITLE_MODEL"), "{detail}");
    world.patch("/llm-processing").json(&json!({"titles": false})).send().await.done(200);
    let detail = world.post(&asked).send().await.detail(422, "llm_switched_off");
    assert!(detail.contains("/llm-processing"), "{detail}");
    world.patch(path).json(&json!({"title": "Mine"})).send().await.done(200);
    world.post(&asked).send().await.problem(422, "title_is_own");
}
