//! Nobody sees what is another's, also where a statement forgets to say whose rows it wants.

use crate::support::rows::{NewAnnotation, NewSpan, NewTrace};
use crate::support::{NOW, World, fresh_owner};
use sqlx::{AssertSqlSafe, PgConnection};
use stash_domain::ids::OwnerId;
use stash_infra::postgres::OwnerTx;
use uuid::Uuid;

/// Rows of a table that a connection sees without a WHERE, and how many owners they have.
async fn seen(connection: &mut PgConnection, table: &str) -> (i64, i64) {
    let statement = format!("SELECT count(*), count(DISTINCT owner_id) FROM {table}");
    sqlx::query_as(AssertSqlSafe(statement)).fetch_one(connection).await.unwrap()
}

/// Puts a row of an owner into every table that the API reads.
async fn fill(world: &World, owner: OwnerId) {
    let span = NewSpan { id: "a", ..NewSpan::default() };
    let trace = NewTrace { spans: vec![span], ..NewTrace::default() };
    world.put_as(owner, &trace).await;
    world.annotate_as(owner, owner.0, &NewAnnotation::on(&trace).rated(1)).await;
    let model = world.model(owner, "Refunds", "succeeded", &[trace.id]).await;
    for statement in [
        "INSERT INTO rm_deleted_reward_models VALUES ($1, $3, $2, 'x', NULL, 0, 0)",
        "INSERT INTO rm_llm_switches VALUES ($1, 'titles', false, 0)",
        "INSERT INTO rm_trace_titles VALUES ($1, $2, 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO rm_judgments VALUES ($1, $3, $2)",
        "INSERT INTO rm_trace_subjects VALUES ($1, $2, $2)",
        "INSERT INTO rm_otel_frames VALUES ($1, $2, $2, 0, '\\x00')",
        "INSERT INTO rm_otel_spans VALUES ($1, $2, '\\x01', 0, $2, 0, 0)",
        "INSERT INTO rm_otel_traces VALUES ($1, $2, 'a', 1, 0, NULL, NULL, false, false, 0, 0)",
        "INSERT INTO rm_otel_states VALUES ($1, $2, '\\x00')",
        "INSERT INTO rm_trace_scores VALUES ($1, $3, $2, 1, '\\x00', 0, 0)",
        "INSERT INTO rm_action_scores VALUES ($1, $3, $2, $2, 1, 0, '\\x00', 0, false, 0)",
        "INSERT INTO rm_scoring_runs VALUES ($1, gen_random_uuid(), $3, $2, $3, 0)",
        "INSERT INTO rm_training_pairs VALUES ($1, $3, 0, 'chosen', $2, NULL, 'x', 'trace', NULL, 'explicit_rating', 'train')",
        "INSERT INTO rm_learning_reports VALUES ($1, $3, 1, 1, 0, 0, 0, 0, NULL, 0)",
        "INSERT INTO rm_findings VALUES ($1, $3, 0, $2, $2, 0, NULL, 'unclear', 'low', 'ai_judgment', $2, 'x', 'x', 'x', NULL, false)",
        "INSERT INTO rm_judge_calls VALUES ($1, '\\x00', $2, $3, $3, 'review', 'x', '{}', 0, 0, NULL, 0)",
        "INSERT INTO es_command (command_id, owner_id, verdict, request_digest, log_time, partition, \"offset\")
         VALUES (gen_random_uuid(), $1, 'accepted', '\\x00', 0, 0, ('x' || substr(md5($2::text || $3::text), 1, 8))::bit(32)::int)",
        "INSERT INTO es_stream SELECT 'trace/' || $2 || $3, $1, 1",
    ] {
        // Each statement names all three, so that each can be bound in the same way.
        let statement = format!("WITH ids AS (SELECT $1::uuid, $2::uuid, $3::uuid) {statement}");
        let query = sqlx::query(AssertSqlSafe(statement)).bind(owner.0).bind(trace.id).bind(model);
        query.execute(world.rows()).await.unwrap();
    }
}

#[tokio::test]
async fn a_statement_without_a_where_sees_the_owners_rows_only() {
    let world = World::new().await;
    let other = fresh_owner();
    fill(&world, world.owner).await;
    fill(&world, other).await;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'rm' AND column_name = 'owner_id'
         AND table_name NOT IN ('dead_letter', 'es_blob') ORDER BY 1",
    )
    .fetch_all(world.rows())
    .await
    .unwrap();
    assert!(tables.len() >= 13, "{tables:?}");
    for table in &tables {
        for owner in [world.owner, other] {
            let mut tx = OwnerTx::begin(&world.pools.api, owner).await.unwrap();
            let (rows, owners) = seen(&mut tx, table).await;
            assert!(rows > 0, "{table} holds no row of this owner, so this test shows nothing");
            assert_eq!(owners, 1, "{table}");
        }
        let mut nobody = OwnerTx::begin(&world.pools.api, OwnerId(Uuid::nil())).await.unwrap();
        assert_eq!(seen(&mut nobody, table).await, (0, 0), "{table}");
        drop(nobody);
        let mut unset = world.pools.api.acquire().await.unwrap();
        assert_eq!(seen(&mut unset, table).await, (0, 0), "{table} without an owner");
    }
}

#[tokio::test]
async fn what_another_wrote_under_the_same_ids_is_not_mixed_in() {
    // Ids are unguessable, but nothing may depend on it: here another owner's rows carry the ids of this one's.
    let world = World::new().await;
    let other = fresh_owner();
    let trace = NewTrace { title: "mine".to_owned(), ..NewTrace::default() };
    world.put(&trace).await;
    world.put_as(other, &NewTrace { title: "theirs".to_owned(), ..trace.clone() }).await;
    world
        .annotate_as(other, other.0, &NewAnnotation { comment: Some("theirs"), ..NewAnnotation::on(&trace).rated(1) })
        .await;
    world
        .annotate(&NewAnnotation { comment: Some("mine"), created_at: NOW, ..NewAnnotation::on(&trace).rated(-1) })
        .await;
    for route in [
        format!("/traces/{}", trace.id),
        "/traces".to_owned(),
        "/export/traces".to_owned(),
        "/export/annotations".to_owned(),
    ] {
        let text = world.get(&route).await.ok().text();
        assert!(!text.contains("theirs"), "{route}: {text}");
    }
    let summary = world.get("/traces").await.ok().json();
    assert_eq!(summary["traces"][0]["positive_count"], 0);
    assert_eq!(summary["traces"][0]["negative_count"], 1);
}
