//! `GET` and `PATCH /llm-processing`: what an account allows.

use crate::support::World;
use serde_json::{Value, json};

fn uses(titles: bool, learning: bool) -> Value {
    json!({
        "titles": {"allowed": titles, "model": "hosted_vllm/titles"},
        "learning": {"allowed": learning, "model": null},
    })
}

#[tokio::test]
async fn everything_is_allowed_until_the_account_says_otherwise_and_each_use_by_itself() {
    let world = World::new().await;
    assert_eq!(world.read("/llm-processing").await, uses(true, true));
    let answer = world.patch("/llm-processing").json(&json!({"titles": false})).send().await;
    assert_eq!(answer.done(200).json(), uses(false, true));
    let answer = world.patch("/llm-processing").json(&json!({"titles": true, "learning": false})).send().await;
    assert_eq!(answer.done(200).json(), uses(true, false));
    assert_eq!(world.read("/llm-processing").await, uses(true, false));
    world.rebuild().await;
    assert_eq!(world.read("/llm-processing").await, uses(true, false));
}

#[tokio::test]
async fn it_is_the_callers_own_and_something_must_be_named() {
    let world = World::new().await;
    world.patch("/llm-processing").json(&json!({"learning": false})).send().await.done(200);
    let (_, eve) = world.stranger().await;
    assert_eq!(world.get("/llm-processing").key(&eve).send().await.ok(200).json(), uses(true, true));
    for body in [json!({}), json!({"titles": null}), json!({"titles": "no"})] {
        world.patch("/llm-processing").json(&body).send().await.problem(422, "invalid_field");
    }
}

#[tokio::test]
async fn a_repeat_with_the_same_key_answers_alike() {
    let world = World::new().await;
    let body = json!({"titles": false});
    for _ in 0..2 {
        let answer = world.patch("/llm-processing").idempotent("once").json(&body).send().await;
        assert_eq!(answer.done(200).json(), uses(false, true));
    }
}
