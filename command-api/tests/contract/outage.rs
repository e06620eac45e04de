//! Postgres away: 503 for every command, nothing done, and then everything as before.

use crate::access::{call, routes};
use crate::support::data::{lines, short};
use crate::support::{Setup, World, database};
use futures::future::join_all;
use serde_json::json;
use stash_infra::testing::{Durability, Postgres};

#[tokio::test]
async fn without_postgres_commands_are_503_and_nothing_acknowledged_is_lost() {
    let server = Postgres::start(Durability::Full);
    let world = World::over(database::prepared(&server).await, Setup::default()).await;
    let trace = world.sample().await;
    let path = format!("/traces/{}/annotations", trace["id"].as_str().unwrap());
    world.post(&path).json(&json!({"rating": 1})).send().await.done(201);

    server.crash();
    let routes = routes();
    let many = lines(&(0..200).map(|n| short(&format!("t-{n}"), &"x".repeat(50_000))).collect::<Vec<_>>());
    let large = world.post("/traces/import?format=stash").jsonl(&many);
    let answers = join_all(routes.iter().map(|route| call(&world, route)).chain([large]).map(|call| call.send())).await;
    for answer in answers {
        answer.problem(503, "unavailable");
        assert_eq!(answer.header("retry-after"), "1");
    }

    server.start_again();
    let again = world.post(&path).json(&json!({"comment": "back"})).send().await;
    // 202 where the projector is still in its pause after the outage when the wait budget ends.
    let status = if again.status == 202 { 202 } else { 201 };
    let read = world.read_after(&format!("/traces/{}", trace["id"].as_str().unwrap()), again.done(status)).await;
    assert_eq!(read.ok(200).json()["annotations"].as_array().map(Vec::len), Some(2));
    assert_eq!(world.read("/traces").await["total"], 1);
}
