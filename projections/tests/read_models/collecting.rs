//! Which blobs are collected, and which must not be.

use crate::build::{TraceOf, deleted, id, record, trace};
use crate::logs::Odd;
use crate::world::{World, owner};
use bytes::Bytes;
use stash_domain::ids::OwnerId;
use stash_domain::record::Expected;
use stash_infra::artifacts::gc::Collected;
use stash_infra::clock::SystemClock;
use stash_infra::watermark::Watermarks;
use stash_projections::{CollectError, Collector};
use std::sync::Arc;
use std::time::Duration;

/// Long enough that a bundle of one trace does not fit into its record.
const LONG: usize = 400_000;

/// Text that does not compress.
fn noise(seed: u32) -> String {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'0' + u8::try_from(state >> 26).unwrap())
    };
    (0..LONG).map(next).collect()
}

impl World {
    async fn collector(&self) -> Collector {
        let marks = Arc::new(Watermarks::new(self.log.partitions()));
        marks.refresh(self.system()).await.unwrap();
        Collector {
            log: self.log.clone(),
            pool: self.system().clone(),
            deps: self.deps(),
            marks,
            clock: Arc::new(SystemClock),
        }
    }

    /// Collects, with everything old enough.
    async fn collected(&self) -> Result<Collected, CollectError> {
        self.collector().await.collect(Duration::ZERO).await
    }

    async fn blobs(&self, owner: OwnerId) -> usize {
        self.store.list_blobs(owner, None, 1000).await.unwrap().len()
    }

    /// Imports traces whose content stands in blobs.
    async fn import_blobs(&self, owner: OwnerId, n: u64, traces: &[u8]) {
        let said = noise(u32::try_from(n).unwrap());
        let of = |number: &u8| TraceOf { number: *number, steps: 1, said: &said };
        let traces: Vec<TraceOf<'_>> = traces.iter().map(of).collect();
        let import = self.import(owner, id("import", owner, n), &traces).await;
        self.append(&record(owner, n, Expected::Any, vec![import])).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_that_no_record_points_at_go_after_the_grace_time_and_no_others() {
    let world = World::new().await;
    let (a, stranger) = (owner(0), owner(1));
    world.import_blobs(a, 1, &[1]).await;
    let kept = world.blobs(a).await;
    assert!(kept > 0, "the content stands in blobs");
    // An import that was never sent; and what another deployment keeps in the same folder.
    for owner in [a, stranger] {
        world.store.put_blob(owner, Bytes::from_static(b"left over")).await.unwrap();
    }
    world.project(&world.log).await;
    let graced = world.collector().await.collect(Duration::from_secs(3600)).await.unwrap();
    assert_eq!((graced.seen, graced.removed), (kept as u64 + 2, 0));
    assert_eq!(world.collected().await.unwrap().removed, 1);
    assert_eq!((world.blobs(a).await, world.blobs(stranger).await), (kept, 1));
    let live = world.digests().await;
    assert_eq!(world.rebuild(&Odd::in_batches(&world.log, 1)).await.unwrap().digests, live);
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_of_deleted_traces_go_and_a_rebuild_does_without_them() {
    let world = World::new().await;
    let a = owner(0);
    world.import_blobs(a, 1, &[1]).await;
    world.import_blobs(a, 2, &[2]).await;
    let before = world.blobs(a).await;
    world.append(&record(a, 3, Expected::Any, vec![deleted(trace(a, 1))])).await;
    world.project(&world.log).await;
    assert!(world.collected().await.unwrap().removed > 0);
    let after = world.blobs(a).await;
    assert!(0 < after && after < before, "{before} before, {after} after");
    let live = world.digests().await;
    assert_eq!(world.rebuild(&world.log).await.unwrap().digests, live);
    assert_eq!(world.count("SELECT count(*) FROM dead_letter").await, 0);
    assert_eq!(world.collected().await.unwrap().removed, 0, "there is nothing more to do");
    world.append(&record(a, 4, Expected::Any, vec![deleted(trace(a, 2))])).await;
    world.project(&world.log).await;
    world.collected().await.unwrap();
    assert_eq!(world.blobs(a).await, 0);
    world.rebuild(&world.log).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_nobody_could_read_keeps_every_blob() {
    let world = World::new().await;
    let a = owner(0);
    world.import_blobs(a, 1, &[1]).await;
    world.append_bytes(a, b"nonsense".to_vec()).await;
    world.store.put_blob(a, Bytes::from_static(b"perhaps its own")).await.unwrap();
    world.project(&world.log).await;
    let before = world.blobs(a).await;
    assert!(matches!(world.collected().await, Err(CollectError::Unreadable)));
    assert_eq!(world.blobs(a).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_put_aside_keeps_the_blobs_of_its_owner_and_of_nobody_else() {
    let world = World::new().await;
    let (a, b) = (owner(0), owner(1));
    for owner in [a, b] {
        world.import_blobs(owner, 1, &[1]).await;
        world.append(&record(owner, 2, Expected::Any, vec![deleted(trace(owner, 1))])).await;
    }
    world.project(&world.log).await;
    let aside = "INSERT INTO dead_letter VALUES (0, 1000000, $1, '{traces}', 'tests')";
    sqlx::query(aside).bind(a.0).execute(world.system()).await.unwrap();
    let before = world.blobs(a).await;
    assert!(before > 0);
    world.collected().await.unwrap();
    assert_eq!((world.blobs(a).await, world.blobs(b).await), (before, 0));
    sqlx::query("DELETE FROM dead_letter").execute(world.system()).await.unwrap();
    world.collected().await.unwrap();
    assert_eq!(world.blobs(a).await, 0);
}
