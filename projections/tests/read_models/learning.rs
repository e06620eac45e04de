//! What trainings found out: the newest attempt stands, and what is of a deleted trace goes with it.

use crate::build::{TraceOf, created, deleted, id, record, trace};
use crate::world::{World, owner};
use stash_domain::ids::{ImportId, SubjectId, TraceId, content_subject};
use stash_domain::record::Expected;

async fn reasons(world: &World) -> Vec<String> {
    sqlx::query_scalar("SELECT reason FROM rm_findings ORDER BY ordinal").fetch_all(world.system()).await.unwrap()
}

/// Two imported traces with their subjects.
async fn two_traces(world: &World) -> [(TraceId, SubjectId); 2] {
    let a = owner(0);
    let import: ImportId = id("import", a, 1);
    let of = |number| TraceOf { number, steps: 2, said: "x" };
    let event = world.import(a, import, &[of(1), of(2)]).await;
    world.append(&record(a, 1, Expected::Any, vec![event])).await;
    [1, 2].map(|number| (trace(a, number), content_subject(import, trace(a, number))))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_without_findings_is_not_no_report_and_the_newest_attempt_stands() {
    let world = World::new().await;
    let a = owner(0);
    let [one, two] = two_traces(&world).await;
    let empty = world.findings(a, 1, 1, &[]).await;
    world.append(&record(a, 2, Expected::Any, vec![empty])).await;
    world.project(&world.log).await;
    assert_eq!(world.count("SELECT count(*) FROM rm_learning_reports").await, 1);
    assert_eq!(reasons(&world).await, Vec::<String>::new());

    let newer = world.findings(a, 1, 3, &[one, two]).await;
    let late = world.findings(a, 1, 2, &[one]).await;
    world.append(&record(a, 3, Expected::Any, vec![newer])).await;
    world.append(&record(a, 4, Expected::Any, vec![late])).await;
    world.project(&world.log).await;
    assert_eq!(reasons(&world).await, ["attempt 3", "attempt 3"]);
    assert_eq!(world.count("SELECT attempt::bigint FROM rm_learning_reports").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_and_answers_about_a_deleted_trace_go_with_it() {
    let world = World::new().await;
    let a = owner(0);
    let [one, two] = two_traces(&world).await;
    let learned = world.findings(a, 1, 1, &[one, two]).await;
    world.append(&record(a, 2, Expected::Any, vec![learned])).await;
    // The same question about both traces, and its first answer again.
    for (command, about, answer) in [(3, one, "first"), (4, two, "second"), (5, two, "third")] {
        let event = world.answered(a, 1, about, 7, answer).await;
        world.append(&record(a, command, Expected::Any, vec![event])).await;
    }
    world.project(&world.log).await;
    let answers = "SELECT answer FROM rm_judge_calls ORDER BY answer";
    let kept: Vec<String> = sqlx::query_scalar(answers).fetch_all(world.system()).await.unwrap();
    assert_eq!(kept, [r#"{"reason":"first"}"#, r#"{"reason":"second"}"#]);

    world.append(&record(a, 6, Expected::Any, vec![deleted(one.0)])).await;
    world.project(&world.log).await;
    let kept: Vec<String> = sqlx::query_scalar(answers).fetch_all(world.system()).await.unwrap();
    assert_eq!(kept, [r#"{"reason":"second"}"#]);
    assert_eq!(world.count("SELECT count(*) FROM rm_findings").await, 1);
    assert_eq!(world.count("SELECT count(*) FROM rm_learning_reports").await, 1);
    let live = world.digests().await;
    assert_eq!(world.rebuild(&world.log).await.unwrap().digests, live);
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_touch_neither_annotations_nor_scores() {
    let world = World::new().await;
    let a = owner(0);
    let [one, two] = two_traces(&world).await;
    let text = world.text(a, one.1, "a person's comment").await;
    world.append(&record(a, 2, Expected::Any, vec![created(a, 1, one.0, one.1, Some(text))])).await;
    world.project(&world.log).await;
    let annotations = "SELECT annotation_id::text || coalesce(comment, '') || updated_at FROM rm_annotations";
    let before: Vec<String> = sqlx::query_scalar(annotations).fetch_all(world.system()).await.unwrap();
    let learned = world.findings(a, 1, 1, &[one, two]).await;
    world.append(&record(a, 3, Expected::Any, vec![learned])).await;
    world.project(&world.log).await;
    assert_eq!(world.count("SELECT count(*) FROM rm_findings").await, 2);
    let after: Vec<String> = sqlx::query_scalar(annotations).fetch_all(world.system()).await.unwrap();
    assert_eq!((before.len(), before), (1, after));
    let scores = "SELECT (SELECT count(*) FROM rm_trace_scores) + (SELECT count(*) FROM rm_action_scores)";
    assert_eq!(world.count(scores).await, 0);
}
