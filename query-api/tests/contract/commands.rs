//! `GET /commands/{command_id}`

use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::json;
use uuid::Uuid;

async fn judge(world: &World, verdict: &str, conflict: Option<(&str, i64, i64)>) -> Uuid {
    let id = Uuid::now_v7();
    sqlx::query(
        "INSERT INTO es_command (command_id, owner_id, verdict, stream, expected, actual, request_digest, log_time, partition,
         \"offset\") VALUES ($1, $2, $3, $4, $5, $6, '\\x00', $7, 5, 1042)",
    )
    .bind(id)
    .bind(world.owner.0)
    .bind(verdict)
    .bind(conflict.map(|(stream, _, _)| stream))
    .bind(conflict.map(|(_, expected, _)| expected))
    .bind(conflict.map(|(_, _, actual)| actual))
    .bind(NOW)
    .execute(world.rows())
    .await
    .unwrap();
    id
}

#[tokio::test]
async fn an_accepted_command_tells_its_position() {
    let world = World::new().await;
    let id = judge(&world, "accepted", None).await;
    let answer = world.get(&format!("/commands/{id}")).await.ok();
    assert_eq!(answer.headers["x-stash-position"], "5f0c9a31-5-1042");
    assert_fits(&answer.json(), "CommandStatus");
    let expected = json!({"command_id": id, "state": "accepted", "position": "5f0c9a31-5-1042", "conflict": null});
    assert_eq!(answer.json(), expected);
    world.get_as(fresh_owner(), &format!("/commands/{id}")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_conflict_tells_both_versions() {
    let world = World::new().await;
    let stream = format!("annotation/{}", Uuid::nil());
    let id = judge(&world, "conflict", Some((&stream, 3, 4))).await;
    let status = world.get(&format!("/commands/{id}")).await.ok().json();
    assert_fits(&status, "CommandStatus");
    assert_eq!(status["state"], "conflict");
    assert_eq!(status["conflict"], json!({"stream": stream, "expected": 3, "actual": 4}));
}

#[tokio::test]
async fn a_command_is_pending_only_while_the_read_models_are_behind_the_log() {
    let world = World::new().await;
    let id = Uuid::now_v7();
    world.log.end_at(8);
    let answer = world.get(&format!("/commands/{id}")).await.ok();
    assert!(answer.headers.get("x-stash-position").is_none());
    assert_fits(&answer.json(), "CommandStatus");
    assert_eq!(answer.json(), json!({"command_id": id, "state": "pending", "position": null, "conflict": null}));
    world.applied(8);
    world.get(&format!("/commands/{id}")).await.problem(404, "not_found");
}
