//! Tables that another version made.

use crate::build::{TraceOf, id, record};
use crate::logs::Odd;
use crate::world::{World, owner};
use stash_domain::position::LogId;
use stash_domain::record::Expected;
use stash_infra::event_log::EventLog;
use stash_projections::{ProjectionError, Rebuilt, renew, schema};
use std::sync::Arc;
use uuid::Uuid;

async fn renewed(world: &World, log: &Arc<dyn EventLog>) -> Result<Option<Rebuilt>, ProjectionError> {
    renew(world.system(), log, &world.deps(), &mut |_, _| {}).await
}

async fn imported(world: &World) {
    let a = owner(0);
    let import = world.import(a, id("import", a, 1), &[TraceOf { number: 1, steps: 4, said: "hello" }]).await;
    world.append(&record(a, 1, Expected::Any, vec![import])).await;
    world.project(&world.log).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_this_version_are_left_alone() {
    let world = World::new().await;
    imported(&world).await;
    assert!(renewed(&world, &world.log).await.unwrap().is_none());
    let live = schema::current(&mut world.system().acquire().await.unwrap()).await.unwrap();
    assert_eq!(live.as_deref(), Some(schema::GENERATION_FIRST));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_another_version_are_made_anew_before_anything_uses_them() {
    let world = World::new().await;
    imported(&world).await;
    let before = world.digests().await;
    // As an older version left them: a column that is no more, a table that was not yet, and no note of their shape.
    sqlx::raw_sql(
        "ALTER TABLE rm_v1.rm_traces ADD COLUMN old text NOT NULL DEFAULT ''; DROP TABLE rm_v1.rm_spans CASCADE;
         COMMENT ON SCHEMA rm_v1 IS NULL",
    )
    .execute(world.system())
    .await
    .unwrap();
    let other: Arc<dyn EventLog> = Arc::new(Odd { id: LogId(Uuid::from_u128(9)), ..Odd::new(&world.log) });
    assert!(matches!(renewed(&world, &other).await, Err(ProjectionError::AnotherLog(_))));
    let rebuilt = renewed(&world, &world.log).await.unwrap().expect("a rebuild");
    assert_eq!((rebuilt.schema.as_str(), rebuilt.records, rebuilt.different.len()), ("rm_v2", 1, 0));
    assert_eq!(world.digests().await, before);
    assert!(renewed(&world, &world.log).await.unwrap().is_none());
    imported_again(&world).await;
}

/// The projector goes on in the new tables.
async fn imported_again(world: &World) {
    let a = owner(0);
    let import = world.import(a, id("import", a, 2), &[TraceOf { number: 2, steps: 1, said: "more" }]).await;
    world.append(&record(a, 2, Expected::Any, vec![import])).await;
    world.project(&world.log).await;
    assert_eq!(world.count("SELECT count(*) FROM rm_traces").await, 2);
    world.rebuild(&world.log).await.unwrap();
}
