//! `GET /export/traces` and `GET /export/annotations`

use crate::support::rows::{NewAnnotation, NewSpan, NewTrace, assistant, call, step, user};
use crate::support::schema::assert_fits;
use crate::support::{NOW, World, fresh_owner};
use serde_json::json;
use stash_domain::formats::{self, ReadOptions, SinkError, TraceSink};
use stash_domain::trace::{Role, Span, Step, Trace, TraceHead};
use std::io::Cursor;
use uuid::Uuid;

/// Takes traces as an import would.
#[derive(Default)]
struct Taken(Vec<Trace>);

impl TraceSink for Taken {
    fn begin(&mut self, head: TraceHead) -> Result<(), SinkError> {
        self.0.push(Trace { head, ..Trace::default() });
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<(), SinkError> {
        self.0.last_mut().unwrap().steps.push(step);
        Ok(())
    }
    fn span(&mut self, span: Span) -> Result<(), SinkError> {
        self.0.last_mut().unwrap().spans.push(span);
        Ok(())
    }
    fn end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

#[tokio::test]
async fn exported_traces_read_back_as_they_were_in_the_order_of_their_import() {
    let world = World::new().await;
    let mut expected = Vec::new();
    for n in 0..40 {
        let spans = if n % 5 == 3 {
            vec![NewSpan { id: "a", start_ns: 7, end_ns: u64::MAX - 1, step_indices: vec![0], ..NewSpan::default() }]
        } else {
            Vec::new()
        };
        // Some longer than a piece.
        let more = if n == 11 || n == 12 { 1200 } else { n };
        let mut steps =
            vec![step(Role::System, "s"), user("u\n\u{2028}\"🦀"), call("find", r#"{"b": 1.50, "a": [{}]}"#)];
        steps.extend((0..more).map(|n| assistant(&n.to_string())));
        let trace = NewTrace {
            external_id: (n % 2 == 0).then(|| format!("run-{n}")),
            title: format!("title {n}"),
            title_source: if n % 3 == 0 { "given" } else { "derived" },
            metadata: format!(r#"{{"n": {n}.0}}"#),
            steps,
            spans,
            created_at: NOW + n,
            ..NewTrace::default()
        };
        world.put(&trace).await;
        expected.push(trace);
    }

    let answer = world.get("/export/traces").await.ok();
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    let lines = answer.lines();
    lines.iter().for_each(|line| assert_fits(line, "ExportedTrace"));
    assert_eq!(
        lines[0].as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>(),
        ["id", "metadata", "spans", "steps", "title"]
    );
    let mut taken = Taken::default();
    formats::read("stash", &mut Cursor::new(&answer.body), ReadOptions::default(), &mut taken).unwrap();
    assert_eq!(taken.0.len(), 40);
    for (n, (trace, expected)) in taken.0.iter().zip(&expected).enumerate() {
        assert_eq!(trace.head.external_id, expected.external_id, "{n}");
        assert_eq!(trace.head.title, (n % 3 == 0).then(|| expected.title.clone()), "{n}");
        assert_eq!(serde_json::to_string(&trace.head.metadata).unwrap(), format!(r#"{{"n":{n}.0}}"#));
        assert_eq!(trace.steps, expected.steps, "{n}");
        assert_eq!(trace.spans.len(), expected.spans.len(), "{n}");
        assert!(trace.spans.iter().all(|span| span.end_ns == u64::MAX - 1 && span.step_indices == [0]));
    }
}

#[tokio::test]
async fn more_traces_than_a_page_are_exported_each_once() {
    let world = World::new().await;
    world.put(&NewTrace::default()).await;
    for (table, columns) in [
        (
            "rm_traces",
            "subject_id, 'run-' || n, title, title_source, source_format, metadata, step_count, action_count, span_count, trace_digest, created_at + n / 100, updated_at",
        ),
        ("rm_steps", "idx, step_id, role, content || n, tool_name, tool_input, tool_call_id, metadata, action_digest"),
    ] {
        let copy = format!(
            "INSERT INTO {table} SELECT owner_id, md5(owner_id::text || n)::uuid, {columns} FROM {table}, generate_series(1, 1300) AS n
             WHERE owner_id = $1"
        );
        sqlx::query(sqlx::AssertSqlSafe(copy)).bind(world.owner.0).execute(world.rows()).await.unwrap();
    }
    let lines = world.get("/export/traces").await.ok().lines();
    assert_eq!(lines.len(), 1301);
    let mut ids: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
    for line in &lines[1..] {
        let n = line["id"].as_str().map_or("", |id| &id[4..]);
        assert_eq!(line["steps"][1]["content"], format!("hi{n}"));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1300);
}

#[tokio::test]
async fn an_exported_annotation_has_exactly_its_fields() {
    let world = World::new().await;
    let trace = NewTrace { external_id: Some("run-1".to_owned()), ..NewTrace::default() };
    world.put(&trace).await;
    let gone = Some(Uuid::now_v7());
    for annotation in [
        NewAnnotation { created_at: NOW + 1_000_000, ..NewAnnotation::on(&trace).rated(1) },
        NewAnnotation {
            comment: Some("no"),
            quote: Some(r#"{"text":"h","prefix":"","suffix":"i"}"#),
            label_error: true,
            ..NewAnnotation::on_step(&trace, 1).rated(-1)
        },
        NewAnnotation { step_id: gone, ..NewAnnotation::on(&trace).rated(1) },
    ] {
        world.annotate(&annotation).await;
    }
    let answer = world.get("/export/annotations").await.ok();
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    let lines = answer.lines();
    lines.iter().for_each(|line| assert_fits(line, "ExportedAnnotation"));
    assert_eq!(
        lines,
        [
            json!({"trace_id": trace.id, "trace_external_id": "run-1", "step_index": 1, "rating": -1, "comment": "no",
                   "quote": {"text": "h", "prefix": "", "suffix": "i"}, "label_error": true, "author": "Ada", "source": null,
                   "created_at": "2026-09-29T03:12:00Z"}),
            json!({"trace_id": trace.id, "trace_external_id": "run-1", "step_index": null, "rating": 1, "comment": null,
                   "quote": null, "label_error": false, "author": "Ada", "source": null, "created_at": "2026-09-29T03:12:01Z"}),
        ]
    );
}

#[tokio::test]
async fn many_annotations_are_exported_in_order() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    sqlx::query(
        "INSERT INTO rm_annotations (owner_id, annotation_id, trace_id, subject_id, rating, comment, label_error, redacted,
         author_id, created_at, updated_at, version) SELECT $1, gen_random_uuid(), $2, $2, 1, repeat('x', 2000), false, false, $1,
         $3 + (n * 7919 % 1000) * 1000000, $3, 1 FROM generate_series(1, 1000) AS n",
    )
    .bind(world.owner.0)
    .bind(trace.id)
    .bind(NOW)
    .execute(world.rows())
    .await
    .unwrap();
    let answer = world.get("/export/annotations").await.ok();
    assert!(answer.headers.get("content-length").is_none(), "streamed");
    let times: Vec<String> =
        answer.lines().iter().map(|line| line["created_at"].as_str().unwrap().to_owned()).collect();
    assert_eq!(times.len(), 1000);
    assert!(times.is_sorted());
}

#[tokio::test]
async fn another_owner_exports_nothing_of_it() {
    let world = World::new().await;
    let trace = NewTrace::default();
    world.put(&trace).await;
    world.annotate(&NewAnnotation::on(&trace).rated(1)).await;
    for route in ["/export/traces", "/export/annotations", "/export/pairs"] {
        assert!(world.get_as(fresh_owner(), route).await.ok().body.is_empty(), "{route}");
    }
}
