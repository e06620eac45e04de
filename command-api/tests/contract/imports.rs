//! `POST /traces/import`: what it answers, what it takes in, and what it leaves out.

use crate::support::World;
use crate::support::data::{lines, sample, short};
use crate::support::schema::assert_fits;
use serde_json::{Value, json};

#[tokio::test]
async fn a_json_body_answers_with_exact_fields_and_a_position() {
    let world = World::new().await;
    let body = json!({"format": "stash", "data": lines(&[sample("t-1"), short("t-2", "hello")])});
    let answer = world.post("/traces/import").json(&body).send().await;
    let said = answer.done(200).json();
    assert_fits(&said, "Imported");
    let ids = said["trace_ids"].clone();
    let expected = json!({
        "format": "stash", "imported": 2, "trace_ids": ids, "updated": 0,
        "skipped": [], "skipped_count": 0, "warnings": [], "warning_count": 0
    });
    assert_eq!(said, expected);
    let trace = world.read_after(&format!("/traces/{}", ids[0].as_str().unwrap()), &answer).await.ok(200).json();
    assert_eq!(
        (&trace["external_id"], &trace["step_count"], &trace["title"]),
        (&json!("t-1"), &json!(5), &json!("Refund"))
    );
    assert_eq!(world.read("/traces").await["total"], 2);
}

#[tokio::test]
async fn a_raw_body_does_the_same_and_auto_finds_the_format() {
    let world = World::new().await;
    let answer = world.post("/traces/import?format=stash").jsonl(&lines(&[sample("t-1")])).send().await;
    assert_eq!(answer.done(200).json()["imported"], 1);
    let chat = json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]});
    let answer = world.post("/traces/import").jsonl(&format!("{chat}\n")).send().await;
    assert_eq!(answer.done(200).json()["format"], "openai_chat");
    let answer = world.post("/traces/import").json(&json!({"data": chat.to_string()})).send().await;
    assert_eq!(answer.done(200).json()["format"], "openai_chat");
    let raw = world.post("/traces/import?format=auto").header("content-type", "application/json");
    let answer = raw.body(sample("t-1").to_string()).send().await;
    assert_eq!(answer.done(200).json()["format"], "stash");
}

#[tokio::test]
async fn an_error_anywhere_imports_nothing_and_says_where() {
    let world = World::new().await;
    let good = short("t-1", "a").to_string();
    let before = r#"{"steps": ["#;
    let data = format!("{good}\n{before}{{\"role\": \"user\"}}]}}\n");
    let answer = world.post("/traces/import?format=stash").jsonl(&data).send().await;
    let problem = answer.problem(422, "bad_import");
    assert_eq!((&problem["line"], &problem["offset"]), (&json!(2), &json!(good.len() + 1 + before.len())));
    assert!(problem["detail"].as_str().unwrap().contains("content"), "{problem}");
    assert!(problem["field"].as_str().unwrap().starts_with("steps"), "{problem}");
    let enveloped = json!({"format": "stash", "data": data});
    world.post("/traces/import").json(&enveloped).send().await.problem(422, "bad_import");
    assert_eq!(world.read("/traces").await["total"], 0);
    assert_eq!(world.count("subject_key").await, 0, "nothing is left of it");
}

#[tokio::test]
async fn skip_takes_the_good_ones_and_lists_the_bad_ones() {
    let world = World::new().await;
    let data = format!("{}\nnonsense\n{}\n", short("t-1", "a"), json!({"id": "t-2", "steps": []}));
    let answer = world.post("/traces/import?format=stash&on_error=skip").jsonl(&data).send().await;
    let said = answer.done(200).json();
    assert_fits(&said, "Imported");
    assert_eq!((&said["imported"], &said["skipped_count"]), (&json!(1), &json!(2)));
    let places: Vec<&Value> = said["skipped"].as_array().unwrap().iter().map(|issue| &issue["line"]).collect();
    assert_eq!(places, [2, 3]);
    world.read_after("/traces", &answer).await.ok(200);
    let enveloped = json!({"format": "stash", "data": "nonsense\nnonsense\n", "on_error": "skip"});
    let none = world.post("/traces/import").json(&enveloped).send().await;
    assert_eq!(none.done(200).json()["imported"], 0);
    assert_eq!(world.read("/traces").await["total"], 1);
}

#[tokio::test]
async fn traces_without_steps_or_with_system_steps_alone_are_refused() {
    let world = World::new().await;
    for steps in [json!([]), json!([{"role": "system", "content": "x"}])] {
        let answer = world.post("/traces/import?format=stash").jsonl(&lines(&[json!({"steps": steps})])).send().await;
        assert!(answer.detail(422, "bad_import").contains("step"));
    }
}

#[tokio::test]
async fn unknown_formats_and_options_are_named() {
    let world = World::new().await;
    let answer = world.post("/traces/import?format=cobol").jsonl("{}").send().await;
    assert!(answer.detail(422, "unknown_format").contains("cobol"));
    let answer = world.post("/traces/import?format=auto").jsonl("{\"a\": 1}\n").send().await;
    answer.problem(422, "unknown_format");
    let answer = world.post("/traces/import?on_error=maybe").jsonl("{}").send().await;
    answer.problem(422, "invalid_field");
    let answer = world.post("/traces/import").json(&json!({"format": "stash"})).send().await;
    assert!(answer.detail(422, "invalid_field").contains("data"));
    let answer = world.post("/traces/import").json(&json!({"data": "{}", "on_error": "maybe"})).send().await;
    assert!(answer.detail(422, "invalid_field").contains("on_error"));
}

#[tokio::test]
async fn a_second_import_updates_and_equal_steps_keep_their_ids() {
    let world = World::new().await;
    let first = world.sample().await;
    let again = json!({"format": "stash", "data": lines(&[sample("t-1"), short("t-2", "new")])});
    let answer = world.post("/traces/import").json(&again).send().await;
    let said = answer.done(200).json();
    assert_eq!((&said["imported"], &said["updated"]), (&json!(2), &json!(1)));
    assert_eq!(said["trace_ids"][0], first["id"]);
    let path = format!("/traces/{}", first["id"].as_str().unwrap());
    let second = world.read_after(&path, &answer).await.ok(200).json();
    assert_eq!(second["steps"], first["steps"]);
    assert_eq!(second["created_at"], first["created_at"]);
}

#[tokio::test]
async fn an_import_counts_what_one_before_it_brought_though_it_is_not_projected_yet() {
    let world = World::new().await;
    world.stop_projector().await;
    let import = async |trace: Value| {
        let answer = world.post("/traces/import?format=stash").jsonl(&lines(&[trace])).send().await;
        answer.done(200).json()["updated"].clone()
    };
    assert_eq!(import(short("t-1", "a")).await, 0, "the log was empty, so there is nothing to wait for");
    let unnamed = json!({"steps": [{"role": "user", "content": "a"}]});
    assert_eq!(import(unnamed).await, 0, "a trace without an external id cannot have been there");
    let (again, ()) = tokio::join!(import(short("t-1", "b")), world.start_projector());
    assert_eq!(again, 1);
    assert_eq!(import(short("t-1", "c")).await, 1);
}

#[tokio::test]
async fn a_trace_that_comes_twice_in_one_input_is_there_once_as_it_came_last() {
    let world = World::new().await;
    let data = lines(&[short("t-1", "first"), short("t-1", "last")]);
    let answer = world.post("/traces/import?format=stash").jsonl(&data).send().await;
    let said = answer.done(200).json();
    assert_eq!((&said["imported"], &said["updated"]), (&json!(2), &json!(1)));
    assert_eq!(said["trace_ids"][0], said["trace_ids"][1]);
    let trace = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert_eq!(trace["steps"][1]["content"], "last");
}

#[tokio::test]
async fn importing_the_export_changes_nothing() {
    let world = World::new().await;
    let before = world.sample().await;
    let export = world.get("/export/traces").send().await.ok(200).text();
    let answer = world.post("/traces/import?format=stash").jsonl(&export).send().await;
    assert_eq!(answer.done(200).json()["updated"], 1);
    let after = world.read_after("/traces/external:t-1", &answer).await.ok(200).json();
    assert_eq!(after, before);
    assert_eq!(world.get("/export/traces").send().await.ok(200).text(), export);
}

#[tokio::test]
async fn traces_without_an_id_are_known_by_their_number_in_a_named_source() {
    let world = World::new().await;
    let said =
        |text: &str| json!({"steps": [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]});
    let import = async |source: &str, traces: &[Value]| {
        let path = format!("/traces/import?format=stash&source={source}");
        let answer = world.post(&path).jsonl(&lines(traces)).send().await.done(200).json();
        (answer["updated"].clone(), answer["trace_ids"].clone())
    };
    let (updated, first) = import("a.jsonl", &[said("one"), short("t-1", "named")]).await;
    assert_eq!(updated, 0);
    let grown = [said("one"), short("t-1", "named"), said("two")];
    let (updated, second) = import("a.jsonl", &grown).await;
    assert_eq!((updated, &second[0], &second[1]), (json!(2), &first[0], &first[1]));
    let (updated, elsewhere) = import("b.jsonl", &grown).await;
    assert_eq!((updated, &elsewhere[1]), (json!(1), &first[1]), "only the trace with an id is the same one");
    let body = json!({"format": "stash", "data": lines(&grown), "source": "a.jsonl"});
    let answer = world.post("/traces/import").json(&body).send().await;
    assert_eq!(answer.done(200).json()["trace_ids"], second, "the JSON body says it likewise");
    assert_eq!(world.read_after("/traces", &answer).await.ok(200).json()["total"], 5);

    for source in [String::new(), "x".repeat(1001)] {
        let answer = world.post(&format!("/traces/import?format=stash&source={source}")).jsonl("{}").send().await;
        assert!(answer.detail(422, "invalid_field").contains("source"));
    }
}
