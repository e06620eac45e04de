//! A command's way to its verdict: in this process, by the tables of another one, or not in time.

use crate::build::{changed, created, record, trace};
use crate::logs::Odd;
use crate::world::{PATIENCE, World, owner};
use stash_domain::admit::{Judged, Verdict};
use stash_domain::ids::{CommandId, Digest};
use stash_domain::position::{Partition, partition_of};
use stash_domain::record::{Expected, Record};
use stash_infra::event_log::EventLog;
use stash_infra::submit::{Outcome, SubmitError, Submitter};
use stash_infra::watermark::Watermarks;
use stash_projections::Projector;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn annotation(command: u64, expected: Expected) -> Record {
    let traced = trace(owner(0), 1);
    record(owner(0), command, expected, vec![created(owner(0), command, traced, traced.into(), None)])
}

/// A change of the annotation that command 1 creates.
fn change(command: u64, expected: Expected) -> Record {
    let traced = trace(owner(0), 1);
    record(owner(0), command, expected, vec![changed(owner(0), 1, traced, traced.into(), None)])
}

/// A door whose verdicts come from this projector's hub.
fn beside(world: &World, projector: &Projector, log: &Arc<dyn EventLog>, wait: Duration) -> Submitter {
    let (hub, marks) = (projector.hub.clone(), projector.marks.clone());
    Submitter::new(log.clone(), hub, marks, world.system().clone(), wait)
}

/// A door in another process than the projector.
fn apart(world: &World, marks: &Arc<Watermarks>, wait: Duration) -> Submitter {
    Submitter::new(world.log.clone(), Arc::default(), marks.clone(), world.system().clone(), wait)
}

fn verdict(outcome: &Outcome) -> &Judged {
    let Outcome::Judged { judged, .. } = outcome else { panic!("no verdict: {outcome:?}") };
    judged
}

async fn while_projecting(projector: &Projector, story: impl Future<Output = ()>) {
    let stop = CancellationToken::new();
    let (ended, ()) = tokio::join!(projector.run(stop.clone()), async {
        story.await;
        stop.cancel();
    });
    ended.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_come_through_the_hub() {
    let world = World::new().await;
    let projector = world.projector(&world.log);
    let door = beside(&world, &projector, &world.log, PATIENCE);
    while_projecting(&projector, async {
        let first = door.submit(&annotation(1, Expected::Version(0))).await.unwrap();
        assert_eq!(verdict(&first).verdict, Verdict::Accepted);
        let void = door.submit(&change(2, Expected::Version(5))).await.unwrap();
        assert!(matches!(verdict(&void).verdict, Verdict::Conflict { expected: 5, actual: 1, .. }));
        let again = door.submit(&annotation(1, Expected::Version(0))).await.unwrap();
        assert_eq!(verdict(&again), verdict(&first), "a repeat has the verdict of the first");
        let mut other_body = annotation(1, Expected::Any);
        other_body.request_digest = Digest::of(b"another request");
        assert!(matches!(door.submit(&other_body).await, Err(SubmitError::Mismatch)));
    })
    .await;
    let command: CommandId = annotation(1, Expected::Any).command_id;
    assert!(door.find_verdict(command).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_of_a_projector_elsewhere_come_from_its_tables() {
    let world = World::new().await;
    let projector = world.projector(&world.log);
    let marks = Arc::new(Watermarks::new(world.log.partitions()));
    let door = apart(&world, &marks, PATIENCE);
    let follower = tokio::spawn({
        let (marks, pool) = (marks.clone(), world.system().clone());
        async move { marks.follow(pool).await }
    });
    while_projecting(&projector, async {
        let first = door.submit(&annotation(1, Expected::Any)).await.unwrap();
        assert_eq!(verdict(&first).verdict, Verdict::Accepted);
        let Outcome::Judged { position, .. } = first else { panic!("judged") };
        assert!(marks.of(position.position.partition) > position.position.offset, "its rows can be read");
        let void = door.submit(&change(2, Expected::Version(0))).await.unwrap();
        assert!(matches!(verdict(&void).verdict, Verdict::Conflict { expected: 0, actual: 1, .. }));
        let mut other_body = annotation(1, Expected::Any);
        other_body.request_digest = Digest::of(b"another request");
        assert!(matches!(door.submit(&other_body).await, Err(SubmitError::Mismatch)));
    })
    .await;
    follower.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_a_verdict_in_time_is_pending_and_not_lost() {
    let world = World::new().await;
    let marks = Arc::new(Watermarks::new(world.log.partitions()));
    let door = apart(&world, &marks, Duration::ZERO);
    let record = annotation(1, Expected::Any);
    let Outcome::Pending { position: Some(token) } = door.submit(&record).await.unwrap() else { panic!("pending") };
    assert!(token.is_of(world.log.id()));
    world.project(&world.log).await;
    assert_eq!(door.find_verdict(record.command_id).await.unwrap().unwrap().verdict, Verdict::Accepted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_cannot_be_asked_after_the_append_leaves_it_pending() {
    let world = World::new().await;
    world.project(&world.log).await;
    let marks = Arc::new(Watermarks::new(world.log.partitions()));
    marks.applied(partition_of(owner(0), world.log.partitions()), stash_domain::position::Offset(1));
    let door = apart(&world, &marks, PATIENCE);
    world.system().close().await;
    let outcome = door.submit(&annotation(1, Expected::Any)).await.unwrap();
    assert!(matches!(outcome, Outcome::Pending { position: Some(_) }), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_that_was_done_but_not_answered_has_one_effect_however_often_it_is_tried() {
    let world = World::new().await;
    let faulty: Arc<dyn EventLog> = Arc::new(Odd { unanswered: AtomicUsize::new(3), ..Odd::new(&world.log) });
    let projector = world.projector(&world.log);
    let door = beside(&world, &projector, &faulty, PATIENCE);
    while_projecting(&projector, async {
        let record = annotation(1, Expected::Version(0));
        // The door itself offers a record twice.
        assert_eq!(door.submit(&record).await.unwrap(), Outcome::Pending { position: None });
        assert_eq!(verdict(&door.submit(&record).await.unwrap()).verdict, Verdict::Accepted);
    })
    .await;
    assert_eq!(world.records().await.len(), 4, "it stands in the log four times");
    assert_eq!(world.count("SELECT version FROM es_stream").await, 1);
    assert_eq!(world.count("SELECT count(*) FROM rm_annotations").await, 1);
    assert!(!projector.marks.wait_for(position(&world), Duration::ZERO).await, "nothing beyond it");
}

fn position(world: &World) -> stash_domain::position::Position {
    let partition: Partition = partition_of(owner(0), world.log.partitions());
    stash_domain::position::Position { partition, offset: stash_domain::position::Offset(4) }
}
