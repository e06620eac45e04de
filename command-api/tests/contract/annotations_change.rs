//! `PATCH /annotations/{annotation_id}`

use crate::support::World;
use crate::support::data::short;
use crate::support::schema::assert_fits;
use serde_json::{Value, json};

/// An annotation of an answer of the sample trace, with everything in it, and its path.
async fn annotated(world: &World) -> (String, Value) {
    let trace = world.sample().await;
    let body = json!({
        "step_id": trace["steps"][2]["id"], "rating": 1, "comment": "fine", "quote": {"text": "Sure!"}
    });
    let path = format!("/traces/{}/annotations", trace["id"].as_str().unwrap());
    let said = world.post(&path).json(&body).send().await.done(201).json();
    (format!("/annotations/{}", said["id"].as_str().unwrap()), said)
}

#[tokio::test]
async fn absent_fields_stay_null_clears_and_the_rest_is_set() {
    let world = World::new().await;
    let (path, before) = annotated(&world).await;
    let answer = world.patch(&path).json(&json!({"rating": -1})).send().await;
    let said = answer.done(200).json();
    assert_fits(&said, "Annotation");
    assert_eq!(answer.header("etag"), "\"2\"");
    let mut expected = before.clone();
    expected["rating"] = json!(-1);
    expected["version"] = json!(2);
    expected["updated_at"] = said["updated_at"].clone();
    assert_eq!(said, expected);
    assert_eq!(world.read_after(&path, &answer).await.ok(200).json(), said);

    let said = world.patch(&path).json(&json!({"comment": null})).send().await.done(200).json();
    assert_eq!((&said["comment"], &said["rating"], &said["version"]), (&Value::Null, &json!(-1), &json!(3)));
    assert_eq!(said["quote"], before["quote"]);
    let said = world.patch(&path).json(&json!({"comment": "so", "rating": null})).send().await.done(200).json();
    assert_eq!((&said["comment"], &said["rating"]), (&json!("so"), &Value::Null));
    let said = world.patch(&path).json(&json!({})).send().await.done(200).json();
    assert_eq!((&said["comment"], &said["rating"]), (&json!("so"), &Value::Null));
}

#[tokio::test]
async fn a_flagged_label_stays_visible_and_leaves_the_counts() {
    let world = World::new().await;
    let (path, before) = annotated(&world).await;
    let trace = format!("/traces/{}", before["trace_id"].as_str().unwrap());
    let flag = json!({"label_error": true, "label_error_note": "wrong step"});
    let said = world.patch(&path).json(&flag).send().await.done(200).json();
    assert_eq!((&said["label_error"], &said["label_error_note"]), (&json!(true), &json!("wrong step")));
    let detail = world.read(&trace).await;
    assert_eq!((&detail["positive_count"], &detail["label_error_count"]), (&json!(0), &json!(1)));
    assert_eq!(detail["annotations"][0], said);
    let said = world.patch(&path).json(&json!({"label_error": false})).send().await.done(200).json();
    assert_eq!((&said["label_error"], &said["label_error_note"]), (&json!(false), &Value::Null));
    assert_eq!(world.read(&trace).await["positive_count"], 1);
}

#[tokio::test]
async fn a_change_keeps_the_rules() {
    let world = World::new().await;
    let (path, before) = annotated(&world).await;
    for body in [
        json!({"rating": null, "comment": null}),
        json!({"rating": 5}),
        json!({"comment": ""}),
        json!({"label_error_note": "no flag"}),
    ] {
        world.patch(&path).json(&body).send().await.problem(422, "bad_annotation");
    }
    for body in [json!({"rating": "x"}), json!({"comment": []}), json!({"label_error": 1})] {
        world.patch(&path).json(&body).send().await.problem(422, "invalid_field");
    }
    assert_eq!(world.read(&path).await, before);
    let trace = format!("/traces/{}", before["trace_id"].as_str().unwrap());
    let system = world.read(&trace).await["steps"][0]["id"].clone();
    let body = json!({"step_id": system, "comment": "too short"});
    let said = world.post(&format!("{trace}/annotations")).json(&body).send().await.done(201).json();
    let path = format!("/annotations/{}", said["id"].as_str().unwrap());
    world.patch(&path).json(&json!({"rating": 1})).send().await.problem(422, "bad_annotation");
}

#[tokio::test]
async fn if_match_holds_only_for_the_version_it_names() {
    let world = World::new().await;
    let (path, _) = annotated(&world).await;
    let first = world.patch(&path).json(&json!({"rating": -1})).header("if-match", "\"1\"").send().await;
    assert_eq!(first.done(200).json()["version"], 2);
    let late = world.patch(&path).json(&json!({"rating": 1})).header("if-match", "\"1\"").send().await;
    let problem = late.problem(409, "version_conflict");
    assert_eq!((&problem["expected_version"], &problem["current_version"]), (&json!(1), &json!(2)));
    assert_eq!(world.read(&path).await["rating"], -1);
    for tag in [first.header("etag"), "*"] {
        world.patch(&path).json(&json!({"comment": "mine"})).header("if-match", tag).send().await.done(200);
    }
    for tag in ["1", "W/\"1\"", "\"x\"", ""] {
        let answer = world.patch(&path).json(&json!({"rating": 1})).header("if-match", tag).send().await;
        answer.problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn an_annotation_of_a_step_that_was_replaced_is_not_found_until_the_step_is_back() {
    let world = World::new().await;
    let (path, before) = annotated(&world).await;
    world.import(&[short("t-1", "another answer")]).await;
    world.get(&path).send().await.problem(404, "not_found");
    world.patch(&path).json(&json!({"comment": "x"})).send().await.problem(404, "not_found");
    world.delete(&path).send().await.problem(404, "not_found");
    world.sample().await;
    assert_eq!(world.read(&path).await, before);
    let said = world.patch(&path).json(&json!({"comment": "it was"})).send().await.done(200).json();
    assert_eq!((&said["comment"], &said["quote"]), (&json!("it was"), &before["quote"]));
}
