//! `DELETE /reward-models/{reward_model_id}`

use crate::support::World;
use crate::support::data::short;
use serde_json::{Value, json};
use uuid::Uuid;

async fn traces(world: &World) -> Vec<String> {
    world.import(&[short("t-1", "a"), short("t-2", "b")]).await
}

/// A model that nobody trains yet.
async fn queued(world: &World, traces: &[String]) -> String {
    let made = world.post("/reward-models").json(&json!({"name": "mine", "trace_ids": traces})).send().await;
    made.done(201).json()["id"].as_str().unwrap().to_owned()
}

/// State and kind of all jobs, in the order they were asked for.
async fn jobs(world: &World) -> Vec<(String, String)> {
    let jobs = "SELECT kind, state FROM rm_jobs ORDER BY created_at, job_id";
    sqlx::query_as(jobs).fetch_all(&world.pools.system).await.unwrap()
}

fn job(kind: &str, state: &str) -> (String, String) {
    (kind.to_owned(), state.to_owned())
}

#[tokio::test]
async fn a_trained_model_goes_with_what_it_made_and_a_job_removes_its_checkpoint() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let model = world.trained(&ids, true).await;
    let kept = world.trained(&ids, true).await;
    let score = |trace: &str| format!("/traces/{trace}/score");
    let run = world.post(&score(&ids[0])).json(&json!({"reward_model_id": model})).send().await.done(202).json();
    let path = format!("/reward-models/{model}");
    let answer = world.delete(&path).send().await;
    assert_eq!(answer.done(204).body, b"");

    world.read_after(&path, &answer).await.problem(404, "not_found");
    for path in [format!("{path}/weights"), format!("/scoring-runs/{}", run["id"].as_str().unwrap())] {
        world.get(&path).send().await.problem(404, "not_found");
    }
    world.get(&format!("/export/pairs?reward_model_id={model}")).send().await.problem(404, "not_found");
    world.delete(&path).send().await.problem(404, "not_found");
    world.patch(&path).json(&json!({"name": "x"})).send().await.problem(404, "not_found");
    world.post(&format!("{path}/cancel")).send().await.problem(404, "not_found");
    world.post(&score(&ids[1])).json(&json!({"reward_model_id": model})).send().await.problem(404, "not_found");
    let listed = world.read("/reward-models").await;
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(listed, [&json!(kept)]);

    let purges: Vec<(String, Option<Uuid>)> =
        sqlx::query_as("SELECT compute, reward_model_id FROM rm_jobs WHERE kind = 'purge'")
            .fetch_all(&world.pools.system)
            .await
            .unwrap();
    assert_eq!(purges, [("local".to_owned(), Some(model.parse().unwrap()))]);
    let digest: Option<String> = sqlx::query_scalar("SELECT artifact_digest FROM rm_deleted_reward_models")
        .fetch_one(&world.pools.system)
        .await
        .unwrap();
    assert_eq!(digest, Some("0".repeat(64)), "what stays names the checkpoint that was");
    world.rebuild().await;
}

#[tokio::test]
async fn a_training_that_has_not_begun_is_cancelled() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let model = queued(&world, &ids).await;
    world.delete(&format!("/reward-models/{model}")).send().await.done(204);
    assert_eq!(jobs(&world).await, [job("train", "cancelled")], "and there is nothing to remove");
    assert_eq!(world.read("/reward-models").await, json!([]));
}

#[tokio::test]
async fn a_model_in_training_is_to_be_cancelled_first() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let model = queued(&world, &ids).await;
    world.claim(world.job_of("rm_reward_models", "reward_model_id", model.parse().unwrap()).await).await;
    let path = format!("/reward-models/{model}");
    let detail = world.delete(&path).send().await.detail(409, "version_conflict");
    assert!(detail.contains("cancel"), "{detail}");
    assert_eq!(world.read(&path).await["status"], "running");
    assert_eq!(jobs(&world).await, [job("train", "running")]);
}

#[tokio::test]
async fn what_others_have_and_what_nobody_has_is_404_and_stays() {
    let world = World::new().await;
    let ids = traces(&world).await;
    let path = format!("/reward-models/{}", world.trained(&ids, true).await);
    let (_, eve) = world.stranger().await;
    world.delete(&path).key(&eve).send().await.problem(404, "not_found");
    world.patch(&path).key(&eve).json(&json!({"name": "hers"})).send().await.problem(404, "not_found");
    world.delete(&format!("/reward-models/{}", Uuid::nil())).send().await.problem(404, "not_found");
    assert_eq!(world.read(&path).await["name"], "mine");
    assert_eq!(world.count("rm_deleted_reward_models").await, 0);
}
