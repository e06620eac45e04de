//! Reading one's own writes, and commands whose verdict is late.

use crate::support::data::{lines, short};
use crate::support::schema::assert_fits;
use crate::support::{Setup, World};
use serde_json::{Value, json};
use std::time::Duration;

/// Questions asked about a pending command, each of which waits by itself, before the test gives up.
const QUESTIONS_MAX: usize = 2000;

#[tokio::test]
async fn every_read_at_a_commands_position_sees_it() {
    let world = World::new().await;
    for n in 0..20 {
        let data = lines(&[short(&format!("t-{n}"), "a")]);
        let answer = world.post("/traces/import?format=stash").jsonl(&data).send().await;
        answer.done(200);
        assert_eq!(world.read_after("/traces", &answer).await.ok(200).json()["total"], n + 1);
    }
}

#[tokio::test]
async fn a_command_waits_for_a_position_too() {
    let world = World::new().await;
    let import = world.post("/traces/import?format=stash").jsonl(&lines(&[short("t-1", "a")])).send().await;
    let body = json!({"rating": 1});
    world.post("/traces/external:t-1/annotations").json(&body).after(&import).send().await.done(201);
    let answer = world.delete("/traces/external:t-1").header("x-stash-min-position", "soon").send().await;
    answer.problem(400, "invalid_request");
}

#[tokio::test]
async fn while_nothing_is_judged_commands_are_pending_and_accepted_later() {
    let world = World::with(Setup { wait_budget: Duration::from_millis(20), ..Setup::default() }).await;
    let trace = until(
        &world,
        "/traces/external:t-1",
        |read| read["id"].is_string(),
        async || {
            world.post("/traces/import?format=stash").jsonl(&lines(&[short("t-1", "a")])).send().await.done(200);
        },
    )
    .await;
    world.stop_projector().await;
    let path = format!("/traces/{}/annotations", trace["id"].as_str().unwrap());
    let send = async || world.post(&path).json(&json!({"rating": 1})).idempotent("key-1").send().await;
    let pending = send().await;
    let said = pending.done(202).json();
    assert_fits(&said, "PendingBody");
    assert_eq!(said["state"], "pending");
    let command = format!("/commands/{}", said["command_id"].as_str().unwrap());
    assert_eq!(pending.header("location"), format!("/api/v1/rm{command}"));
    assert_eq!(world.read(&command).await["state"], "pending");
    assert_eq!(send().await.done(202).json(), said, "a repeat is the same command");
    let late = world.read_after(&format!("/traces/{}", trace["id"].as_str().unwrap()), &pending).await;
    late.problem(503, "unavailable");
    assert_eq!(late.header("retry-after"), "1");

    world.start_projector().await;
    let judged = until(&world, &command, |read| read["state"] != "pending", async || {}).await;
    assert_eq!(judged["state"], "accepted");
    assert_eq!(send().await.done(201).json()["rating"], 1);
    assert_eq!(world.count("rm_annotations").await, 1);
}

/// Does something, and then reads until what is read fits.
async fn until(world: &World, path: &str, fits: impl Fn(&Value) -> bool, first: impl AsyncFnOnce()) -> Value {
    first().await;
    for _ in 0..QUESTIONS_MAX {
        let read = world.get(path).send().await.json();
        if fits(&read) {
            return read;
        }
        tokio::task::yield_now().await;
    }
    panic!("{path} never fits");
}
