//! What every JSON body keeps to.

use crate::access::{call, routes};
use crate::support::World;
use crate::support::request::Call;
use axum::http::Method;
use serde_json::Value;

type Route = (Method, String, Value);

/// Routes with a JSON body of our own form; OpenTelemetry has its own rules.
fn with_body() -> impl Iterator<Item = Route> {
    routes().into_iter().filter(|(_, path, body)| !body.is_null() && !path.starts_with("/otel/"))
}

fn raw<'a>(world: &'a World, route: &Route, kind: &str) -> Call<'a> {
    world.call(route.0.clone(), &route.1).header("content-type", kind)
}

#[tokio::test]
async fn what_is_no_json_is_400() {
    let world = World::new().await;
    for route in with_body() {
        for body in ["", " ", "{", "{\"a\": nul}", "\u{FEFF}{}"] {
            let answer = raw(&world, &route, "application/json").body(body).send().await;
            answer.problem(400, "invalid_request");
        }
        let answer = raw(&world, &route, "application/json").body(format!("{} {{}}", route.2)).send().await;
        answer.problem(400, "invalid_request");
        let answer = raw(&world, &route, "application/json").body(vec![b'"', 0xFF, b'"']).send().await;
        answer.problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn json_of_another_shape_is_422() {
    let world = World::new().await;
    for route in with_body() {
        for body in ["null", "1", "\"x\"", "[1, 2, 3, 4, 5, 6, 7, 8]"] {
            let answer = raw(&world, &route, "application/json").body(body).send().await;
            answer.problem(422, "invalid_field");
        }
    }
}

#[tokio::test]
async fn other_media_types_and_codings_are_415() {
    let world = World::new().await;
    for route in with_body() {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application"] {
            let answer = raw(&world, &route, kind).body(route.2.to_string()).send().await;
            answer.problem(415, "unsupported_media_type");
        }
        let untyped = world.call(route.0.clone(), &route.1).body(route.2.to_string());
        untyped.send().await.problem(415, "unsupported_media_type");
        let coded = call(&world, &route).header("content-encoding", "br");
        coded.send().await.problem(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn bodies_over_a_mebibyte_are_413_but_for_imports() {
    let world = World::new().await;
    for route in with_body().filter(|(_, path, _)| path != "/traces/import") {
        let large = format!("{{\"comment\": \"{}\"}}", "x".repeat(1024 * 1024));
        raw(&world, &route, "application/json").body(large).send().await.problem(413, "too_large");
        let declared = call(&world, &route).header("content-length", "1048577");
        declared.send().await.problem(413, "too_large");
    }
}
