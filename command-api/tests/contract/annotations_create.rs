//! `POST /traces/{trace_id}/annotations`

use crate::support::World;
use crate::support::schema::assert_fits;
use serde_json::{Value, json};
use uuid::Uuid;

/// The sample trace's path for annotations, and its step ids.
async fn sample(world: &World) -> (String, String, Vec<String>) {
    let trace = world.sample().await;
    let id = trace["id"].as_str().unwrap().to_owned();
    let steps = trace["steps"].as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap().to_owned()).collect();
    (format!("/traces/{id}/annotations"), id, steps)
}

#[tokio::test]
async fn an_annotation_has_exact_fields_and_reads_back_alike() {
    let world = World::new().await;
    let (path, trace, steps) = sample(&world).await;
    let quote = json!({"text": "full refund", "prefix": "a ", "suffix": " to"});
    let body =
        json!({"step_id": steps[2], "rating": -1, "comment": "no refund was due", "quote": quote, "colour": "red"});
    let answer = world.post(&path).json(&body).send().await;
    let said = answer.done(201).json();
    assert_fits(&said, "Annotation");
    assert_eq!(answer.header("etag"), "\"1\"");
    let expected = json!({
        "id": said["id"], "trace_id": trace, "step_id": steps[2], "rating": -1, "comment": "no refund was due",
        "quote": quote, "label_error": false, "label_error_note": null, "author_id": world.owner.to_string(),
        "author_name": "Ada", "source": null, "created_at": said["created_at"], "updated_at": said["created_at"], "version": 1
    });
    assert_eq!(said, expected);
    let read = world.read_after(&format!("/annotations/{}", said["id"].as_str().unwrap()), &answer).await;
    assert_eq!(read.ok(200).json(), said);
    let detail = world.read(&format!("/traces/{trace}")).await;
    assert_eq!(detail["annotations"], json!([said]));
    assert_eq!((&detail["negative_count"], &detail["comment_count"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn what_is_not_given_is_null_and_the_trace_may_be_named_by_its_external_id() {
    let world = World::new().await;
    let (_, trace, _) = sample(&world).await;
    let nulls = json!({"rating": 1, "step_id": null, "comment": null, "quote": null});
    for body in [json!({"rating": 1}), nulls] {
        let said = world.post("/traces/external:t-1/annotations").json(&body).send().await.done(201).json();
        assert_fits(&said, "Annotation");
        assert_eq!((&said["trace_id"], &said["rating"]), (&json!(trace), &json!(1)));
        for field in ["step_id", "comment", "quote", "label_error_note"] {
            assert_eq!(said[field], Value::Null, "{field}");
        }
    }
}

#[tokio::test]
async fn broken_rules_are_422() {
    let world = World::new().await;
    let (path, _, steps) = sample(&world).await;
    let quote = |text: &str| json!({"text": text});
    let cases = [
        (json!({}), "a rating, a comment, or both"),
        (json!({"comment": null}), "a rating, a comment, or both"),
        (json!({"rating": 0}), "rating"),
        (json!({"rating": 2}), "rating"),
        (json!({"comment": ""}), "comment"),
        (json!({"comment": "x".repeat(20_001)}), "comment"),
        (json!({"rating": 1, "step_id": steps[0]}), "system step"),
        (json!({"rating": 1, "step_id": Uuid::nil()}), "step_id"),
        (json!({"comment": "x", "quote": quote("Sure!")}), "step_id"),
        (json!({"comment": "x", "step_id": steps[2], "quote": quote("Maybe!")}), "quote.text"),
        (json!({"comment": "x", "step_id": steps[2], "quote": quote("")}), "quote.text"),
        (
            json!({"comment": "x", "step_id": steps[2], "quote": {"text": "Sure!", "prefix": "x".repeat(201)}}),
            "quote.prefix",
        ),
        (json!({"quote": quote("Sure!"), "step_id": steps[2]}), "a rating, a comment, or both"),
    ];
    for (body, word) in cases {
        let answer = world.post(&path).json(&body).send().await;
        let detail = answer.detail(422, "bad_annotation");
        assert!(detail.contains(word), "{body}: {detail}");
    }
    assert_eq!(world.count("rm_annotations").await, 0);
}

#[tokio::test]
async fn fields_of_the_wrong_type_are_422_and_named() {
    let world = World::new().await;
    let (path, _, _) = sample(&world).await;
    for (body, field) in [
        (json!({"rating": "good"}), "rating"),
        (json!({"rating": 1.5}), "rating"),
        (json!({"comment": 1}), "comment"),
        (json!({"rating": 1, "step_id": "x"}), "step_id"),
        (json!({"comment": "x", "quote": "x"}), "quote"),
        (json!({"comment": "x", "quote": {}}), "quote"),
    ] {
        let detail = world.post(&path).json(&body).send().await.detail(422, "invalid_field");
        assert!(detail.contains(field), "{body}: {detail}");
    }
    world.post(&path).json(&json!([])).send().await.problem(422, "invalid_field");
}

#[tokio::test]
async fn a_step_of_another_trace_is_none_of_this_one() {
    let world = World::new().await;
    let (path, _, _) = sample(&world).await;
    world.import(&[crate::support::data::short("t-2", "a")]).await;
    let other = world.read("/traces/external:t-2").await;
    let body = json!({"rating": 1, "step_id": other["steps"][0]["id"]});
    world.post(&path).json(&body).send().await.problem(422, "bad_annotation");
}

#[tokio::test]
async fn quotes_of_emoji_line_ends_and_repeated_text_hold() {
    let world = World::new().await;
    let (path, _, steps) = sample(&world).await;
    for quote in [
        json!({"text": "👍🏽", "prefix": "", "suffix": ""}),
        json!({"text": "please 👍🏽\r\nplease", "prefix": ", ", "suffix": "!"}),
        json!({"text": "please", "prefix": "\r\n", "suffix": "!"}),
    ] {
        let body = json!({"step_id": steps[1], "comment": "polite", "quote": quote});
        let answer = world.post(&path).json(&body).send().await;
        let said = answer.done(201).json();
        assert_eq!(said["quote"], quote);
        assert_eq!(world.read(&format!("/annotations/{}", said["id"].as_str().unwrap())).await["quote"], quote);
    }
    let body = json!({"step_id": steps[1], "comment": "x", "quote": {"text": "please 👍🏽\nplease"}});
    world.post(&path).json(&body).send().await.problem(422, "bad_annotation");
}
