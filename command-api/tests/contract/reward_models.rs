//! `POST /reward-models` and `POST /reward-models/{reward_model_id}/cancel`

use crate::support::data::short;
use crate::support::schema::assert_fits;
use crate::support::{Setup, World};
use serde_json::{Value, json};
use uuid::Uuid;

/// The choices of a training that leaves all to the recipe.
fn no_choices() -> Value {
    json!({
        "method": null, "lora_rank": null, "lora_alpha": null, "batch_pairs": null, "schedule": null, "warmup": null,
        "weight_decay": null, "clip_norm": null, "center": null, "freeze_embeddings": null
    })
}

async fn traces(world: &World) -> Vec<String> {
    world.import(&[short("t-1", "a"), short("t-2", "b")]).await
}

#[tokio::test]
async fn a_model_is_queued_with_exact_fields_and_defaults() {
    let world = World::new().await;
    let traces = traces(&world).await;
    let answer = world.post("/reward-models").json(&json!({"name": " mine ", "trace_ids": traces})).send().await;
    let said = answer.done(201).json();
    assert_fits(&said, "RewardModel");
    let expected = json!({
        "id": said["id"], "name": "mine", "base_model": "Qwen/Qwen3-0.6B", "compute": "local", "epochs": 1,
        "max_pairs": 4000, "seed": 0, "learning_rate": null, "training": no_choices(), "trace_count": 2, "status": "queued", "error": null,
        "started_at": null, "finished_at": null, "cancel_requested": false, "phase": null, "progress": 0.0,
        "num_pairs": null, "metrics": null, "trained_on_erased": false, "created_at": said["created_at"]
    });
    assert_eq!(said, expected);
    let path = format!("/reward-models/{}", said["id"].as_str().unwrap());
    let read = world.read_after(&path, &answer).await.ok(200).json();
    assert_eq!(read["trace_ids"], json!(traces));
    assert_eq!(world.read("/reward-models").await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn what_is_asked_for_is_what_it_gets() {
    let world = World::new().await;
    let traces = traces(&world).await;
    let body = json!({
        "name": "mine", "trace_ids": traces, "base_model": "stash/tiny", "epochs": 3, "max_pairs": 10, "seed": -7,
        "learning_rate": 0.001, "training": {
            "method": "lora", "lora_rank": 8, "lora_alpha": 16.0, "batch_pairs": 4, "schedule": "cosine", "warmup": 0.1,
            "weight_decay": 0.0, "clip_norm": 0.5, "center": 0.01, "freeze_embeddings": false
        }
    });
    let said = world.post("/reward-models").json(&body).send().await.done(201).json();
    for field in ["name", "base_model", "epochs", "max_pairs", "seed", "learning_rate", "training"] {
        assert_eq!(said[field], body[field], "{field}");
    }
}

#[tokio::test]
async fn the_first_trace_that_the_caller_does_not_own_is_named() {
    let world = World::new().await;
    let mine = traces(&world).await;
    let (_, eve) = world.stranger().await;
    let foreign =
        world.post("/traces/import?format=stash").key(&eve).jsonl(&short("t-1", "a").to_string()).send().await;
    let hers = foreign.done(200).json()["trace_ids"][0].as_str().unwrap().to_owned();
    world.get("/traces").key(&eve).after(&foreign).send().await.ok(200);
    let unknown = Uuid::from_u128(7).to_string();
    for (ids, first) in
        [(vec![&mine[0], &hers, &unknown], &hers), (vec![&unknown, &mine[1], &hers], &unknown), (vec![&hers], &hers)]
    {
        let answer = world.post("/reward-models").json(&json!({"name": "x", "trace_ids": ids})).send().await;
        let problem = answer.problem(404, "not_found");
        assert_eq!(problem["trace_id"], first.as_str());
        assert!(problem["detail"].as_str().unwrap().contains(first.as_str()), "{problem}");
    }
    assert_eq!(world.read("/reward-models").await, json!([]));
}

#[tokio::test]
async fn wrong_fields_are_422_and_named() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let with = |field: &str, value: Value| {
        let mut body = json!({"name": "mine", "trace_ids": ids});
        body[field] = value;
        body
    };
    for (field, value) in [
        ("name", json!(" ")),
        ("name", json!("x".repeat(201))),
        ("name", Value::Null),
        ("trace_ids", json!([])),
        ("trace_ids", json!([ids[0], ids[0]])),
        ("trace_ids", json!(["x"])),
        ("base_model", json!("")),
        ("epochs", json!(0)),
        ("epochs", json!(101)),
        ("epochs", json!(1.5)),
        ("max_pairs", json!(0)),
        ("max_pairs", json!(100_001)),
        ("seed", json!("x")),
        ("learning_rate", json!(0)),
        ("learning_rate", json!(-1.0)),
    ] {
        let detail = world.post("/reward-models").json(&with(field, value)).send().await.detail(422, "invalid_field");
        assert!(detail.contains(field), "{field}: {detail}");
    }
    for (field, value) in [
        ("method", json!("qlora")),
        ("method", json!(1)),
        ("lora_rank", json!(0)),
        ("lora_rank", json!(1025)),
        ("lora_alpha", json!(0)),
        ("lora_alpha", json!(1e7)),
        ("batch_pairs", json!(0)),
        ("batch_pairs", json!(4097)),
        ("batch_pairs", json!(1.5)),
        ("schedule", json!("step")),
        ("warmup", json!(-0.1)),
        ("warmup", json!(1.1)),
        ("weight_decay", json!(-1)),
        ("weight_decay", json!(10.5)),
        ("clip_norm", json!(0)),
        ("clip_norm", json!(2e6)),
        ("center", json!(-0.01)),
        ("center", json!(101)),
        ("freeze_embeddings", json!("no")),
        ("no_such_choice", json!(1)),
    ] {
        let mut choices = json!({"method": "lora"});
        choices[field] = value;
        let body = with("training", choices);
        let detail = world.post("/reward-models").json(&body).send().await.detail(422, "invalid_field");
        assert!(detail.contains(field), "{field}: {detail}");
    }
    for field in ["lora_rank", "lora_alpha"] {
        for choices in [json!({field: 4}), json!({"method": "full", field: 4})] {
            let answer = world.post("/reward-models").json(&with("training", choices)).send().await;
            assert!(answer.detail(422, "invalid_field").contains(field));
        }
    }
    let nothing = world.post("/reward-models").json(&json!({"name": "mine"})).send().await;
    assert!(nothing.detail(422, "invalid_field").contains("trace_ids"));
}

#[tokio::test]
async fn without_the_setting_training_is_refused_and_the_setting_is_named() {
    let world = World::with(Setup { compute: None, ..Setup::default() }).await;
    let ids = traces(&world).await;
    let answer = world.post("/reward-models").json(&json!({"name": "mine", "trace_ids": ids})).send().await;
    assert!(answer.detail(503, "not_configured").contains("RM_COMPUTE"));
    assert_eq!(world.count("rm_jobs").await, 0);
}

#[tokio::test]
async fn no_field_of_a_request_chooses_where_it_runs() {
    let world = World::with(Setup { compute: Some("remote"), ..Setup::default() }).await;
    let ids = traces(&world).await;
    let body = json!({"name": "mine", "trace_ids": ids, "compute": "local", "RM_COMPUTE": "local"});
    let said = world.post("/reward-models").json(&body).send().await.done(201).json();
    assert_eq!(said["compute"], "remote");
    let model = world.trained(&ids, true).await;
    let body = json!({"reward_model_id": model, "compute": "local"});
    world.post(&format!("/traces/{}/score", ids[0])).json(&body).send().await.done(202);
    let classes: Vec<String> =
        sqlx::query_scalar("SELECT DISTINCT compute FROM rm_jobs").fetch_all(&world.pools.system).await.unwrap();
    assert_eq!(classes, ["remote"]);
}

#[tokio::test]
async fn a_queued_model_is_cancelled_at_once_and_then_there_is_nothing_to_cancel() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let made = world.post("/reward-models").json(&json!({"name": "mine", "trace_ids": ids})).send().await;
    let path = format!("/reward-models/{}", made.done(201).json()["id"].as_str().unwrap());
    let answer = world.post(&format!("{path}/cancel")).send().await;
    let said = answer.done(200).json();
    assert_fits(&said, "RewardModel");
    assert_eq!((&said["status"], &said["error"]), (&json!("failed"), &json!("cancelled")));
    assert_eq!((&said["cancel_requested"], &said["started_at"]), (&json!(true), &Value::Null));
    assert!(said["finished_at"].is_string());
    assert_eq!(world.read_after(&path, &answer).await.ok(200).json()["status"], "failed");
    world.post(&format!("{path}/cancel")).send().await.problem(409, "version_conflict");
    let nothing = format!("/reward-models/{}/cancel", Uuid::nil());
    world.post(&nothing).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn a_running_model_is_asked_to_stop() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let made = world.post("/reward-models").json(&json!({"name": "mine", "trace_ids": ids})).send().await;
    let id = made.done(201).json()["id"].as_str().unwrap().to_owned();
    world.claim(world.job_of("rm_reward_models", "reward_model_id", id.parse().unwrap()).await).await;
    let said = world.post(&format!("/reward-models/{id}/cancel")).send().await.done(200).json();
    assert_eq!((&said["status"], &said["cancel_requested"]), (&json!("running"), &json!(true)));
}
