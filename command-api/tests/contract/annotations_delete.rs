//! `DELETE /annotations/{annotation_id}`

use crate::support::World;
use serde_json::json;

async fn annotated(world: &World) -> String {
    world.sample().await;
    let said = world.post("/traces/external:t-1/annotations").json(&json!({"rating": 1})).send().await.done(201).json();
    format!("/annotations/{}", said["id"].as_str().unwrap())
}

#[tokio::test]
async fn it_is_204_and_then_404() {
    let world = World::new().await;
    let path = annotated(&world).await;
    let answer = world.delete(&path).send().await;
    assert_eq!(answer.done(204).body, b"");
    world.read_after(&path, &answer).await.problem(404, "not_found");
    world.delete(&path).send().await.problem(404, "not_found");
    world.patch(&path).json(&json!({"rating": 1})).send().await.problem(404, "not_found");
    assert_eq!(world.read("/traces/external:t-1").await["annotations"], json!([]));
}

#[tokio::test]
async fn if_match_guards_it() {
    let world = World::new().await;
    let path = annotated(&world).await;
    world.patch(&path).json(&json!({"rating": -1})).send().await.done(200);
    let answer = world.delete(&path).header("if-match", "\"1\"").send().await;
    assert_eq!(answer.problem(409, "version_conflict")["current_version"], 2);
    world.delete(&path).header("if-match", "\"2\"").send().await.done(204);
}
