//! `GET /reward-models`, `/reward-models/{id}` and `/reward-models/{id}/weights`

use crate::support::rows::NewTrace;
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::{Value, json};
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
            "max_pairs": 4000, "seed": 0, "learning_rate": null, "training": {}, "trace_count": 2, "status": "succeeded", "num_pairs": 12,
            "dataset_digest": null, "base_checksum": null, "code_version": null, "curve": null,
            "metrics": {"train_pairs": 10, "eval_accuracy": 1.0}, "error": null, "created_at": "2026-09-29T03:12:00Z",
            "started_at": "2026-09-29T03:12:01Z", "finished_at": "2026-09-29T03:12:02Z", "trained_on_erased": false,
            "cancel_requested": false, "phase": "training", "progress": 0.5, "trace_ids": ids, "learning": null, "feedback": null,
        })
    );
    world.get_as(fresh_owner(), &format!("/reward-models/{id}")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_model_says_how_its_training_goes_on_and_what_it_was_made_of() {
    let world = World::new().await;
    let id = world.model(world.owner, "Refunds", "running", &[]).await;
    let curve =
        json!({"step": 2, "steps": 5, "eta_s": 1.5, "points": [{"step": 2, "loss": 0.7, "learning_rate": 0.001}]});
    let job = "SELECT job_id FROM rm_reward_models WHERE reward_model_id = $1";
    let set = sqlx::AssertSqlSafe(format!("UPDATE rm_jobs SET curve = $2 WHERE job_id = ({job})"));
    sqlx::query(set).bind(id).bind(curve.to_string()).execute(world.rows()).await.unwrap();
    sqlx::query(
        "UPDATE rm_reward_models SET dataset_digest = 'd', base_checksum = 'b', code_version = '1' WHERE reward_model_id = $1",
    )
    .bind(id)
    .execute(world.rows())
    .await
    .unwrap();
    let detail = world.get(&format!("/reward-models/{id}")).await.ok().json();
    assert_fits(&detail, "RewardModelDetail");
    assert_eq!(detail["curve"], curve);
    assert_eq!(
        (&detail["dataset_digest"], &detail["base_checksum"], &detail["code_version"]),
        (&json!("d"), &json!("b"), &json!("1"))
    );
}

/// Puts a report and findings of a model: each a trace, an index, and whether it is one of a tool call.
async fn learn(world: &World, model: Uuid, findings: &[(Uuid, i32, bool)]) {
    sqlx::query(
        "INSERT INTO rm_learning_reports (owner_id, reward_model_id, attempt, prompt_version, calls, calls_made, input_tokens,
         output_tokens, cost_micros, recorded_at) VALUES ($1, $2, 1, 1, 5, 3, 100, 10, NULL, $3)",
    )
    .bind(world.owner.0)
    .bind(model)
    .bind(NOW)
    .execute(world.rows())
    .await
    .unwrap();
    for (ordinal, (trace, index, is_call)) in (0_i32..).zip(findings) {
        sqlx::query(
            "INSERT INTO rm_findings (owner_id, reward_model_id, ordinal, trace_id, step_id, step_index, tool_name, label,
             confidence, source, evidence_id, evidence_quote, reason, classifier_model, exclusion, included_in_training)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'negative', 'high', 'ai_judgment', $5, 'Bergen', 'Criteria: x. y', 'm', $8, $9)",
        )
        .bind(world.owner.0)
        .bind(model)
        .bind(ordinal)
        .bind(trace)
        .bind(Uuid::from_u128(9))
        .bind(index)
        .bind(is_call.then_some("search"))
        .bind(is_call.then_some("tie"))
        .bind(!is_call)
        .execute(world.rows())
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn view_learning_shows_findings_with_evidence_and_those_of_tool_calls_with_their_tool() {
    let world = World::new().await;
    let trace = Uuid::now_v7();
    let id = world.model(world.owner, "Refunds", "succeeded", &[trace]).await;
    learn(&world, id, &[(trace, 1, false), (trace, 3, true)]).await;
    let detail = world.get(&format!("/reward-models/{id}")).await.ok().json();
    assert_fits(&detail, "RewardModelDetail");
    let finding = |index: i32, tool: Value, exclusion: Value, included: bool| {
        json!({"trace_id": trace, "step_index": index, "label": "negative", "confidence": "high", "source": "ai_judgment",
            "evidence_id": Uuid::from_u128(9), "evidence_quote": "Bergen", "reason": "Criteria: x. y", "classifier_model": "m",
            "included_in_training": included, "tool_name": tool, "exclusion": exclusion})
    };
    assert_eq!(
        detail["feedback"],
        json!([finding(1, json!(null), json!(null), true), finding(3, json!("search"), json!("tie"), false)])
    );
    assert_eq!(
        detail["learning"],
        json!({"prompt_version": 1, "calls": 5, "calls_made": 3, "input_tokens": 100, "output_tokens": 10, "cost_micros": null,
            "recorded_at": "2026-09-29T03:12:00Z"})
    );
    world.get_as(fresh_owner(), &format!("/reward-models/{id}")).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_failed_training_keeps_its_report_and_an_empty_one_is_not_null() {
    let world = World::new().await;
    let id = world.model(world.owner, "Refunds", "failed", &[Uuid::now_v7()]).await;
    let path = format!("/reward-models/{id}");
    assert_eq!(world.get(&path).await.ok().json()["feedback"], json!(null));
    learn(&world, id, &[]).await;
    let detail = world.get(&path).await.ok().json();
    assert_fits(&detail, "RewardModelDetail");
    assert_eq!((&detail["status"], &detail["feedback"]), (&json!("failed"), &json!([])));
}

#[tokio::test]
async fn a_report_of_any_length_is_whole_and_in_order() {
    let world = World::new().await;
    let id = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    let findings: Vec<_> = (0..1203).map(|index| (Uuid::from_u128(1), index, false)).collect();
    learn(&world, id, &findings).await;
    let detail = world.get(&format!("/reward-models/{id}")).await.ok().json();
    let indices: Vec<i64> =
        detail["feedback"].as_array().unwrap().iter().map(|finding| finding["step_index"].as_i64().unwrap()).collect();
    assert_eq!(indices, (0..1203).collect::<Vec<_>>());
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
