//! `GET /export/pairs`

use crate::support::rows::{NewAnnotation, NewTrace, assistant, call, user};
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::{Value, json};
use stash_domain::rendering::{Form, RenderedTrace};
use uuid::Uuid;

fn trace(answer: &str) -> NewTrace {
    NewTrace {
        steps: vec![user("refund?"), call("lookup", r#"{"id": "é"}"#), assistant(answer)],
        ..NewTrace::default()
    }
}

#[tokio::test]
async fn ratings_make_pairs_of_the_rendered_texts() {
    let world = World::new().await;
    let (good, bad) = (trace("Here you are"), trace("No"));
    for (trace, rating) in [(&good, 1), (&bad, -1)] {
        world.put(trace).await;
        world.annotate(&NewAnnotation::on(trace).rated(rating)).await;
        world.annotate(&NewAnnotation::on_step(trace, 2).rated(rating)).await;
    }
    let answer = world.get("/export/pairs").await.ok();
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    let lines = answer.lines();
    lines.iter().for_each(|line| assert_fits(line, "Pair"));
    let rendered = |trace: &NewTrace| RenderedTrace::of(&trace.steps, Form::ChatMl);
    let action = |trace| rendered(trace).action_text(2).unwrap().text;
    let whole = |trace| rendered(trace).trace_text().text;
    // The actions share their context, so they come first.
    assert_eq!(
        lines,
        [
            json!({"chosen": action(&good), "rejected": action(&bad), "trace_ids": [good.id, bad.id],
                   "granularity": "action", "action_type": "response", "source": "explicit_rating",
                   "generated": null, "evidence": null}),
            json!({"chosen": whole(&good), "rejected": whole(&bad), "trace_ids": [good.id, bad.id],
                   "granularity": "trace", "action_type": null, "source": "explicit_rating",
                   "generated": null, "evidence": null}),
        ]
    );
}

#[tokio::test]
async fn what_trains_nothing_makes_no_pair() {
    let world = World::new().await;
    let (good, bad) = (trace("Here you are"), trace("No"));
    world.put(&good).await;
    world.put(&bad).await;
    world.annotate(&NewAnnotation::on(&good).rated(1)).await;
    // Flagged; on a step that is gone; on a step that is no action; a comment alone.
    for annotation in [
        NewAnnotation { label_error: true, ..NewAnnotation::on(&bad).rated(-1) },
        NewAnnotation { step_id: Some(Uuid::now_v7()), ..NewAnnotation::on(&bad).rated(-1) },
        NewAnnotation::on_step(&bad, 0).rated(-1),
        NewAnnotation { comment: Some("bad"), ..NewAnnotation::on(&bad) },
    ] {
        world.annotate(&annotation).await;
    }
    assert!(world.get("/export/pairs").await.ok().body.is_empty());
    // The newest rating of an author counts.
    world.annotate(&NewAnnotation { created_at: NOW + 1, ..NewAnnotation::on(&bad).rated(-1) }).await;
    world.annotate(&NewAnnotation { created_at: NOW + 2, ..NewAnnotation::on(&bad).rated(1) }).await;
    assert!(world.get("/export/pairs").await.ok().body.is_empty());
    world.annotate(&NewAnnotation { created_at: NOW + 3, ..NewAnnotation::on(&bad).rated(-1) }).await;
    assert_eq!(world.get("/export/pairs").await.ok().lines().len(), 1);
}

#[tokio::test]
async fn two_actions_of_one_trace_name_it_once_and_kinds_do_not_mix() {
    let world = World::new().await;
    let mut trace = trace("Here you are");
    trace.steps.extend([call("refund", "{}"), assistant("No")]);
    world.put(&trace).await;
    for (index, rating) in [(1, 1), (2, 1), (4, -1)] {
        world.annotate(&NewAnnotation::on_step(&trace, index).rated(rating)).await;
    }
    let lines = world.get("/export/pairs").await.ok().lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["trace_ids"], json!([trace.id]));
    assert_eq!(lines[0]["action_type"], "response");
}

#[tokio::test]
async fn seed_and_number_are_those_asked_for() {
    let world = World::new().await;
    for n in 0..12 {
        let trace = trace(&n.to_string());
        world.put(&trace).await;
        world.annotate(&NewAnnotation::on(&trace).rated(if n % 2 == 0 { 1 } else { -1 })).await;
    }
    let all = world.get("/export/pairs").await.ok().lines();
    assert_eq!(all.len(), 36);
    let ids = |lines: &[Value]| lines.iter().map(|line| line["trace_ids"].to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&world.get("/export/pairs?max_pairs=5&seed=0").await.ok().lines()), ids(&all[..5]));
    assert_ne!(ids(&world.get("/export/pairs?seed=1").await.ok().lines()), ids(&all));
    for bad in ["max_pairs=0", "max_pairs=100001", "max_pairs=x", "seed=1.5", "reward_model_id=x"] {
        world.get(&format!("/export/pairs?{bad}")).await.problem(422, "invalid_field");
    }
}

#[tokio::test]
async fn a_models_pairs_are_exactly_those_it_was_trained_on() {
    let world = World::new().await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    let traces = [Uuid::now_v7(), Uuid::now_v7()];
    // The third pair has lost a side.
    for (ordinal, side, trace, text) in [
        (0, "chosen", 0, "a".repeat(3_000_000)),
        (0, "rejected", 0, "b".repeat(3_000_000)),
        (1, "chosen", 1, "c".to_owned()),
        (1, "rejected", 0, "d\n".to_owned()),
        (2, "chosen", 1, "e".to_owned()),
    ] {
        sqlx::query(
            "INSERT INTO rm_training_pairs (owner_id, reward_model_id, ordinal, side, trace_id, text, granularity, action_type,
             source, split) VALUES ($1, $2, $3, $4, $5, $6, 'action', 'tool_call', 'explicit_rating', 'train')",
        )
        .bind(world.owner.0)
        .bind(model)
        .bind(ordinal)
        .bind(side)
        .bind(traces[trace])
        .bind(text)
        .execute(world.rows())
        .await
        .unwrap();
    }
    let path = format!("/export/pairs?reward_model_id={model}");
    let answer = world.get(&path).await.ok();
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    let lines = answer.lines();
    lines.iter().for_each(|line| assert_fits(line, "Pair"));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["chosen"].as_str().unwrap().len(), 3_000_000);
    assert_eq!(lines[0]["trace_ids"], json!([traces[0]]));
    let second = json!({"chosen": "c", "rejected": "d\n", "trace_ids": [traces[1], traces[0]], "granularity": "action",
                        "action_type": "tool_call", "source": "explicit_rating",
                   "generated": null, "evidence": null});
    assert_eq!(lines[1], second);
    world.get_as(fresh_owner(), &path).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_pair_from_a_finding_shows_its_source_its_evidence_and_which_side_a_model_wrote() {
    let world = World::new().await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    let trace = Uuid::now_v7();
    let evidence = json!({"step_index": 3, "tool_name": null, "label": "negative", "evidence_id": trace,
        "evidence_quote": "I said Tuesday!", "reason": "Criteria: x. y", "classifier_model": "m"});
    for (side, revised) in [("chosen", true), ("rejected", false)] {
        sqlx::query(
            "INSERT INTO rm_training_pairs (owner_id, reward_model_id, ordinal, side, trace_id, step_id, text, granularity,
             action_type, source, split, revised, evidence)
             VALUES ($1, $2, 0, $3, $4, $4, $3, 'action', 'response', 'user_feedback', 'train', $5, $6)",
        )
        .bind(world.owner.0)
        .bind(model)
        .bind(side)
        .bind(trace)
        .bind(revised)
        .bind(evidence.to_string())
        .execute(world.rows())
        .await
        .unwrap();
    }
    let lines = world.get(&format!("/export/pairs?reward_model_id={model}")).await.ok().lines();
    assert_fits(&lines[0], "Pair");
    assert_eq!(
        lines,
        [json!({"chosen": "chosen", "rejected": "rejected", "trace_ids": [trace], "granularity": "action",
            "action_type": "response", "source": "user_feedback", "generated": "chosen", "evidence": evidence})]
    );
}
