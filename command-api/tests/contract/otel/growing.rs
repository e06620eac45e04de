//! A trace is at every moment what all of its spans give.

use super::sent::{Sent, call, content, root, steps, tool, trace, whole};
use crate::support::World;
use crate::support::data::lines;
use futures::future::join_all;
use serde_json::{Value, json};
use stash_domain::seeded::Seeded;

#[tokio::test]
async fn json_and_protobuf_give_the_same_trace() {
    let world = World::new().await;
    let spans = |number| whole(&trace(number), 3);
    let in_json = world.spans_json(&spans(1)).await;
    let in_protobuf = world.spans(&spans(2)).await;
    let read = world.trace_after(&trace(1), &in_json).await;
    assert_eq!(content(&read), content(&world.trace_after(&trace(2), &in_protobuf).await));
    let expected = [
        "user Begin",
        "assistant look",
        "tool seen 0look",
        "assistant look",
        "tool seen 1look",
        "assistant look",
        "tool seen 2look",
    ];
    assert_eq!(steps(&read), expected);
    assert_eq!((&read["source_format"], &read["title"]), (&json!("otel"), &json!("Begin")));
    let metadata = &read["metadata"];
    assert_eq!(
        (&metadata["agent"], &metadata["model"], &metadata["session"]),
        (&json!("clerk"), &json!("m-1"), &json!("s-1"))
    );
    assert_eq!(metadata["otel"]["unmapped"]["shop.basket"]["spans"], 3, "what no rule reads can be listed");
    let spans: Vec<&Value> = read["spans"].as_array().unwrap().iter().map(|span| &span["name"]).collect();
    assert_eq!(spans.len(), 7);
    assert_eq!(spans[..3], ["invoke_agent clerk", "chat 0", "execute_tool look"]);
    assert_eq!(read["spans"][1]["step_indices"], json!([0, 1]));
}

#[tokio::test]
async fn what_was_changed_is_told_in_whatever_order_it_came() {
    let world = World::new().await;
    for (number, turned) in [(1, false), (2, true)] {
        let id = trace(number);
        let mut spans = whole(&id, 2);
        spans[0].end_ns = 1;
        let bad = spans.len() - 1;
        (spans[bad].start_ns, spans[bad].end_ns) = (0, 0);
        let (first, left_out) = (spans[0].id.clone(), spans[bad].id.clone());
        if turned {
            spans.reverse();
        }
        let mut last = None;
        for span in spans {
            let answer = world.spans(&[span]).await;
            world.get("/traces?limit=1").after(&answer).send().await.ok(200);
            last = Some(answer);
        }
        let read = world.trace_after(&id, &last.unwrap()).await;
        let expected = json!({
            "the end is before the start; the start was taken for it": {"spans": 1, "first": first},
            "the span has neither start nor end; it was left out of the trace's spans": {"spans": 1, "first": left_out},
        });
        assert_eq!(read["metadata"]["otel"]["warnings"], expected);
    }
}

#[tokio::test]
async fn any_order_and_any_split_give_the_same_trace() {
    let world = World::new().await;
    let expected = world.spans(&whole(&trace(0), 4)).await;
    let expected = content(&world.trace_after(&trace(0), &expected).await);
    let mut random = Seeded::new(7, "orders");
    for number in 1..=12 {
        let id = trace(number);
        let mut spans = whole(&id, 4);
        random.shuffle(&mut spans);
        let mut last = None;
        while !spans.is_empty() {
            let batch = spans.split_off(spans.len().saturating_sub(1 + random.below(4)));
            let answer = world.spans(&batch).await;
            if number % 2 == 0 {
                // Each batch applied by itself; otherwise as they happen to fall.
                world.get("/traces?limit=1").after(&answer).send().await.ok(200);
            }
            last = Some(answer);
        }
        let read = world.trace_after(&id, &last.unwrap()).await;
        assert_eq!(content(&read), expected, "order {number}");
    }
}

#[tokio::test]
async fn spans_that_come_again_change_nothing_also_side_by_side() {
    let world = World::new().await;
    let id = trace(1);
    let spans = whole(&id, 3);
    let (first, second) = spans.split_at(3);
    let answers = join_all((0..8).map(|n| world.traces_protobuf(if n % 2 == 0 { first } else { &spans }).send())).await;
    for answer in &answers {
        answer.done(200);
        world.get("/traces?limit=1").after(answer).send().await.ok(200);
    }
    let read = world.trace_after(&id, &answers[7]).await;
    let alone = world.spans(&whole(&trace(2), 3)).await;
    assert_eq!(content(&read), content(&world.trace_after(&trace(2), &alone).await));
    let again = world.spans(second).await;
    assert_eq!(world.trace_after(&id, &again).await, read);
    assert_eq!(world.count("rm_otel_spans").await, 14);
    let key = world.traces_protobuf(&spans).idempotent("key-1").send().await;
    let repeat = world.traces_protobuf(&spans).idempotent("key-1").send().await;
    assert_eq!((key.status, repeat.status), (repeat.status, key.status));
    world.traces_protobuf(first).idempotent("key-1").send().await.ok(422);
}

#[tokio::test]
async fn of_two_recordings_of_a_span_the_later_end_stands_whichever_came_first() {
    let world = World::new().await;
    let longer = |id: &str| {
        let mut span = root(id).with("user.id", "ada");
        span.end_ns += 1;
        span
    };
    let mut read = Vec::new();
    for (number, swapped) in [(1, false), (2, true)] {
        let id = trace(number);
        let mut both = vec![root(&id), longer(&id)];
        if swapped {
            both.reverse();
        }
        world.spans(&[both.remove(0), call(&id, 0).under(1)]).await;
        let answer = world.spans(&both).await;
        read.push(content(&world.trace_after(&id, &answer).await));
    }
    assert_eq!(read[0], read[1]);
    assert_eq!(read[0]["metadata"]["user"], "ada");
}

#[tokio::test]
async fn annotations_survive_growth_and_a_late_root() {
    let world = World::new().await;
    let id = trace(1);
    let first = world.spans(&[call(&id, 0).under(1), tool(&id, 0).under(1)]).await;
    let before = world.trace_after(&id, &first).await;
    assert_eq!(before["metadata"]["agent"], "shop", "the service, until an agent is known");
    let step = before["steps"][1]["id"].as_str().unwrap();
    let path = format!("/traces/external:{id}/annotations");
    world.post(&path).json(&json!({"rating": 1, "comment": "good", "step_id": step})).send().await.done(201);
    world.post(&path).json(&json!({"rating": -1})).send().await.done(201);
    world.spans(&[tool(&id, 1).under(1), call(&id, 1).under(1)]).await;
    let root = world.spans(&[root(&id)]).await;
    let after = world.trace_after(&id, &root).await;
    assert_eq!(after["metadata"]["agent"], "clerk");
    assert_eq!(after["steps"].as_array().unwrap().len(), 5);
    for at in 0..3 {
        assert_eq!(after["steps"][at]["id"], before["steps"][at]["id"]);
    }
    let annotations = after["annotations"].as_array().unwrap();
    assert_eq!(annotations.len(), 2);
    assert!(annotations.iter().any(|annotation| annotation["step_id"] == step));
    assert_eq!(after["created_at"], before["created_at"]);
}

#[tokio::test]
async fn what_has_no_messages_yet_is_kept_and_listed() {
    let world = World::new().await;
    let id = trace(1);
    let mut plain = Sent::new(&id, 3, "GET /");
    (plain.start_ns, plain.end_ns) = (5, 9);
    world.spans(&[plain]).await;
    let answer = world.spans(&[tool(&id, 0).under(1), root(&id)]).await;
    world.read_after(&format!("/traces/external:{id}"), &answer).await.problem(404, "not_found");
    let pending = world.read("/otel/pending").await;
    crate::support::schema::assert_fits(&pending[0], "PendingTrace");
    assert_eq!(pending.as_array().unwrap().len(), 1);
    assert_eq!(
        (&pending[0]["trace_id"], &pending[0]["span_count"], &pending[0]["first_ns"]),
        (&json!(id), &json!(3), &json!("5"))
    );
    assert_eq!(pending[0]["last_ns"], tool(&id, 0).end_ns.to_string());
    world.spans(&[Sent::new(&trace(2), 1, "alone")]).await;
    let answer = world.spans(&[Sent::new(&trace(3), 1, "alone")]).await;
    let page = world.get("/otel/pending?limit=2").after(&answer).send().await;
    assert_eq!(page.ok(200).json().as_array().unwrap().len(), 2);
    assert_eq!(page.header("link"), "<?limit=2&offset=2>; rel=\"next\"");
    let answer = world.spans(&[call(&id, 0).under(1)]).await;
    let read = world.trace_after(&id, &answer).await;
    assert_eq!(read["spans"].as_array().unwrap().len(), 4);
    assert_eq!(steps(&read), ["user Begin", "assistant look", "tool seen 0look"]);
    assert_eq!(world.read("/otel/pending").await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_import_of_the_same_id_is_shown_until_a_new_span_comes() {
    let world = World::new().await;
    let id = trace(1);
    world.spans(&whole(&id, 2)).await;
    let steps_of = |text: &str| json!([{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}]);
    let import = lines(&[json!({"id": id, "steps": steps_of("From a file")})]);
    let answer = world.post("/traces/import?format=stash").jsonl(&import).send().await;
    assert_eq!(answer.done(200).json()["updated"], 1);
    assert_eq!(steps(&world.trace_after(&id, &answer).await)[0], "user From a file");
    let again = world.spans(&whole(&id, 2)).await;
    assert_eq!(steps(&world.trace_after(&id, &again).await)[0], "user From a file", "nothing in it is new");
    let new = world.spans(&[call(&id, 2).under(1)]).await;
    let read = world.trace_after(&id, &new).await;
    assert_eq!(steps(&read).len(), 6, "all spans: {:?}", steps(&read));
    assert_eq!(read["spans"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn spans_of_others_are_others() {
    let world = World::new().await;
    let id = trace(1);
    let (_, eve) = world.stranger().await;
    let mine = world.spans(&whole(&id, 1)).await;
    let theirs = world.traces_protobuf(&whole(&id, 3)).key(&eve).send().await;
    theirs.done(200);
    assert_eq!(steps(&world.trace_after(&id, &mine).await).len(), 3);
    let read = world.get(&format!("/traces/external:{id}")).key(&eve).after(&theirs).send().await;
    assert_eq!(steps(&read.ok(200).json()).len(), 7);
}
