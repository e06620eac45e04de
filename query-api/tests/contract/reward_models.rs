//! `GET /reward-models`, `/reward-models/{id}` and `/reward-models/{id}/weights`

use crate::support::rows::NewTrace;
use crate::support::schema::assert_fits;
use crate::support::{World, fresh_owner};
use serde_json::json;
use stash_domain::ids::{OwnerId, RewardModelId};
use stash_infra::artifacts::{ArtifactKey, ArtifactStore as _};
use uuid::Uuid;

#[tokio::test]
async fn a_trained_model_has_exactly_its_fields() {
    let world = World::new().await;
    let traces = [NewTrace::default(), NewTrace::default()];
    let ids = [traces[1].id, traces[0].id];
    let id = world.model(world.owner, "Refunds", "succeeded", &ids).await;
    let detail = world.get(&format!("/reward-models/{id}")).await.ok().json();
    assert_fits(&detail, "RewardModelDetail");
    assert_eq!(
        detail,
        json!({
            "id": id, "name": "Refunds", "base_model": "Qwen/Qwen3-0.6B", "compute": "local", "epochs": 1,
            "max_pairs": 4000, "seed": 0, "learning_rate": null, "trace_count": 2, "status": "succeeded", "num_pairs": 12,
            "metrics": {"train_pairs": 10, "eval_accuracy": 1.0}, "error": null, "created_at": "2026-09-29T03:12:00Z",
            "started_at": "2026-09-29T03:12:01Z", "finished_at": "2026-09-29T03:12:02Z", "trained_on_erased": false,
            "cancel_requested": false, "phase": "training", "progress": 0.5, "trace_ids": ids, "feedback": null,
        })
    );
    world.get_as(fresh_owner(), &format!("/reward-models/{id}")).await.problem(404, "not_found");
}

#[tokio::test]
async fn before_and_without_success_the_figures_are_null() {
    let world = World::new().await;
    for (state, status, error) in [
        ("queued", "queued", json!(null)),
        ("running", "running", json!(null)),
        ("failed", "failed", json!("too few pairs")),
    ] {
        let id = world.model(world.owner, "Refunds", state, &[Uuid::now_v7()]).await;
        let detail = world.get(&format!("/reward-models/{id}")).await.ok().json();
        assert_fits(&detail, "RewardModelDetail");
        assert_eq!((&detail["status"], &detail["error"]), (&json!(status), &error));
        assert!(detail["metrics"].is_null() && detail["num_pairs"].is_null());
        world.get(&format!("/reward-models/{id}/weights")).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn the_list_is_a_bare_array_of_the_owners_models_with_a_link_to_the_next_page() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(world.model(world.owner, &format!("m{n}"), "queued", &[]).await);
    }
    world.model(fresh_owner(), "someone else's", "queued", &[]).await;
    // All of one moment, so in the order of their ids.
    ids.sort();

    let all = world.get("/reward-models").await.ok();
    assert!(all.headers.get("link").is_none());
    let all = all.json();
    all.as_array().unwrap().iter().for_each(|model| assert_fits(model, "RewardModel"));
    let listed = |page: &serde_json::Value| -> Vec<Uuid> {
        page.as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().parse().unwrap()).collect()
    };
    assert_eq!(listed(&all), ids);

    let page = world.get("/reward-models?limit=2").await.ok();
    assert_eq!(page.headers["link"], "<?limit=2&offset=2>; rel=\"next\"");
    assert_eq!(listed(&page.json()), ids[..2]);
    assert_eq!(listed(&world.get("/reward-models?limit=2&offset=2").await.ok().json()), ids[2..]);
    for bad in ["limit=0", "limit=501", "offset=-1"] {
        world.get(&format!("/reward-models?{bad}")).await.problem(422, "bad_limit");
    }
}

#[tokio::test]
async fn weights_are_a_link_that_works_for_five_minutes() {
    let world = World::new().await;
    let id = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    store_checkpoint(&world, id).await;

    let answer = world.get(&format!("/reward-models/{id}/weights")).await.ok().json();
    assert_fits(&answer, "Weights");
    assert_eq!(answer.as_object().unwrap().len(), 1);
    let url = answer["url"].as_str().unwrap().strip_prefix("http://localhost:8080").unwrap().to_owned();
    let file = world.get_root(&url).await.ok();
    assert_eq!(file.body, b"weights");

    world.clock.advance(5 * 60 * 1_000_000);
    let detail = world.get_root(&url).await.problem(403, "bad_link");
    assert!(detail.contains("expired"), "{detail}");
    world.get_as(fresh_owner(), &format!("/reward-models/{id}/weights")).await.problem(404, "not_found");
}

/// Puts a checkpoint where the model's row says it is.
pub(crate) async fn store_checkpoint(world: &World, model: Uuid) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"weights").unwrap();
    let key = ArtifactKey::reward_model(OwnerId(world.owner.0), RewardModelId(model));
    world.store.put_file(&key, file.path()).await.unwrap();
}
