//! `DELETE /traces/{trace_id}`

use crate::support::World;
use crate::support::data::{lines, sample};
use serde_json::json;

#[tokio::test]
async fn it_is_204_and_then_404_and_everything_goes_with_it() {
    let world = World::new().await;
    let trace = world.sample().await;
    let path = format!("/traces/{}", trace["id"].as_str().unwrap());
    let annotation = world.post(&format!("{path}/annotations")).json(&json!({"comment": "x"})).send().await;
    let annotation = format!("/annotations/{}", annotation.done(201).json()["id"].as_str().unwrap());
    let answer = world.delete(&path).send().await;
    assert_eq!(answer.done(204).body, b"");
    world.read_after(&path, &answer).await.problem(404, "not_found");
    for gone in [&path, "/traces/external:t-1", &annotation] {
        world.delete(gone).send().await.problem(404, "not_found");
    }
    world.post(&format!("{path}/annotations")).json(&json!({"rating": 1})).send().await.problem(404, "not_found");
    world.patch(&annotation).json(&json!({"rating": 1})).send().await.problem(404, "not_found");
    assert_eq!(world.count("subject_key").await, 0, "its keys are shredded");
}

#[tokio::test]
async fn the_external_id_names_it_and_it_may_come_back() {
    let world = World::new().await;
    let before = world.sample().await;
    world.delete("/traces/external:t-1").send().await.done(204);
    let answer = world.post("/traces/import?format=stash").jsonl(&lines(&[sample("t-1")])).send().await;
    let said = answer.done(200).json();
    assert_eq!((&said["updated"], &said["trace_ids"][0]), (&json!(0), &before["id"]));
    let after = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert_ne!(after["steps"][1]["id"], before["steps"][1]["id"], "no id tells that the content is the same");
}

#[tokio::test]
async fn nobody_else_can_do_it() {
    let world = World::new().await;
    world.sample().await;
    let (_, key) = world.stranger().await;
    world.delete("/traces/external:t-1").key(&key).send().await.problem(404, "not_found");
    world.read("/traces/external:t-1").await;
}
