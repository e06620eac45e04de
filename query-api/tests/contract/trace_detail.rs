//! `GET /traces/{trace_id}`

use crate::support::rows::{NewAnnotation, NewSpan, NewTrace, assistant, call, step, user};
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::json;
use stash_domain::ids::{TraceId, trace_id_of};
use stash_domain::trace::Role;
use uuid::Uuid;

fn refund() -> NewTrace {
    let mut first = user("I want a refund 🦀");
    first.metadata = serde_json::from_str(r#"{"timestamp": "2026-01-01T00:00:00Z"}"#).unwrap();
    NewTrace {
        metadata: r#"{"agent":"bot","exact":123456789012345678901234567890.10}"#.to_owned(),
        steps: vec![
            step(Role::System, "be kind"),
            first,
            call("lookup", r#"{"order": 1.50}"#),
            step(Role::Tool, "delivered"),
            assistant("Done"),
        ],
        spans: vec![
            NewSpan {
                id: "a",
                start_ns: u64::MAX - 1,
                end_ns: u64::MAX,
                input: Some("in"),
                step_indices: vec![1, 2],
                ..NewSpan::default()
            },
            NewSpan { id: "b", parent_id: Some("a"), start_ns: 5, end_ns: 5, ..NewSpan::default() },
        ],
        ..NewTrace::default()
    }
}

#[tokio::test]
async fn a_trace_has_exactly_its_fields() {
    let world = World::new().await;
    let trace = refund();
    world.put(&trace).await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[trace.id]).await;
    world.score(&trace, model, 0.75, true, NOW).await;
    world.action_score(&trace, 4, model, 0.5, true).await;
    let run = world.run(trace.id, model, "queued", NOW).await;
    let annotation = NewAnnotation::on_step(&trace, 4).rated(1);
    world.annotate(&annotation).await;

    let answer = world.get(&format!("/traces/{}", trace.id)).await.ok();
    assert_eq!(answer.headers["content-type"], "application/json");
    // Digits that no double holds.
    assert!(answer.text().contains("123456789012345678901234567890.10"));
    let shown = answer.json();
    assert_fits(&shown, "TraceDetail");
    let made = "2026-09-29T03:12:00Z";
    let step = |index: usize, role: &str, content: &str| {
        json!({"id": trace.step_id(index), "index": index, "role": role, "content": content, "tool_name": null,
               "tool_input": null, "tool_call_id": null, "metadata": null})
    };
    let mut first = step(1, "user", "I want a refund 🦀");
    first["metadata"] = json!({"timestamp": "2026-01-01T00:00:00Z"});
    let mut called = step(2, "assistant", "");
    called["tool_name"] = json!("lookup");
    called["tool_call_id"] = json!("call_1");
    called["tool_input"] = serde_json::from_str(r#"{"order": 1.50}"#).unwrap();
    let expected = json!({
        "id": trace.id, "external_id": null, "title": "Refund", "title_source": "derived", "title_error": null, "source_format": "stash",
        "step_count": 5, "action_count": 2, "positive_count": 1, "negative_count": 0, "comment_count": 0,
        "label_error_count": 0, "created_at": made,
        "latest_score": {"reward_model_id": model, "reward_model_name": "Refunds", "score": 0.75},
        "metadata": serde_json::from_str::<serde_json::Value>(&trace.metadata).unwrap(),
        "steps": [step(0, "system", "be kind"), first, called, step(3, "tool", "delivered"), step(4, "assistant", "Done")],
        "spans": [
            {"id": "a", "parent_id": null, "name": "work", "kind": null, "start_ns": "18446744073709551614",
             "end_ns": "18446744073709551615", "input": "in", "output": null, "step_indices": [1, 2]},
            {"id": "b", "parent_id": "a", "name": "work", "kind": null, "start_ns": "5", "end_ns": "5", "input": null,
             "output": null, "step_indices": []},
        ],
        "annotations": [{
            "id": annotation.id, "trace_id": trace.id, "step_id": trace.step_id(4), "rating": 1, "comment": null,
            "quote": null, "label_error": false, "label_error_note": null, "author_id": world.owner, "author_name": "Ada", "source": null,
            "created_at": made, "updated_at": made, "version": 3,
        }],
        "scores": [{"reward_model_id": model, "reward_model_name": "Refunds", "score": 0.75, "dropped_tokens": 0,
                    "created_at": made}],
        "action_scores": [{"reward_model_id": model, "reward_model_name": "Refunds", "step_id": trace.step_id(4),
                           "score": 1.5, "credit": 0.5, "dropped_tokens": 7, "target_cut": false, "created_at": made}],
        "scoring_runs": [{"id": run, "trace_id": trace.id, "reward_model_id": model, "status": "queued", "error": null,
                          "started_at": null, "finished_at": null, "cancel_requested": false, "phase": "training",
                          "progress": 0.5, "precision": null, "created_at": made}],
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[name], value, "{name}");
    }
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_bare_trace_has_empty_arrays() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let shown = world.get(&format!("/traces/{}", trace.id)).await.ok().json();
    assert_fits(&shown, "TraceDetail");
    for name in ["spans", "annotations", "scores", "action_scores", "scoring_runs"] {
        assert_eq!(shown[name], json!([]), "{name}");
    }
    assert!(shown["latest_score"].is_null());
}

#[tokio::test]
async fn what_was_said_of_a_text_that_no_longer_stands_is_not_shown() {
    let world = World::new().await;
    let trace = refund();
    world.put(&trace).await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[trace.id]).await;
    world.score(&trace, model, 0.75, false, NOW).await;
    world.action_score(&trace, 2, model, 0.1, true).await;
    world.action_score(&trace, 4, model, 0.2, false).await;
    world.annotate(&NewAnnotation { step_id: Some(Uuid::now_v7()), ..NewAnnotation::on(&trace).rated(1) }).await;
    let shown = world.get(&format!("/traces/{}", trace.id)).await.ok().json();
    assert_eq!(shown["scores"], json!([]));
    assert_eq!(shown["annotations"], json!([]));
    let credits: Vec<_> =
        shown["action_scores"].as_array().unwrap().iter().map(|score| score["credit"].as_f64()).collect();
    assert_eq!(credits, [Some(0.1)]);
}

#[tokio::test]
async fn of_each_model_the_latest_run_is_shown() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let models =
        [world.model(world.owner, "a", "succeeded", &[]).await, world.model(world.owner, "b", "succeeded", &[]).await];
    world.run(trace.id, models[0], "failed", NOW).await;
    let latest =
        [world.run(trace.id, models[0], "running", NOW + 1).await, world.run(trace.id, models[1], "queued", NOW).await];
    let shown = world.get(&format!("/traces/{}", trace.id)).await.ok().json();
    let mut shown: Vec<String> =
        shown["scoring_runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    shown.sort();
    let mut latest = latest.map(|id| id.to_string());
    latest.sort();
    assert_eq!(shown, latest);
}

#[tokio::test]
async fn an_external_id_names_the_trace_too() {
    let world = World::new().await;
    let TraceId(id) = trace_id_of(world.owner, "run/7 é");
    let trace = NewTrace { id, external_id: Some("run/7 é".to_owned()), ..NewTrace::default() };
    world.put(&trace).await;
    let shown = world.get("/traces/external:run%2F7%20%C3%A9").await.ok().json();
    assert_eq!(shown["id"], id.to_string());
    world.get("/traces/external:other").await.problem(404, "not_found");
    let long = "x".repeat(600);
    world.get(&format!("/traces/external:{long}")).await.problem(404, "not_found");
    // The same external id of another owner names another trace.
    world.get_as(fresh_owner(), "/traces/external:run%2F7%20%C3%A9").await.problem(404, "not_found");
}

#[tokio::test]
async fn of_another_owner_there_is_none() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    world.get_as(fresh_owner(), &format!("/traces/{}", trace.id)).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_long_trace_is_streamed_whole() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    // Some rows larger than a piece, many smaller ones, and action scores and annotations of more than one piece.
    sqlx::query(
        "INSERT INTO rm_steps (owner_id, trace_id, idx, step_id, role, content, action_digest)
         SELECT $1, $2, n, gen_random_uuid(), 'assistant', repeat(n::text, CASE WHEN n % 1000 = 2 THEN 1500000 ELSE 100 END), '\\x07'
         FROM generate_series(2, 2500) AS n",
    )
    .bind(world.owner.0)
    .bind(trace.id)
    .execute(world.rows())
    .await
    .unwrap();
    sqlx::query("UPDATE rm_traces SET step_count = 2501 WHERE owner_id = $1")
        .bind(world.owner.0)
        .execute(world.rows())
        .await
        .unwrap();
    let model = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    sqlx::query(
        "INSERT INTO rm_action_scores SELECT owner_id, $2, trace_id, step_id, idx, 0, action_digest, 0, false, $3 FROM rm_steps
         WHERE owner_id = $1 AND idx > 1",
    )
    .bind(world.owner.0)
    .bind(model)
    .bind(NOW)
    .execute(world.rows())
    .await
    .unwrap();
    sqlx::query(
        "INSERT INTO rm_annotations (owner_id, annotation_id, trace_id, subject_id, rating, label_error, redacted, author_id,
         created_at, updated_at, version) SELECT $1, gen_random_uuid(), $2, $2, 1, false, false, $1, $3 + n / 7, $3, 1
         FROM generate_series(1, 1200) AS n",
    )
    .bind(world.owner.0)
    .bind(trace.id)
    .bind(NOW)
    .execute(world.rows())
    .await
    .unwrap();

    let answer = world.get(&format!("/traces/{}", trace.id)).await.ok();
    assert!(answer.headers.get("content-length").is_none(), "streamed");
    let shown = answer.json();
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2501);
    assert!(steps.iter().enumerate().all(|(n, step)| step["index"] == n));
    assert_eq!(steps[2002]["content"].as_str().unwrap().len(), 4 * 1_500_000);
    let scores = shown["action_scores"].as_array().unwrap();
    assert!(scores.iter().enumerate().all(|(n, score)| score["score"].as_f64() == Some(n as f64 + 2.0)));
    assert_eq!(scores.len(), 2499);
    assert_eq!(shown["annotations"].as_array().unwrap().len(), 1200);
    assert_eq!(shown["positive_count"], 1200);
}
