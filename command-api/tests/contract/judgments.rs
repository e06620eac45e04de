//! What was judged of traces where they were recorded comes along as annotations, once, and what people do here stands.

use crate::support::World;
use serde_json::{Value, json};

/// A trace of Langfuse with these scores.
fn langfuse(scores: &Value) -> String {
    json!({"id": "lf-1", "name": "chat", "timestamp": "2025-11-03T10:00:00.000Z", "scores": scores, "observations": [{
        "id": "o-1", "traceId": "lf-1", "type": "GENERATION", "name": "chat", "startTime": "2025-11-03T10:00:00.000Z",
        "endTime": "2025-11-03T10:00:01.000Z", "model": "m",
        "input": [{"role": "user", "content": "Where is it?"}],
        "output": {"role": "assistant", "content": "In the post."}}]})
    .to_string()
}

fn score(id: &str, name: &str, value: f64, observation: Option<&str>) -> Value {
    json!({"id": id, "traceId": "lf-1", "observationId": observation, "name": name, "value": value,
        "dataType": "NUMERIC", "source": "API", "timestamp": "2025-11-03T10:01:00.000Z"})
}

/// Imports; returns the trace as it then is.
async fn import(world: &World, query: &str, data: &str) -> Value {
    let answer = world.post(&format!("/traces/import?format=langfuse{query}")).jsonl(data).send().await;
    let said = answer.done(200).json();
    assert_eq!(said["imported"], 1, "{said}");
    let id = said["trace_ids"][0].as_str().unwrap();
    world.read_after(&format!("/traces/{id}"), &answer).await.ok(200).json()
}

/// The annotations by the source's id.
fn by_source<'a>(trace: &'a Value, id: &str) -> &'a Value {
    let found: Vec<&Value> =
        trace["annotations"].as_array().unwrap().iter().filter(|found| found["source"]["id"] == id).collect();
    assert_eq!(found.len(), 1, "{id}: {trace}");
    found[0]
}

#[tokio::test]
async fn judgments_become_annotations_with_their_source_and_an_import_again_updates_them() {
    let world = World::new().await;
    let scores = json!([score("s-1", "user-feedback", 1.0, Some("o-1")), score("s-2", "toxicity", 1.0, None)]);
    let trace = import(&world, "", &langfuse(&scores)).await;
    assert_eq!(trace["annotations"].as_array().unwrap().len(), 2, "{trace}");
    let rated = by_source(&trace, "s-1").clone();
    assert_eq!((&rated["rating"], &rated["step_id"]), (&json!(1), &trace["steps"][1]["id"]));
    assert_eq!((&rated["author_name"], &rated["version"]), (&json!("langfuse"), &json!(0)));
    let source = json!({"name": "langfuse", "id": "s-1", "judged": "user-feedback", "origin": "api"});
    assert_eq!(rated["source"], source);
    let said = by_source(&trace, "s-2");
    assert_eq!((&said["rating"], &said["step_id"]), (&Value::Null, &Value::Null));
    assert!(said["comment"].as_str().unwrap().starts_with("toxicity: 1"), "{said}");
    assert_eq!(trace["positive_count"], 1);

    // The same again, and one of a person beside them: nothing is doubled, nothing lost.
    let path = format!("/traces/{}/annotations", trace["id"].as_str().unwrap());
    world.post(&path).json(&json!({"comment": "mine"})).send().await.ok(201);
    let again = import(&world, "", &langfuse(&scores)).await;
    assert_eq!(again["annotations"].as_array().unwrap().len(), 3);
    assert_eq!(by_source(&again, "s-1"), &rated);

    let changed = json!([score("s-1", "user-feedback", 0.0, Some("o-1")), score("s-2", "toxicity", 1.0, None)]);
    let after = import(&world, "&score_map=toxicity:down,tone:up", &langfuse(&changed)).await;
    assert_eq!((&by_source(&after, "s-1")["rating"], &by_source(&after, "s-2")["rating"]), (&json!(-1), &json!(-1)));
    assert_eq!(by_source(&after, "s-1")["id"], rated["id"]);
    let lines = world.get("/export/annotations").send().await.ok(200).text();
    let exported: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(exported.iter().filter(|line| line["source"]["name"] == "langfuse").count(), 2);
    assert_eq!(exported.iter().filter(|line| line["source"].is_null()).count(), 1);
}

#[tokio::test]
async fn what_a_person_did_to_a_judgment_stands() {
    let world = World::new().await;
    let scores = json!([score("s-1", "user-feedback", 1.0, Some("o-1")), score("s-2", "thumbs", 0.0, None)]);
    let trace = import(&world, "", &langfuse(&scores)).await;
    let path = |id: &str| format!("/annotations/{}", by_source(&trace, id)["id"].as_str().unwrap());
    let change = json!({"label_error": true, "label_error_note": "a slip"});
    let changed = world.patch(&path("s-1")).header("if-match", "\"0\"").json(&change).send().await.ok(200).json();
    assert_eq!((&changed["version"], &changed["source"]["id"]), (&json!(1), &json!("s-1")));
    let stale = world.patch(&path("s-1")).header("if-match", "\"0\"").json(&change).send().await;
    stale.problem(409, "version_conflict");
    world.delete(&path("s-2")).send().await.ok(204);

    for value in [1.0, 0.0] {
        let again = json!([score("s-1", "user-feedback", value, Some("o-1")), score("s-2", "thumbs", value, None)]);
        let after = import(&world, "", &langfuse(&again)).await;
        assert_eq!(after["annotations"].as_array().unwrap().len(), 1, "what was deleted stays deleted");
        let kept = by_source(&after, "s-1");
        assert_eq!((&kept["rating"], &kept["label_error_note"]), (&json!(1), &json!("a slip")));
    }

    // The deletion of the trace forgets it all.
    let answer = world.delete(&format!("/traces/{}", trace["id"].as_str().unwrap())).send().await;
    answer.done(204);
    let new = import(&world, "", &langfuse(&scores)).await;
    assert_eq!(new["annotations"].as_array().unwrap().len(), 2);
    assert_eq!(by_source(&new, "s-1")["label_error"], false);
}

#[tokio::test]
async fn a_score_map_is_checked() {
    let world = World::new().await;
    for map in ["toxicity", "toxicity:sideways"] {
        let answer = world.post(&format!("/traces/import?format=langfuse&score_map={map}")).jsonl("{}").send().await;
        assert!(answer.detail(422, "invalid_field").contains("score_map"), "{map}");
    }
    let many: String = (0..33).map(|n| format!("n{n}:up,")).collect();
    let answer = world.post(&format!("/traces/import?format=langfuse&score_map={many}")).jsonl("{}").send().await;
    assert!(answer.detail(422, "invalid_field").contains("at most 32"));
    let body = json!({"format": "langfuse", "data": "{}", "score_map": {"toxicity": "bad"}});
    let answer = world.post("/traces/import").json(&body).send().await;
    assert!(answer.detail(422, "invalid_field").contains("toxicity"));
}

#[tokio::test]
async fn secrets_are_taken_out_before_anything_is_stored() {
    let world = World::new().await;
    let key = format!("sk-{}-api03-{}", "ant", "aB3dE6gH9".repeat(5));
    let trace = json!({"id": "t-1", "title": format!("with {key}"), "metadata": {"note": key}, "steps": [
        {"role": "user", "content": format!("use {key} please")},
        {"role": "assistant", "content": "", "tool_name": "call", "tool_input": {"headers": [{"x-api-key": key}]},
            "tool_call_id": "c"}]});
    let answer = world.post("/traces/import?format=stash").jsonl(&format!("{trace}\n")).send().await;
    let said = answer.done(200).json();
    assert_eq!(said["warning_count"], 1);
    let warning = said["warnings"][0]["message"].as_str().unwrap();
    assert!(warning.contains("4 anthropic_key"), "{warning}");
    let stored = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert!(!stored.to_string().contains(&key), "{stored}");
    assert_eq!(stored["steps"][0]["content"], "use [redacted:anthropic_key] please");
    assert_eq!(stored["title"], "with [redacted:anthropic_key]");
}
