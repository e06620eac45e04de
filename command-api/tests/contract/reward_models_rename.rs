//! `PATCH /reward-models/{reward_model_id}`

use crate::support::World;
use crate::support::data::short;
use crate::support::schema::assert_fits;
use serde_json::{Value, json};

#[tokio::test]
async fn a_model_gets_another_name_and_nothing_else_changes() {
    let world = World::new().await;
    let ids = world.import(&[short("t-1", "a")]).await;
    let path = format!("/reward-models/{}", world.trained(&ids, true).await);
    let before = world.read(&path).await;
    let answer = world.patch(&path).json(&json!({"name": " Refunds, 2nd \u{e9}dition "})).send().await;
    let said = answer.done(200).json();
    assert_fits(&said, "RewardModel");
    assert_eq!(said["name"], "Refunds, 2nd \u{e9}dition");
    let mut expected = before;
    expected["name"] = said["name"].clone();
    assert_eq!(world.read_after(&path, &answer).await.ok(200).json(), expected);
    world.rebuild().await;
}

#[tokio::test]
async fn a_model_that_is_being_trained_can_be_renamed() {
    let world = World::new().await;
    let ids = world.import(&[short("t-1", "a")]).await;
    let made = world.post("/reward-models").json(&json!({"name": "mine", "trace_ids": ids})).send().await;
    let id = made.done(201).json()["id"].as_str().unwrap().to_owned();
    world.claim(world.job_of("rm_reward_models", "reward_model_id", id.parse().unwrap()).await).await;
    let path = format!("/reward-models/{id}");
    let said = world.patch(&path).json(&json!({"name": "other"})).send().await.done(200).json();
    assert_eq!((&said["name"], &said["status"]), (&json!("other"), &json!("running")));
}

#[tokio::test]
async fn wrong_names_are_422_and_change_nothing() {
    let world = World::new().await;
    let ids = world.import(&[short("t-1", "a")]).await;
    let path = format!("/reward-models/{}", world.trained(&ids, true).await);
    let tail = world.tail().await;
    for name in [json!(" "), json!("x".repeat(201)), json!("a\u{1}b"), json!(7), Value::Null] {
        let answer = world.patch(&path).json(&json!({"name": name})).send().await;
        assert!(answer.detail(422, "invalid_field").contains("name"), "{name}");
    }
    world.patch(&path).json(&json!({})).send().await.problem(422, "invalid_field");
    assert_eq!(world.tail().await, tail);
    assert_eq!(world.read(&path).await["name"], "mine");
}
