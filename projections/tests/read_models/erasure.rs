//! What a deletion erases, and what it must not.

use crate::build::{TraceOf, changed, created, deleted, id, record, trace};
use crate::world::{World, owner};
use stash_domain::events::Event;
use stash_domain::ids::{ImportId, content_subject};
use stash_domain::record::Expected;
use stash_domain::sealed::Opened;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_makes_what_came_before_unreadable_and_keeps_an_import_that_raced_with_it() {
    let world = World::new().await;
    let a = owner(0);
    let traced = trace(a, 1);
    let [first, second]: [ImportId; 2] = [id("import", a, 1), id("import", a, 2)];
    let before = content_subject(first, traced);
    let of = |said| [TraceOf { number: 1, steps: 4, said }, TraceOf { number: 2, steps: 0, said: "beside it" }];
    let import = world.import(a, first, &of("first")).await;
    let text = world.text(a, before, "about it").await;
    let late = world.text(a, before, "too late").await;
    let later = world.text(a, before, "later still").await;
    let racing = world.import(a, second, &of("second")).await;
    world.append(&record(a, 1, Expected::Any, vec![import])).await;
    world.append(&record(a, 2, Expected::Any, vec![created(a, 1, traced, before, Some(text))])).await;
    world.append(&record(a, 3, Expected::Any, vec![deleted(traced)])).await;
    // In one batch with the deletion, as its transaction has not ended: what it erased must not be read again.
    world.append(&record(a, 4, Expected::Any, vec![created(a, 2, traced, before, Some(late))])).await;
    world.append(&record(a, 5, Expected::Any, vec![changed(a, 2, traced, before, Some(later))])).await;
    world.append(&record(a, 6, Expected::Any, vec![racing])).await;
    world.project(&world.log).await;

    assert!(world.keys.get(a, &[before, traced.into()]).await.unwrap().is_empty(), "this process forgot them too");
    let rows: Vec<(bool, Option<String>)> =
        sqlx::query_as("SELECT redacted, comment FROM rm_annotations").fetch_all(world.system()).await.unwrap();
    assert_eq!(rows, [(true, None)]);
    let titles: Vec<String> =
        sqlx::query_scalar("SELECT title FROM rm_traces ORDER BY title").fetch_all(world.system()).await.unwrap();
    assert_eq!(titles, ["beside it", "second"]);
    assert_eq!(world.count("SELECT count(*) FROM rm_steps").await, 4);

    let log = world.records().await;
    let earliest = stash_schemas::decode_record(&log[0].value).unwrap();
    let Event::TracesImported(event) = &earliest.appends[0].events[0] else { panic!("an import") };
    let (keys, store) = (world.keys.clone(), world.store.clone());
    let mut reader = BundleReader::open(keys, store, a, Purpose::TRACE_FRAMES, event.bundle.clone()).unwrap();
    let mut erased = 0;
    while let Some(frame) = reader.next().await.unwrap() {
        assert_eq!(frame.content == Opened::Redacted, frame.subject == before);
        erased += usize::from(frame.subject == before);
    }
    assert_eq!(erased, 4, "two of steps, one of spans, one that ends it");

    let live = world.digests().await;
    assert_eq!(world.rebuild(&world.log).await.unwrap().digests, live);
    assert_eq!(world.keys.get(a, &[content_subject(second, traced)]).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_again_in_the_same_batch_leaves_no_key_behind_at_deletion() {
    let world = World::new().await;
    let a = owner(0);
    let traced = trace(a, 1);
    let imports: [ImportId; 2] = [id("import", a, 1), id("import", a, 2)];
    for (command, import) in (1..).zip(imports) {
        let event = world.import(a, import, &[TraceOf { number: 1, steps: 2, said: "x" }]).await;
        world.append(&record(a, command, Expected::Any, vec![event])).await;
    }
    world.project(&world.log).await;
    let created_at = world.count("SELECT created_at FROM rm_traces").await;
    assert_eq!(created_at, 1_000_001, "the moment of the first import");
    world.append(&record(a, 9, Expected::Any, vec![deleted(traced)])).await;
    world.project(&world.log).await;
    let subjects = imports.map(|import| content_subject(import, traced));
    assert!(world.keys.get(a, &subjects).await.unwrap().is_empty());
    assert_eq!(world.count("SELECT count(*) FROM subject_key").await, 0);
}
