//! Who may, and what there is: keys, scopes, the account's switch, other owners, methods.

use crate::support::World;
use crate::support::data::sample;
use crate::support::request::Call;
use axum::body::{Body, Bytes};
use axum::http::Method;
use futures::stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

/// Every route that changes something, on things of nobody, with a body that it would take.
pub(crate) fn routes() -> Vec<(Method, String, Value)> {
    let id = Uuid::nil();
    let import = json!({"format": "stash", "data": sample("t-1").to_string()});
    vec![
        (Method::POST, "/traces/import".to_owned(), import),
        (Method::POST, "/otel/v1/traces".to_owned(), span()),
        (Method::POST, "/otel/v1/logs".to_owned(), log()),
        (Method::DELETE, format!("/traces/{id}"), Value::Null),
        (Method::PATCH, format!("/traces/{id}"), json!({"title": "Mine"})),
        (Method::POST, format!("/traces/{id}/title"), Value::Null),
        (Method::POST, format!("/traces/{id}/score"), json!({"reward_model_id": id})),
        (Method::POST, format!("/traces/{id}/annotations"), json!({"rating": 1})),
        (Method::PATCH, format!("/annotations/{id}"), json!({"rating": 1})),
        (Method::DELETE, format!("/annotations/{id}"), Value::Null),
        (Method::POST, "/reward-models".to_owned(), json!({"name": "mine", "trace_ids": [id]})),
        (Method::POST, format!("/reward-models/{id}/cancel"), Value::Null),
        (Method::PATCH, format!("/reward-models/{id}"), json!({"name": "other"})),
        (Method::DELETE, format!("/reward-models/{id}"), Value::Null),
        (Method::PATCH, "/llm-processing".to_owned(), json!({"titles": true})),
    ]
}

fn span() -> Value {
    let span = json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "a"});
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
}

fn log() -> Value {
    let mut log = span()["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone();
    log["name"] = json!("gen_ai.choice");
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]})
}

/// The request of such a route.
pub(crate) fn call<'a>(world: &'a World, (method, path, body): &(Method, String, Value)) -> Call<'a> {
    let call = world.call(method.clone(), path);
    if body.is_null() { call } else { call.json(body) }
}

#[tokio::test]
async fn without_a_working_key_it_is_401_with_a_challenge() {
    let world = World::new().await;
    let wrong = format!("{}0", &world.key[..world.key.len() - 1]);
    let wrong = if wrong == world.key { format!("{}1", &world.key[..world.key.len() - 1]) } else { wrong };
    for route in routes() {
        for key in [None, Some("nonsense"), Some(wrong.as_str()), Some("")] {
            let request = call(&world, &route);
            let request = key.map_or_else(|| call(&world, &route).anonymous(), |key| request.key(key));
            let answer = request.send().await;
            answer.problem(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"stash\"");
        }
        let basic = call(&world, &route).anonymous().header("authorization", "Basic YTpi");
        basic.send().await.problem(401, "unauthorized");
        let twice = call(&world, &route).header("authorization", "Bearer x");
        twice.send().await.problem(401, "unauthorized");
    }
    assert_eq!(world.read("/traces").await["total"], 0);
}

#[tokio::test]
async fn a_revoked_key_stops_working() {
    let world = World::new().await;
    let key = world.read_only_key().await;
    world.get("/traces").key(&key).send().await.ok(200);
    for made in world.identity.keys(world.owner).await.unwrap() {
        world.identity.revoke_key(world.owner, made.id).await.unwrap().unwrap();
    }
    for route in routes() {
        call(&world, &route).send().await.problem(401, "unauthorized");
    }
    world.get("/traces").key(&key).send().await.problem(401, "unauthorized");
}

#[tokio::test]
async fn whoever_may_not_is_refused_before_the_body_is_read() {
    let world = World::new().await;
    let reader = world.read_only_key().await;
    for route in routes() {
        for (key, status) in [("nonsense", 401), (reader.as_str(), 403)] {
            let read = Arc::new(AtomicBool::new(false));
            let asked = Arc::clone(&read);
            let body = stream::once(async move {
                asked.store(true, Ordering::Release);
                Ok::<_, Infallible>(Bytes::from_static(b"{}"))
            });
            let answer = call(&world, &route).key(key).body(Body::from_stream(body)).send().await;
            answer.ok(status);
            assert!(!read.load(Ordering::Acquire), "{} {}", route.0, route.1);
        }
    }
}

#[tokio::test]
async fn a_read_only_key_may_change_nothing() {
    let world = World::new().await;
    let reader = world.read_only_key().await;
    for route in routes() {
        call(&world, &route).key(&reader).send().await.problem(403, "forbidden_scope");
    }
    world.get("/traces").key(&reader).send().await.ok(200);
}

#[tokio::test]
async fn an_account_that_is_switched_off_may_nothing_and_keeps_its_data() {
    let world = World::new().await;
    world.sample().await;
    world.identity.set_reward_models_enabled(world.owner, false).await.unwrap().unwrap();
    for route in routes() {
        call(&world, &route).send().await.problem(403, "reward_models_disabled");
    }
    world.identity.set_reward_models_enabled(world.owner, true).await.unwrap().unwrap();
    world.read("/traces/external:t-1").await;
}

#[tokio::test]
async fn things_of_nobody_and_of_others_are_404_alike() {
    let world = World::new().await;
    let trace = world.sample().await;
    let id = trace["id"].as_str().unwrap();
    let annotation = world.post(&format!("/traces/{id}/annotations")).json(&json!({"rating": 1})).send().await;
    let annotation = annotation.done(201).json()["id"].as_str().unwrap().to_owned();
    let model = world.trained(&[id.to_owned()], true).await;
    let (_, eve) = world.stranger().await;
    for (method, path, body) in routes() {
        if path == "/traces/import" || path == "/llm-processing" || path.starts_with("/otel/") {
            continue;
        }
        call(&world, &(method.clone(), path.clone(), body.clone())).send().await.problem(404, "not_found");
        let thing = match path.split('/').nth(1) {
            Some("annotations") => &annotation,
            Some("reward-models") => &model,
            _ => id,
        };
        let theirs = |text: &str| text.replace(&Uuid::nil().to_string(), thing);
        let body = if path == "/reward-models" { json!({"name": "x", "trace_ids": [id]}) } else { body };
        call(&world, &(method, theirs(&path), body)).key(&eve).send().await.problem(404, "not_found");
    }
    assert_eq!(world.read(&format!("/annotations/{annotation}")).await["version"], 1);
    assert_eq!(world.read("/reward-models").await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn other_methods_are_405_and_other_paths_404() {
    let world = World::new().await;
    for (_, path, _) in routes() {
        world.call(Method::PUT, &path).send().await.problem(405, "method_not_allowed");
    }
    world.get("/traces/import").send().await.problem(405, "method_not_allowed");
    world.post("/traces/import/more").send().await.problem(404, "not_found");
    world.post("/nothing").send().await.problem(404, "not_found");
}
