//! `GET /traces`: fields, counts, order, pages.

use crate::support::rows::{NewAnnotation, NewTrace, assistant, call, user};
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::{Value, json};
use uuid::Uuid;

/// The titles of a page, in order.
pub(crate) fn titles(page: &Value) -> Vec<String> {
    page["traces"].as_array().unwrap().iter().map(|trace| trace["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_summary_has_exactly_its_fields() {
    let world = World::new().await;
    let trace = NewTrace {
        external_id: Some("run-7".to_owned()),
        title: "Refund for 1182".to_owned(),
        title_source: "given",
        steps: vec![user("refund?"), call("lookup", "{}"), assistant("done")],
        ..NewTrace::default()
    };
    world.put(&trace).await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[trace.id]).await;
    world.score(&trace, model, -0.25, true, NOW).await;
    world.annotate(&NewAnnotation { comment: Some("good"), ..NewAnnotation::on(&trace).rated(1) }).await;

    let list = world.get("/traces").await.ok().json();
    assert_fits(&list, "TraceList");
    assert_eq!(
        list,
        json!({
            "traces": [{
                "id": trace.id, "external_id": "run-7", "title": "Refund for 1182", "title_source": "given", "title_error": null,
                "source_format": "stash", "step_count": 3, "action_count": 2, "positive_count": 1, "negative_count": 0,
                "comment_count": 1, "label_error_count": 0, "created_at": "2026-09-29T03:12:00Z",
                "latest_score": {"reward_model_id": model, "reward_model_name": "Refunds", "score": -0.25},
            }],
            "total": 1,
            "next_cursor": null,
        })
    );
}

#[tokio::test]
async fn without_id_and_score_they_are_null_and_an_empty_list_is_empty() {
    let world = World::new().await;
    assert_eq!(world.get("/traces").await.ok().json(), json!({"traces": [], "total": 0, "next_cursor": null}));
    world.put(&NewTrace::default()).await;
    let list = world.get("/traces").await.ok().json();
    assert_fits(&list, "TraceList");
    assert!(list["traces"][0]["external_id"].is_null() && list["traces"][0]["latest_score"].is_null());
}

#[tokio::test]
async fn counts_leave_out_label_errors_and_annotations_on_steps_that_are_gone() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let gone = Some(Uuid::now_v7());
    for annotation in [
        NewAnnotation::on(&trace).rated(1),
        NewAnnotation::on_step(&trace, 1).rated(-1),
        NewAnnotation { comment: Some("a"), label_error: true, ..NewAnnotation::on(&trace).rated(-1) },
        NewAnnotation { comment: Some("b"), ..NewAnnotation::on_step(&trace, 0) },
        NewAnnotation { comment: Some("c"), step_id: gone, ..NewAnnotation::on(&trace).rated(1) },
        NewAnnotation { label_error: true, step_id: gone, ..NewAnnotation::on(&trace).rated(1) },
    ] {
        world.annotate(&annotation).await;
    }
    let list = world.get("/traces").await.ok().json();
    let trace = &list["traces"][0];
    let counts =
        ["positive_count", "negative_count", "comment_count", "label_error_count"].map(|name| trace[name].as_i64());
    assert_eq!(counts, [Some(1), Some(1), Some(2), Some(1)]);
}

#[tokio::test]
async fn the_latest_score_is_the_newest_of_the_text_as_it_stands() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    let [old, new, stale] = [
        world.model(world.owner, "old", "succeeded", &[]).await,
        world.model(world.owner, "new", "succeeded", &[]).await,
        world.model(world.owner, "stale", "succeeded", &[]).await,
    ];
    world.score(&trace, old, 1.0, true, NOW).await;
    world.score(&trace, new, 2.0, true, NOW + 1).await;
    world.score(&trace, stale, 3.0, false, NOW + 2).await;
    let list = world.get("/traces").await.ok().json();
    assert_eq!(list["traces"][0]["latest_score"]["reward_model_name"], "new");
    let list = world.get(&format!("/traces?reward_model_id={old}")).await.ok().json();
    assert_eq!(list["traces"][0]["latest_score"]["score"], 1.0);
}

async fn world_of_five() -> World {
    let world = World::new().await;
    let model = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    // Two of one moment and of one length, so that ties are seen; one without a score.
    for (n, steps, score) in [(1, 2, Some(0.5)), (2, 4, Some(-1.0)), (3, 4, None), (3, 1, Some(2.0)), (5, 3, Some(0.0))]
    {
        let title = format!("{n}/{steps}");
        let steps = (0..steps).map(|n| user(&n.to_string())).collect();
        let trace = NewTrace { title, steps, created_at: NOW + n, ..NewTrace::default() };
        world.put(&trace).await;
        if let Some(score) = score {
            world.score(&trace, model, score, true, NOW).await;
        }
    }
    world
}

#[tokio::test]
async fn the_orders() {
    let world = world_of_five().await;
    for (sort, order) in [
        ("", ["5/3", "3/4", "3/1", "2/4", "1/2"]),
        ("newest", ["5/3", "3/4", "3/1", "2/4", "1/2"]),
        ("oldest", ["1/2", "2/4", "3/4", "3/1", "5/3"]),
        ("most_steps", ["2/4", "3/4", "5/3", "1/2", "3/1"]),
        ("fewest_steps", ["3/1", "1/2", "5/3", "2/4", "3/4"]),
        ("highest_score", ["3/1", "1/2", "5/3", "2/4", "3/4"]),
        ("lowest_score", ["2/4", "5/3", "1/2", "3/1", "3/4"]),
    ] {
        let path = if sort.is_empty() { "/traces".to_owned() } else { format!("/traces?sort={sort}") };
        assert_eq!(titles(&world.get(&path).await.ok().json()), order, "{sort}");
        assert_eq!(paged(&world, sort).await, order, "{sort} by cursor");
    }
    world.get("/traces?sort=random").await.problem(422, "invalid_field");
}

/// Reads all pages of two, by cursor.
async fn paged(world: &World, sort: &str) -> Vec<String> {
    let sort = if sort.is_empty() { String::new() } else { format!("&sort={sort}") };
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.get(&format!("/traces?limit=2{sort}{cursor}")).await.ok().json();
        assert_eq!(page["total"], 5);
        all.extend(titles(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

#[tokio::test]
async fn limit_and_offset() {
    let world = world_of_five().await;
    let page = world.get("/traces?limit=2&offset=1").await.ok().json();
    assert_eq!(titles(&page), ["3/4", "3/1"]);
    assert_eq!(page["total"], 5);
    assert_eq!(titles(&world.get("/traces?offset=5").await.ok().json()), [""; 0]);
    for bad in ["limit=0", "limit=501", "limit=ten", "limit=-1", "offset=-1", "offset=x"] {
        world.get(&format!("/traces?{bad}")).await.problem(422, "bad_limit");
    }
}

#[tokio::test]
async fn a_cursor_holds_for_its_own_list_only() {
    let world = world_of_five().await;
    let page = world.get("/traces?limit=2").await.ok().json();
    let cursor = page["next_cursor"].as_str().unwrap();
    for bad in [
        format!("cursor={cursor}&sort=oldest"),
        format!("cursor={cursor}&q=x"),
        format!("cursor={cursor}&offset=1"),
        "cursor=x".to_owned(),
        "cursor=".to_owned(),
    ] {
        world.get(&format!("/traces?{bad}")).await.problem(422, "bad_limit");
    }
}

#[tokio::test]
async fn another_owner_sees_none_of_it() {
    let world = world_of_five().await;
    let list = world.get_as(fresh_owner(), "/traces").await.ok().json();
    assert_eq!((list["total"].as_i64(), titles(&list).len()), (Some(0), 0));
}
