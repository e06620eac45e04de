//! `GET /traces`: filters.

use crate::support::rows::{NewAnnotation, NewTrace, assistant, call, user};
use crate::support::{NOW, World};
use crate::trace_list::titles;
use std::collections::HashSet;
use uuid::Uuid;

/// Three traces that differ in everything that can be filtered by.
async fn world() -> (World, Uuid) {
    let world = World::new().await;
    let a = NewTrace {
        external_id: Some("run a/1".to_owned()),
        title: "Refund 100%".to_owned(),
        format: "openai_chat",
        metadata: r#"{"agent": "bot", "plan": {"name": "pro"}, "tags": ["vip", "eu"], "n": 1e999, "odd.key[x]": "y"}"#
            .to_owned(),
        steps: vec![user("I want my money back"), call("lookup", "{}"), assistant("Done_it")],
        created_at: NOW,
        ..NewTrace::default()
    };
    let b = NewTrace {
        title: "Weather".to_owned(),
        metadata:
            r#"{"agent": "bot", "model": "qwen", "session": "s1", "user": "u1", "environment": "prod", "tags": "vip"}"#
                .to_owned(),
        created_at: NOW + 1_000_000,
        ..NewTrace::default()
    };
    let c = NewTrace { title: "Empty".to_owned(), created_at: NOW + 2_000_000, ..NewTrace::default() };
    for trace in [&a, &b, &c] {
        world.put(trace).await;
    }
    let model = world.model(world.owner, "Refunds", "succeeded", &[]).await;
    world.score(&a, model, 1.5, true, NOW).await;
    world.score(&b, model, -0.5, true, NOW).await;
    world.score(&c, model, 0.0, false, NOW).await;
    world.annotate(&NewAnnotation { comment: Some("no"), ..NewAnnotation::on_step(&a, 1).rated(-1) }).await;
    world.annotate(&NewAnnotation { label_error: true, ..NewAnnotation::on(&b).rated(-1) }).await;
    world.annotate(&NewAnnotation::on(&b).rated(1)).await;
    let gone = Some(Uuid::now_v7());
    world
        .annotate(&NewAnnotation {
            comment: Some("no"),
            step_id: gone,
            label_error: true,
            ..NewAnnotation::on(&c).rated(1)
        })
        .await;
    (world, model)
}

#[tokio::test]
async fn each_filter_lets_through_what_it_names() {
    let (world, model) = world().await;
    for (query, found) in [
        ("q=MONEY", "Refund 100%"),
        ("q=refund", "Refund 100%"),
        ("q=100%25", "Refund 100%"),
        ("q=e_it", "Refund 100%"),
        ("q=0%25%25", ""),
        ("q=", "Empty Weather Refund 100%"),
        ("external_id=run%20a%2F1", "Refund 100%"),
        ("external_id=run", ""),
        ("format=openai_chat", "Refund 100%"),
        ("format=stash", "Empty Weather"),
        ("from=2026-09-29T03:12:01Z", "Empty Weather"),
        ("to=2026-09-29T03:12:01Z", "Refund 100%"),
        ("from=2026-09-29T03:12:01Z&to=2026-09-29T03:12:02Z", "Weather"),
        ("agent=bot", "Weather Refund 100%"),
        ("agent=bot&model=qwen", "Weather"),
        ("session=s1&user=u1&environment=prod", "Weather"),
        ("metadata[agent]=bot&metadata.model=qwen", "Weather"),
        ("metadata.odd.key[x]=y", "Refund 100%"),
        ("metadata.n=1e999", "Refund 100%"),
        ("metadata.none=", ""),
        ("tag=vip", "Refund 100%"),
        ("tool_name=lookup", "Refund 100%"),
        ("has_comment=true", "Refund 100%"),
        ("has_comment=false", "Empty Weather"),
        ("has_label_error=true", "Weather"),
        ("has_label_error=false", "Empty Refund 100%"),
        ("rating=1", "Weather"),
        ("rating=-1", "Refund 100%"),
        ("score_min=0", "Refund 100%"),
        ("score_max=0", "Weather"),
        ("score_min=-1&score_max=2", "Weather Refund 100%"),
    ] {
        let list = world.get(&format!("/traces?{}", query.replace('[', "%5B").replace(']', "%5D"))).await.ok().json();
        assert_eq!(titles(&list).join(" "), found, "{query}");
        assert_eq!(list["total"], titles(&list).len(), "{query}");
    }
    let of_model = world.get(&format!("/traces?reward_model_id={model}&score_min=1")).await.ok().json();
    assert_eq!(titles(&of_model), ["Refund 100%"]);
    let of_none = world.get(&format!("/traces?reward_model_id={}&score_min=1", Uuid::nil())).await.ok().json();
    assert_eq!(titles(&of_none), [""; 0]);
}

#[tokio::test]
async fn unreadable_filters_are_422_and_named() {
    let world = World::new().await;
    for query in [
        "from=today",
        "to=1",
        "has_comment=maybe",
        "has_label_error=",
        "rating=2",
        "score_min=x",
        "score_max=NaN",
        "reward_model_id=1",
        "q=a%00b",
        "q=a&q=b",
        "metadata.a%00=b",
        "title=x",
    ] {
        let detail = world.get(&format!("/traces?{query}")).await.problem(422, "invalid_field");
        let name = query.split(['=', '%']).next().unwrap();
        assert!(detail.contains(name), "{query}: {detail}");
    }
}

#[tokio::test]
async fn many_traces_of_few_moments_are_paged_through_each_once() {
    let world = World::new().await;
    world.put(&NewTrace::default()).await;
    sqlx::query(
        "INSERT INTO rm_traces SELECT owner_id, gen_random_uuid(), subject_id, NULL, title, title_source, source_format, metadata,
         step_count, action_count, span_count, trace_digest, created_at - n / 1000, updated_at
         FROM rm_traces, generate_series(1, 3000) AS n WHERE owner_id = $1",
    )
    .bind(world.owner.0)
    .execute(world.rows())
    .await
    .unwrap();
    for sort in ["newest", "oldest", "most_steps"] {
        let mut ids = HashSet::new();
        let mut cursor = String::new();
        loop {
            let page = world.get(&format!("/traces?limit=400&sort={sort}{cursor}")).await.ok().json();
            assert_eq!(page["total"], 3001);
            ids.extend(page["traces"].as_array().unwrap().iter().map(|trace| trace["id"].to_string()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            assert_eq!(ids.len() % 400, 0, "{sort}");
            cursor = format!("&cursor={next}");
        }
        assert_eq!(ids.len(), 3001, "{sort}");
    }
}
