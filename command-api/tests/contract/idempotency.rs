//! `Idempotency-Key`: a repeat gets the first answer and has no second effect.

use crate::support::World;
use crate::support::answer::Answer;
use crate::support::data::{lines, sample, short};
use crate::support::request::Call;
use futures::future::join_all;
use serde_json::{Value, json};

/// Sends a request twice and checks that both are answered alike; gives the answer.
async fn twice<'a>(request: impl Fn() -> Call<'a>) -> Answer {
    let first = request().idempotent("key-1").send().await;
    assert!(first.status.is_success(), "{}", first.text());
    let second = request().idempotent("key-1").send().await;
    assert_eq!((second.status, second.text()), (first.status, first.text()));
    second.header("x-stash-position");
    second
}

/// Checks that this request is refused, since its key belongs to another one.
async fn other(request: Call<'_>) {
    request.idempotent("key-1").send().await.problem(422, "idempotency_mismatch");
}

#[tokio::test]
async fn an_import() {
    let world = World::new().await;
    world.import(&[short("t-2", "old")]).await;
    let data = lines(&[short("t-2", "new"), json!({"steps": [{"role": "user", "content": "nameless"}]})]);
    let answer = twice(|| world.post("/traces/import?format=stash").jsonl(&data)).await;
    assert_eq!(answer.json()["updated"], 1);
    let list = world.read_after("/traces", &answer).await.ok(200).json();
    assert_eq!(list["total"], 2);
    other(world.post("/traces/import?format=stash").jsonl(&lines(&[short("t-3", "x")]))).await;
    other(world.post("/traces/import?format=auto").jsonl(&data)).await;
    assert_eq!(world.read("/traces").await["total"], 2);
}

#[tokio::test]
async fn an_import_repeated_after_its_trace_was_deleted_brings_nothing_back() {
    let world = World::new().await;
    let data = lines(&[sample("t-1")]);
    let import = async || world.post("/traces/import?format=stash").jsonl(&data).idempotent("key-1").send().await;
    let first = import().await;
    first.done(200);
    world.delete("/traces/external:t-1").send().await.done(204);
    let again = import().await;
    assert_eq!(again.done(200).json(), first.json());
    world.read_after("/traces/external:t-1", &again).await.problem(404, "not_found");
    assert_eq!(world.count("subject_key").await, 0, "no key is made for what is not there");
}

#[tokio::test]
async fn an_annotation_written_changed_and_deleted() {
    let world = World::new().await;
    world.sample().await;
    let path = "/traces/external:t-1/annotations";
    let said = twice(|| world.post(path).json(&json!({"rating": 1}))).await.json();
    other(world.post(path).json(&json!({"rating": -1}))).await;
    assert_eq!(world.count("rm_annotations").await, 1);

    let path = format!("/annotations/{}", said["id"].as_str().unwrap());
    let changed = twice(|| world.patch(&path).json(&json!({"rating": -1})).header("if-match", "\"1\"")).await;
    assert_eq!(changed.json()["version"], 2);
    other(world.patch(&path).json(&json!({"rating": 1}))).await;

    twice(|| world.delete(&path)).await.ok(204);
    other(world.delete(&format!("/annotations/{}", uuid::Uuid::nil()))).await;
    let late = world.post("/traces/external:t-1/annotations").json(&json!({"rating": 1})).idempotent("key-1").send();
    late.await.problem(404, "not_found");
}

#[tokio::test]
async fn a_conflict_is_repeated_too() {
    let world = World::new().await;
    world.sample().await;
    let said = world.post("/traces/external:t-1/annotations").json(&json!({"rating": 1})).send().await.done(201).json();
    let path = format!("/annotations/{}", said["id"].as_str().unwrap());
    world.patch(&path).json(&json!({"rating": -1})).send().await.done(200);
    let stale = async || {
        let call = world.patch(&path).json(&json!({"comment": "x"})).header("if-match", "\"1\"");
        call.idempotent("key-1").send().await.problem(409, "version_conflict")
    };
    let (first, second) = (stale().await, stale().await);
    assert_eq!(first["current_version"], second["current_version"]);
}

#[tokio::test]
async fn a_model_made_and_cancelled_and_a_scoring() {
    let world = World::new().await;
    let ids = world.import(&[short("t-1", "a"), short("t-2", "b")]).await;
    let body = json!({"name": "mine", "trace_ids": ids});
    let made = twice(|| world.post("/reward-models").json(&body)).await.json();
    other(world.post("/reward-models").json(&json!({"name": "other", "trace_ids": ids}))).await;
    let cancel = format!("/reward-models/{}/cancel", made["id"].as_str().unwrap());
    twice(|| world.post(&cancel)).await.ok(200);
    other(world.post(&format!("/reward-models/{}/cancel", uuid::Uuid::nil()))).await;
    assert_eq!(world.count("rm_jobs").await, 1);

    let model = world.trained(&ids, true).await;
    let path = format!("/reward-models/{model}");
    twice(|| world.patch(&path).json(&json!({"name": "new"}))).await.ok(200);
    other(world.patch(&path).json(&json!({"name": "newer"}))).await;
    let score = |trace: &str| world.post(&format!("/traces/{trace}/score")).json(&json!({"reward_model_id": model}));
    twice(|| score(&ids[0])).await.ok(202);
    other(score(&ids[1])).await;
    assert_eq!(world.count("rm_scoring_runs").await, 1);
    let jobs = world.count("rm_jobs").await;
    twice(|| world.delete(&path)).await.ok(204);
    other(world.delete(&format!("/reward-models/{}", uuid::Uuid::nil()))).await;
    assert_eq!(world.count("rm_jobs").await, jobs + 1, "one removal");
}

#[tokio::test]
async fn a_trace_deleted() {
    let world = World::new().await;
    world.sample().await;
    twice(|| world.delete("/traces/external:t-1")).await.ok(204);
    other(world.delete("/traces/external:t-2")).await;
}

#[tokio::test]
async fn requests_at_the_same_time_have_one_effect() {
    let world = World::new().await;
    world.sample().await;
    let send = |n: usize| {
        let world = &world;
        async move {
            let path = "/traces/external:t-1/annotations";
            let body = json!({"rating": 1, "comment": "once"});
            let annotated = world.post(path).json(&body).idempotent("key-1").send().await;
            let data = lines(&[json!({"steps": [{"role": "user", "content": "nameless"}]})]);
            let imported = world.post("/traces/import?format=stash").jsonl(&data).idempotent("key-2").send().await;
            assert_eq!(imported.done(200).json()["imported"], 1, "{n}");
            (annotated, imported)
        }
    };
    let answers = join_all((0..8).map(send)).await;
    let of = |pick: &dyn Fn(&(Answer, Answer)) -> Value| {
        let mut all: Vec<String> = answers.iter().map(|answer| pick(answer).to_string()).collect();
        all.dedup();
        all
    };
    assert_eq!(of(&|(annotated, _)| annotated.done(201).json()["id"].clone()).len(), 1);
    assert_eq!(of(&|(_, imported)| imported.json()["trace_ids"].clone()).len(), 1);
    for (_, imported) in &answers {
        world.read_after("/traces", imported).await.ok(200);
    }
    assert_eq!(world.count("rm_annotations").await, 1);
    assert_eq!(world.read("/traces").await["total"], 2);
}

#[tokio::test]
async fn imports_at_the_same_time_with_one_key_and_other_bodies_are_found_out() {
    let world = World::new().await;
    let send = |n: usize| {
        let world = &world;
        async move {
            let data = lines(&[short(&format!("t-{n}"), "a")]);
            world.post("/traces/import?format=stash").jsonl(&data).idempotent("key-1").send().await
        }
    };
    let answers = join_all((0..4).map(send)).await;
    let (taken, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status.is_success());
    assert_eq!(taken.len(), 1);
    refused.iter().for_each(|answer| drop(answer.problem(422, "idempotency_mismatch")));
    let list = world.read_after("/traces", &taken[0]).await.ok(200).json();
    assert_eq!((&list["total"], &list["traces"][0]["id"]), (&json!(1), &taken[0].json()["trace_ids"][0]));
}

#[tokio::test]
async fn keys_that_are_none_are_400() {
    let world = World::new().await;
    for key in ["", "a b", "é", &"x".repeat(256)] {
        let answer = world.post("/traces/import").json(&json!({"data": "{}"})).idempotent(key).send().await;
        answer.problem(400, "invalid_request");
    }
    let twice = world.delete("/traces/external:x").idempotent("a").idempotent("b");
    twice.send().await.problem(400, "invalid_request");
}
