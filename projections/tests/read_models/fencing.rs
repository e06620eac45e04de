//! Two projectors, or two logs: only one of them ever writes.

use crate::build::{changed, created, record, trace};
use crate::logs::{Gate, Odd};
use crate::world::{PATIENCE, World, owner};
use stash_domain::position::LogId;
use stash_domain::record::Expected;
use stash_infra::event_log::EventLog;
use stash_infra::lease::ProjectionLeases;
use stash_projections::{OnDifference, ProjectionError, rebuild};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// An annotation that was created and changed: twice applied, its version would be more than 2.
async fn annotated(world: &World) {
    let a = owner(0);
    let traced = trace(a, 1);
    let made = created(a, 1, traced, traced.into(), None);
    world.append(&record(a, 1, Expected::Any, vec![made])).await;
    world.append(&record(a, 2, Expected::Any, vec![changed(a, 1, traced, traced.into(), None)])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projector_that_stood_still_past_its_lease_is_refused_and_stands_by() {
    let world = World::new().await;
    annotated(&world).await;
    let gate = Arc::new(Gate::default());
    let stopped: Arc<dyn EventLog> = Arc::new(Odd { gate: Some(gate.clone()), ..Odd::new(&world.log) });
    let sleeper = world.projector(&stopped);
    let other = world.projector(&world.log);
    // A lease of no length is over at once, as that of a process that stood still for long.
    let short = ProjectionLeases::with_length(world.system().clone(), Duration::ZERO);
    let long = ProjectionLeases::new(world.system().clone());
    let (stop_sleeper, stop_other) = (CancellationToken::new(), CancellationToken::new());
    let story = async {
        gate.reached.notified().await;
        let (ended, ()) = tokio::join!(other.run_leased(&long, "other", stop_other.clone()), async {
            world.wait_until_applied(&other.marks).await;
            // It has the records in hand, and the old epoch.
            gate.open.notify_one();
            // Its commit is refused, and it is told that another one holds the lease: it takes no checkpoint again.
            let epochs = "SELECT sum(epoch)::bigint FROM es_checkpoint";
            let before = world.count(epochs).await;
            annotation_version(&world, 2).await;
            stop_sleeper.cancel();
            assert_eq!(world.count(epochs).await, before);
            stop_other.cancel();
        });
        ended.unwrap();
    };
    let (ended, ()) = tokio::join!(sleeper.run_leased(&short, "sleeper", stop_sleeper.clone()), story);
    ended.unwrap();
    annotation_version(&world, 2).await;
    assert_eq!(world.count("SELECT count(*) FROM es_checkpoint WHERE epoch = 2").await, 4);
}

async fn annotation_version(world: &World, expected: i64) {
    assert_eq!(world.count("SELECT version FROM rm_annotations").await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_slower_of_two_projectors_writes_nothing() {
    let world = World::new().await;
    annotated(&world).await;
    let gate = Arc::new(Gate::default());
    let stopped: Arc<dyn EventLog> = Arc::new(Odd { gate: Some(gate.clone()), ..Odd::new(&world.log) });
    let slow = world.projector(&stopped);
    let stop = CancellationToken::new();
    let story = async {
        gate.reached.notified().await;
        world.project(&world.log).await;
        gate.open.notify_one();
        // Refused, it takes the checkpoints again and finds everything applied.
        world.wait_until_applied(&slow.marks).await;
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(slow.run(stop.clone()), story);
    ended.unwrap();
    annotation_version(&world, 2).await;
    world.rebuild(&world.log).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_log_is_refused_and_fences_nobody() {
    let world = World::new().await;
    annotated(&world).await;
    world.project(&world.log).await;
    let other: Arc<dyn EventLog> = Arc::new(Odd { id: LogId(Uuid::from_u128(9)), ..Odd::new(&world.log) });
    let epochs = "SELECT sum(epoch)::bigint FROM es_checkpoint";
    let before = world.count(epochs).await;
    let ended = tokio::time::timeout(PATIENCE, world.projector(&other).run(CancellationToken::new())).await.unwrap();
    assert!(matches!(ended, Err(ProjectionError::AnotherLog(_))), "{ended:?}");
    assert_eq!(world.count(epochs).await, before);
    assert!(matches!(world.rebuild(&other).await, Err(ProjectionError::AnotherLog(_))));

    let deps = world.deps();
    let rebuilt = rebuild(world.system(), &other, &deps, OnDifference::Switch, &mut |_, _| {}).await.unwrap();
    assert_eq!(rebuilt.records, 2);
    annotation_version(&world, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_projector_goes_on_in_the_rebuilt_tables() {
    let world = World::new().await;
    annotated(&world).await;
    let projector = world.projector(&world.log);
    let stop = CancellationToken::new();
    let story = async {
        world.wait_until_applied(&projector.marks).await;
        for (command, expected) in [(3, 3), (4, 4)] {
            let rebuilt = world.rebuild(&world.log).await.unwrap();
            assert_eq!(rebuilt.different, Vec::<&str>::new());
            let traced = trace(owner(0), 1);
            let change = changed(owner(0), 1, traced, traced.into(), None);
            world.append(&record(owner(0), command, Expected::Any, vec![change])).await;
            world.wait_until_applied(&projector.marks).await;
            annotation_version(&world, expected).await;
        }
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(projector.run(stop.clone()), story);
    ended.unwrap();
    let kept = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rm\\_v%'";
    assert_eq!(world.count(kept).await, 2, "the generation shown and the one before");
}
