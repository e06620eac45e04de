//! No row of one owner is ever shown to another.

use crate::build::{TraceOf, created, deleted, dropped, id, job, record, trace};
use crate::world::{World, owner};
use sqlx::AssertSqlSafe;
use stash_domain::events::{JobRequested, LlmSwitched, ScoringRequested, TitleRequested};
use stash_domain::ids::content_subject;
use stash_domain::record::{Expected, StreamId};
use stash_infra::postgres::OwnerTx;

#[tokio::test(flavor = "multi_thread")]
async fn the_api_role_sees_its_owners_rows_and_none_without_an_owner() {
    let world = World::new().await;
    for number in 0..2 {
        everything(&world, number).await;
    }
    world.project(&world.log).await;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.views WHERE table_schema = 'rm' AND table_name <> 'es_checkpoint'
         AND table_name NOT IN ('dead_letter', 'es_blob')",
    )
    .fetch_all(world.system())
    .await
    .unwrap();
    assert_eq!(tables.len(), 25);
    for table in &tables {
        let rows = |filter: &str| AssertSqlSafe(format!("SELECT count(*) FROM {table} {filter}"));
        let all: i64 = sqlx::query_scalar(rows("")).fetch_one(world.system()).await.unwrap();
        let nobody: i64 = sqlx::query_scalar(rows("")).fetch_one(&world.pools.api).await.unwrap();
        assert_eq!(nobody, 0, "{table} without an owner");
        let mut seen = 0;
        for number in 0..2 {
            let mut tx = OwnerTx::begin(&world.pools.api, owner(number)).await.unwrap();
            let own: i64 = sqlx::query_scalar(rows("")).fetch_one(&mut *tx).await.unwrap();
            let others = rows(&format!("WHERE owner_id <> '{}'", owner(number)));
            let others: i64 = sqlx::query_scalar(others).fetch_one(&mut *tx).await.unwrap();
            assert_eq!(others, 0, "{table} shows another owner's rows");
            assert!(own > 0, "{table} has rows of owner {number}: else this shows nothing");
            seen += own;
        }
        assert_eq!(seen, all, "{table}");
    }
    for private in ["SELECT * FROM dead_letter", "SELECT * FROM es_blob"] {
        let asked = sqlx::query(private).fetch_all(&world.pools.api).await;
        assert!(asked.is_err_and(|error| error.to_string().contains("permission denied")), "{private}");
    }
    let direct = sqlx::query("SELECT * FROM rm_v1.dead_letter").fetch_all(&world.pools.api).await;
    assert!(direct.is_err());
}

/// A row in every table.
async fn everything(world: &World, number: u8) {
    let a = owner(number);
    let (import, traced) = (id("import", a, 1), trace(a, 1));
    let subject = content_subject(import, traced);
    let said = TraceOf { number: 1, steps: 4, said: "hello" };
    let run_id = id("run", a, 1);
    let job_id = id("job", a, 1);
    let scoring = ScoringRequested { run_id, job_id, trace_id: traced, reward_model_id: id("model", a, 1) };
    let requested = job(a, 1, |job_id| {
        let (kind, compute) = ("score".into(), "local".into());
        JobRequested { job_id, kind, compute, reward_model_id: None, run_id: Some(run_id) }.into()
    });
    let events = vec![
        world.import(a, import, &[said]).await,
        world.sent(a, id("import", a, 2), &[(3, 0)]).await,
        created(a, 1, traced, subject, None),
        world.judged(a, import, (traced, subject), 2, true).await,
        world.model(a, 1, &[1]).await,
        world.answered(a, 1, (traced, subject), 1, "good").await,
        world.findings(a, 1, 1, &[(traced, subject)]).await,
        world.trained(a, 1, &[[(traced, subject), (traced, subject)]]).await,
        world.scores(a, 1, 0.5, &[(traced, subject)]).await,
        (StreamId::ScoringRun(run_id), scoring.into()),
        requested,
        (StreamId::Trace(traced), TitleRequested { trace_id: traced }.into()),
        (StreamId::Account(a), LlmSwitched { account_id: a, purpose: "titles".into(), allowed: false }.into()),
    ];
    world.append(&record(a, 1, Expected::Any, events)).await;
    world.append(&record(a, 2, Expected::Any, vec![deleted(trace(a, 2))])).await;
    world.append(&record(a, 3, Expected::Any, vec![dropped(a, 2)])).await;
}
