//! Records that cannot be applied: put aside, waited behind, applied once they can be.

use crate::build::{TraceOf, changed, created, deleted, id, record, trace};
use crate::world::{World, owner};
use stash_domain::events::Event;
use stash_domain::ids::{ImportId, OwnerId, SubjectId, content_subject};
use stash_domain::record::{Expected, Record};
use stash_domain::sealed::Sealed;
use stash_projections::{Replayed, replay};

async fn import(world: &World, owner: OwnerId, command: u64, number: u8, said: &str) -> (Record, ImportId) {
    let import: ImportId = id("import", owner, command);
    let event = world.import(owner, import, &[TraceOf { number, steps: 2, said }]).await;
    (record(owner, command, Expected::Any, vec![event]), import)
}

async fn letters(world: &World) -> Vec<(i64, String)> {
    sqlx::query_as("SELECT \"offset\", code FROM dead_letter ORDER BY partition, \"offset\"")
        .fetch_all(world.system())
        .await
        .unwrap()
}

/// Text that no compressor makes smaller than what a record may hold.
fn large() -> String {
    let piece = |n: u32| stash_domain::ids::Digest::of(&n.to_be_bytes()).to_string();
    (0..20_000).map(piece).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_aside_waits_in_order_and_is_applied_when_its_blob_is_back() {
    let world = World::new().await;
    let (a, b) = (owner(0), owner(1));
    let traced = trace(a, 1);
    let (lost, lost_import) = import(&world, a, 1, 1, &large()).await;
    let Event::TracesImported(event) = &lost.appends[0].events[0] else { panic!("an import") };
    let blobs = event.bundle.blobs.clone();
    let kept = world.store.get_blob(a, blobs[0]).await.unwrap();
    assert!(world.store.delete_blob(a, blobs[0].digest).await.unwrap());

    let first = world.append(&lost).await.offset.0.cast_signed();
    world.append_bytes(a, b"not a record".to_vec()).await;
    let subject = content_subject(lost_import, traced);
    let text = world.text(a, subject, "on it").await;
    world.append(&record(a, 2, Expected::Any, vec![created(a, 1, traced, subject, Some(text))])).await;
    let (again, again_import) = import(&world, a, 3, 1, "second").await;
    world.append(&again).await;
    world.append(&record(a, 4, Expected::Any, vec![deleted(traced)])).await;
    let (third, third_import) = import(&world, a, 5, 1, "third").await;
    world.append(&third).await;
    let other_subject: SubjectId = trace(a, 2).into();
    let Sealed(mut damaged) = world.text(a, other_subject, "flipped").await;
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = Some(Sealed(damaged));
    world.append(&record(a, 6, Expected::Any, vec![created(a, 2, trace(a, 2), other_subject, damaged)])).await;
    world.append(&record(a, 7, Expected::Any, vec![changed(a, 2, trace(a, 2), other_subject, None)])).await;
    world.append(&import(&world, b, 8, 1, "of another owner").await.0).await;
    world.project(&world.log).await;

    let codes: Vec<(i64, String)> = letters(&world).await;
    let at = |offset: i64, code: &str| (first + offset, code.to_owned());
    let damaged = codes[5].1.clone();
    assert!(damaged.starts_with("annotation_text"), "{damaged}");
    let behind = "behind_a_dead_letter";
    let expected = [
        at(0, "blob_missing"),
        at(1, "undecodable"),
        at(3, behind),
        at(4, behind),
        at(5, behind),
        at(6, &damaged),
        at(7, behind),
    ];
    assert_eq!(codes, expected);
    assert_eq!(world.count("SELECT count(*) FROM rm_traces").await, 1, "the other owner's");
    assert_eq!(world.count("SELECT count(*) FROM rm_annotations").await, 1, "another stream of the same owner");
    assert_eq!(world.count("SELECT count(*) FROM es_command WHERE verdict = 'accepted'").await, 8);

    let outcome = |applied, waiting| Replayed { applied, waiting, unjudged: 1 };
    let deps = world.deps();
    let again = || replay(world.system(), &world.log, &deps);
    assert_eq!(again().await.unwrap(), outcome(0, 6), "nothing has changed yet");
    world.store.put_blob(a, kept).await.unwrap();
    assert_eq!(again().await.unwrap(), outcome(4, 2));
    assert_eq!(letters(&world).await, [at(1, "undecodable"), at(6, &damaged), at(7, behind)]);

    let title: String = sqlx::query_scalar("SELECT title FROM rm_traces WHERE owner_id = $1")
        .bind(a.0)
        .fetch_one(world.system())
        .await
        .unwrap();
    assert_eq!(title, "third");
    assert_eq!(world.count("SELECT count(*) FROM rm_annotations").await, 0, "the deletion came after it");
    let subjects = [lost_import, again_import, third_import].map(|import| content_subject(import, traced));
    let found = world.keys.get(a, &subjects).await.unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), [&subjects[2]], "the deletion shredded what came before it");
    world.rebuild(&world.log).await.unwrap();
    assert_eq!(world.count("SELECT count(*) FROM dead_letter").await, 3, "a rebuild puts the same aside");
}
