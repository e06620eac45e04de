//! `POST /traces/{trace_id}/score`

use crate::support::World;
use crate::support::data::short;
use crate::support::schema::assert_fits;
use serde_json::{Value, json};
use uuid::Uuid;

/// Two traces, and a model trained on them.
async fn trained(world: &World, scores_actions: bool) -> (Vec<String>, String) {
    let ids = world.import(&[short("t-1", "a"), short("t-2", "b")]).await;
    let model = world.trained(&ids, scores_actions).await;
    (ids, model)
}

#[tokio::test]
async fn a_run_is_queued_with_exact_fields() {
    let world = World::new().await;
    let (ids, model) = trained(&world, true).await;
    let body = json!({"reward_model_id": model});
    let answer = world.post(&format!("/traces/{}/score", ids[0])).json(&body).send().await;
    let said = answer.done(202).json();
    assert_fits(&said, "ScoringRun");
    let expected = json!({
        "id": said["id"], "trace_id": ids[0], "reward_model_id": model, "status": "queued", "error": null,
        "started_at": null, "finished_at": null, "cancel_requested": false, "phase": null, "progress": 0.0, "precision": null,
        "created_at": said["created_at"]
    });
    assert_eq!(said, expected);
    let path = format!("/scoring-runs/{}", said["id"].as_str().unwrap());
    assert_eq!(world.read_after(&path, &answer).await.ok(200).json(), said);
    assert_eq!(world.read(&format!("/traces/{}", ids[0])).await["scoring_runs"], json!([said]));
}

#[tokio::test]
async fn a_run_at_work_is_joined_and_one_that_is_over_is_not() {
    let world = World::new().await;
    let (ids, model) = trained(&world, true).await;
    let body = json!({"reward_model_id": model});
    let run = async |trace: &str| -> Value {
        let answer = world.post(&format!("/traces/{trace}/score")).json(&body).send().await;
        answer.done(202).json()["id"].clone()
    };
    let first = run(&ids[0]).await;
    assert_eq!(run("external:t-1").await, first);
    let joined = async || {
        let path = format!("/traces/{}/score", ids[0]);
        world.post(&path).json(&body).idempotent("joins").send().await.done(202).json()["id"].clone()
    };
    assert_eq!(joined().await, first);
    assert_ne!(run(&ids[1]).await, first, "of another trace");
    let job = world.job_of("rm_scoring_runs", "run_id", first.as_str().unwrap().parse().unwrap()).await;
    world.claim(job).await;
    assert_eq!(run(&ids[0]).await, first, "while it runs");
    world.complete(job).await;
    assert_eq!(joined().await, first, "a repeat of a request that joined it begins nothing");
    assert_ne!(run(&ids[0]).await, first, "once it is over");
    assert_eq!(joined().await, first, "nor is it given a later run");
    assert_eq!(world.count("rm_scoring_runs").await, 3);
}

#[tokio::test]
async fn of_requests_at_the_same_moment_one_starts_the_run_and_the_others_join_it() {
    const REQUESTS: u64 = 6;
    let world = World::new().await;
    let (ids, model) = trained(&world, true).await;
    // Nothing is projected, so that all of them decide on the same state; then all of them are judged.
    world.stop_projector().await;
    let before = world.tail().await;
    let (path, body) = (format!("/traces/{}/score", ids[0]), json!({"reward_model_id": model}));
    let request = async |number: u64| world.post(&path).json(&body).idempotent(&format!("key-{number}")).send().await;
    let requests = futures::future::join_all((0..REQUESTS).map(request));
    let (answers, ()) = tokio::join!(requests, async {
        while world.tail().await < before + REQUESTS {
            tokio::task::yield_now().await;
        }
        world.start_projector().await;
    });
    let runs: Vec<Value> = answers.into_iter().map(|answer| answer.done(202).json()["id"].clone()).collect();
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
    assert_eq!(world.count("rm_scoring_runs").await, 1);
    for number in 0..REQUESTS {
        assert_eq!(request(number).await.done(202).json()["id"], runs[0], "a repeat answers the same");
    }
    let job = world.job_of("rm_scoring_runs", "run_id", runs[0].as_str().unwrap().parse().unwrap()).await;
    world.claim(job).await;
    world.complete(job).await;
    assert_ne!(request(REQUESTS).await.done(202).json()["id"], runs[0], "once it is over");
}

#[tokio::test]
async fn things_of_others_are_not_found() {
    let world = World::new().await;
    let (ids, model) = trained(&world, true).await;
    let (_, eve) = world.stranger().await;
    let hers = world.post("/traces/import?format=stash").key(&eve).jsonl(&short("t-1", "a").to_string()).send().await;
    let hers = hers.done(200).json()["trace_ids"][0].as_str().unwrap().to_owned();
    let mine = json!({"reward_model_id": model});
    for trace in [&hers, &Uuid::nil().to_string()] {
        let answer = world.post(&format!("/traces/{trace}/score")).json(&mine).send().await;
        assert!(answer.detail(404, "not_found").contains(trace.as_str()));
    }
    for (trace, key) in [(&ids[0], &eve), (&hers, &eve)] {
        let answer = world.post(&format!("/traces/{trace}/score")).key(key).json(&mine).send().await;
        answer.problem(404, "not_found");
    }
    let nothing = json!({"reward_model_id": Uuid::nil()});
    let answer = world.post(&format!("/traces/{}/score", ids[0])).json(&nothing).send().await;
    assert!(answer.detail(404, "not_found").contains("reward model"));
}

#[tokio::test]
async fn traces_without_actions_and_models_that_cannot_are_422() {
    let world = World::new().await;
    let (ids, model) = trained(&world, true).await;
    world.import(&[json!({"id": "t-3", "steps": [{"role": "user", "content": "hi"}]})]).await;
    let answer = world.post("/traces/external:t-3/score").json(&json!({"reward_model_id": model})).send().await;
    answer.problem(422, "no_actions");

    let untrained = world.post("/reward-models").json(&json!({"name": "new", "trace_ids": ids})).send().await;
    let untrained = untrained.done(201).json()["id"].clone();
    let path = format!("/traces/{}/score", ids[0]);
    let answer = world.post(&path).json(&json!({"reward_model_id": untrained})).send().await;
    assert!(answer.detail(422, "incompatible_model").contains("queued"));

    let of_traces_alone = world.trained(&ids, false).await;
    let answer = world.post(&path).json(&json!({"reward_model_id": of_traces_alone})).send().await;
    answer.problem(422, "incompatible_model");

    for body in [json!({}), json!({"reward_model_id": "x"}), json!({"reward_model_id": null})] {
        assert!(world.post(&path).json(&body).send().await.detail(422, "invalid_field").contains("reward_model_id"));
    }
    assert_eq!(world.count("rm_scoring_runs").await, 0);
}
