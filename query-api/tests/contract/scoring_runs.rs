//! `GET /scoring-runs/{run_id}`

use crate::support::rows::NewTrace;
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::json;

#[tokio::test]
async fn a_run_has_exactly_its_fields() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[trace.id]).await;
    let run = world.run(trace.id, model, "running", NOW).await;

    let shown = world.get(&format!("/scoring-runs/{run}")).await.ok().json();
    assert_fits(&shown, "ScoringRun");
    assert_eq!(
        shown,
        json!({
            "id": run, "trace_id": trace.id, "reward_model_id": model, "status": "running", "error": null,
            "created_at": "2026-09-29T03:12:00Z", "started_at": "2026-09-29T03:12:01Z", "finished_at": null,
            "cancel_requested": false, "phase": "training", "progress": 0.5, "precision": null,
        })
    );
    world.get_as(fresh_owner(), &format!("/scoring-runs/{run}")).await.problem(404, "not_found");
}

#[tokio::test]
async fn the_status_is_that_of_the_job() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[trace.id]).await;
    for (state, status, error) in [
        ("queued", "queued", json!(null)),
        ("succeeded", "succeeded", json!(null)),
        ("cancelled", "failed", json!("cancelled")),
        ("parked", "failed", json!("no worker")),
    ] {
        let run = world.run(trace.id, model, state, NOW).await;
        let shown = world.get(&format!("/scoring-runs/{run}")).await.ok().json();
        assert_eq!((&shown["status"], &shown["error"]), (&json!(status), &error), "{state}");
        assert_eq!(shown["started_at"].is_null(), state == "queued");
        assert_eq!(shown["finished_at"].is_null(), state == "queued");
    }
}
