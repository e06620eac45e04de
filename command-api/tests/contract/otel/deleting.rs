//! A deleted trace is gone; what comes later begins anew.

use super::sent::{call, root, steps, trace, whole};
use crate::support::World;

#[tokio::test]
async fn its_keys_are_shredded_and_a_later_span_begins_it_anew() {
    let world = World::new().await;
    let id = trace(1);
    world.spans(&whole(&id, 2)).await;
    let grown = world.spans(&[call(&id, 2).under(1)]).await;
    let before = world.trace_after(&id, &grown).await;
    let deleted = world.delete(&format!("/traces/external:{id}")).send().await;
    deleted.done(204);
    world.read_after(&format!("/traces/external:{id}"), &deleted).await.problem(404, "not_found");
    assert_eq!(world.count("subject_key").await, 0, "of both requests");
    for table in ["rm_otel_spans", "rm_otel_traces", "rm_otel_states", "rm_steps", "rm_spans", "rm_trace_subjects"] {
        assert_eq!(world.count(table).await, 0, "{table}");
    }
    let late = world.spans(&[call(&id, 0).under(1)]).await;
    let after = world.trace_after(&id, &late).await;
    assert_eq!(steps(&after), ["user Begin", "assistant look"], "what was deleted stays deleted");
    assert_eq!(after["id"], before["id"]);
    assert_ne!(after["steps"][0]["id"], before["steps"][0]["id"], "no id tells that the content is the same");
}

#[tokio::test]
async fn a_trace_that_is_not_shown_yet_can_be_deleted_too() {
    let world = World::new().await;
    let id = trace(1);
    let answer = world.spans(&[root(&id)]).await;
    let listed = world.read_after("/otel/pending", &answer).await.ok(200).json();
    let path = format!("/traces/{}", listed[0]["id"].as_str().unwrap());
    let (_, eve) = world.stranger().await;
    world.delete(&path).key(&eve).send().await.problem(404, "not_found");
    let deleted = world.delete(&path).send().await;
    deleted.done(204);
    assert_eq!(world.read_after("/otel/pending", &deleted).await.ok(200).json(), serde_json::json!([]));
    assert_eq!(world.count("subject_key").await, 0);
    world.delete(&path).send().await.problem(404, "not_found");
}
