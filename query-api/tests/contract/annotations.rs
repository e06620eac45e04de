//! `GET /annotations/{annotation_id}`

use crate::support::rows::{NewAnnotation, NewTrace};
use crate::support::schema::assert_fits;
use crate::support::{World, fresh_owner};
use serde_json::json;
use uuid::Uuid;

#[tokio::test]
async fn an_annotation_has_exactly_its_fields() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let annotation = NewAnnotation {
        comment: Some("too fast"),
        quote: Some(r#"{"text":"hi","prefix":"","suffix":"!"}"#),
        label_error: true,
        ..NewAnnotation::on_step(&trace, 1).rated(-1)
    };
    world.annotate(&annotation).await;

    let answer = world.get(&format!("/annotations/{}", annotation.id)).await.ok();
    assert_eq!(answer.headers["etag"], "\"3\"");
    assert_fits(&answer.json(), "Annotation");
    assert_eq!(
        answer.json(),
        json!({
            "id": annotation.id, "trace_id": trace.id, "step_id": trace.step_id(1), "rating": -1, "comment": "too fast",
            "quote": {"text": "hi", "prefix": "", "suffix": "!"}, "label_error": true, "label_error_note": "wrong",
            "author_id": world.owner, "author_name": "Ada", "source": null, "created_at": "2026-09-29T03:12:00Z",
            "updated_at": "2026-09-29T03:12:00Z", "version": 3,
        })
    );
}

#[tokio::test]
async fn what_has_no_value_is_null() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let annotation = NewAnnotation::on(&trace).rated(1);
    world.annotate(&annotation).await;
    let shown = world.get(&format!("/annotations/{}", annotation.id)).await.ok().json();
    assert_fits(&shown, "Annotation");
    for name in ["step_id", "comment", "quote", "label_error_note"] {
        assert!(shown[name].is_null(), "{name}");
    }
}

#[tokio::test]
async fn on_a_step_that_is_gone_there_is_none() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let annotation = NewAnnotation { step_id: Some(Uuid::now_v7()), ..NewAnnotation::on(&trace) };
    world.annotate(&annotation).await;
    world.get(&format!("/annotations/{}", annotation.id)).await.problem(404, "not_found");
}

#[tokio::test]
async fn of_another_owner_there_is_none() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let annotation = NewAnnotation::on(&trace).rated(1);
    world.annotate(&annotation).await;
    world.get_as(fresh_owner(), &format!("/annotations/{}", annotation.id)).await.problem(404, "not_found");
}
