//! What every artifact store must do, as one suite. A store's own test is a call of [`conforms`].

use super::gc::{self, Marks};
use super::{ArtifactError, ArtifactKey, ArtifactStore, LIST_BLOBS_MAX};
use bytes::Bytes;
use futures::stream;
use stash_domain::ids::{Digest, OwnerId, RewardModelId};
use stash_domain::sealed::BlobRef;
use stash_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use uuid::Uuid;

/// A handle on a store.
pub type Handle = Arc<dyn ArtifactStore>;

macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        /// Runs all cases. `open` gives a handle on the store of this name; the same name twice gives two handles on one store,
        /// a new name an empty store.
        ///
        /// # Panics
        /// When a case fails.
        pub async fn conforms(open: impl AsyncFn(&str) -> Handle) {
            $(
                let name = stringify!($case);
                $case(open(name).await, open(name).await).await;
            )+
        }
    };
}

cases!(
    a_blob_is_read_back_by_every_handle,
    a_blob_that_is_there_is_put_again_without_harm,
    blobs_of_another_owner_are_not_there,
    a_blob_of_another_size_is_damaged,
    deleting_is_told_once,
    blobs_are_listed_in_order_and_in_pages,
    owners_are_listed,
    an_old_blob_goes_and_a_renewed_one_stays,
    the_collector_keeps_what_is_live_or_new,
    concurrent_puts_of_one_blob_leave_one,
    an_artifact_goes_from_file_to_file,
    an_artifact_is_replaced_whole,
    an_artifact_with_another_digest_is_refused,
    a_missing_artifact_is_named,
    a_link_ends_in_five_minutes,
);

/// The longest grace that a collection of everything that exists needs in these tests: time in the stores' own clock.
const LATER: Duration = Duration::from_secs(3600);

fn owner(number: u128) -> OwnerId {
    OwnerId(Uuid::from_u128(number))
}

fn key(number: u128) -> ArtifactKey {
    ArtifactKey::reward_model(owner(1), RewardModelId(Uuid::from_u128(number)))
}

#[track_caller]
fn ok<T>(result: Result<T, ArtifactError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store failed: {error}"),
    }
}

#[track_caller]
fn file_ok<T>(result: std::io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("a file of the test: {error}"),
    }
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

fn from_now(duration: Duration) -> Timestamp {
    Timestamp(now().0 + i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}

async fn a_blob_is_read_back_by_every_handle(a: Handle, b: Handle) {
    for bytes in [Bytes::new(), Bytes::from_static(b"bytes"), Bytes::from(vec![7; 5 * 1024 * 1024])] {
        let blob = ok(a.put_blob(owner(1), bytes.clone()).await);
        assert_eq!(blob, BlobRef { digest: Digest::of(&bytes), size: i64::try_from(bytes.len()).unwrap_or(-1) });
        assert_eq!(ok(b.get_blob(owner(1), blob).await), bytes);
    }
}

async fn a_blob_that_is_there_is_put_again_without_harm(a: Handle, b: Handle) {
    let first = ok(a.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    let before = ok(a.list_blobs(owner(1), None, 10).await);
    let second = ok(b.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    let after = ok(a.list_blobs(owner(1), None, 10).await);
    assert_eq!(first, second);
    assert_eq!(after.len(), 1);
    assert!(after[0].put_at >= before[0].put_at);
    assert_eq!(ok(a.get_blob(owner(1), first).await), "bytes");
}

async fn blobs_of_another_owner_are_not_there(a: Handle, _: Handle) {
    let blob = ok(a.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    assert!(matches!(a.get_blob(owner(2), blob).await, Err(ArtifactError::Missing(_))));
    assert!(!ok(a.delete_blob(owner(2), blob.digest).await));
    assert!(ok(a.list_blobs(owner(2), None, 10).await).is_empty());
    assert_eq!(ok(a.get_blob(owner(1), blob).await), "bytes");
}

async fn a_blob_of_another_size_is_damaged(a: Handle, _: Handle) {
    let blob = ok(a.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    let longer = BlobRef { size: blob.size + 1, ..blob };
    assert!(matches!(a.get_blob(owner(1), longer).await, Err(ArtifactError::Damaged(_))));
}

async fn deleting_is_told_once(a: Handle, b: Handle) {
    let blob = ok(a.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    assert!(ok(b.delete_blob(owner(1), blob.digest).await));
    assert!(!ok(a.delete_blob(owner(1), blob.digest).await));
    assert!(matches!(a.get_blob(owner(1), blob).await, Err(ArtifactError::Missing(_))));
}

async fn blobs_are_listed_in_order_and_in_pages(a: Handle, _: Handle) {
    let mut put = Vec::new();
    for number in 0..40_u8 {
        put.push(ok(a.put_blob(owner(1), Bytes::from(vec![number; 3])).await));
    }
    put.sort_by_key(|blob| blob.digest);
    for max in [1, 7, 40, LIST_BLOBS_MAX + 1] {
        let mut listed = Vec::new();
        let mut after = None;
        loop {
            let page = ok(a.list_blobs(owner(1), after, max).await);
            assert!(page.len() <= max);
            let Some(last) = page.last() else { break };
            after = Some(last.blob.digest);
            listed.extend(page.into_iter().map(|entry| entry.blob));
        }
        assert_eq!(listed, put, "in pages of {max}");
    }
}

async fn owners_are_listed(a: Handle, _: Handle) {
    for number in [3, 1, 2] {
        ok(a.put_blob(owner(number), Bytes::from_static(b"bytes")).await);
    }
    assert_eq!(ok(a.list_owners(None).await), [owner(1), owner(2), owner(3)]);
    assert_eq!(ok(a.list_owners(Some(owner(2))).await), [owner(3)]);
    assert!(ok(a.list_owners(Some(owner(3))).await).is_empty());
}

async fn an_old_blob_goes_and_a_renewed_one_stays(a: Handle, b: Handle) {
    let blob = ok(a.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    let put_at = ok(a.list_blobs(owner(1), None, 10).await)[0].put_at;
    assert!(!ok(a.delete_blob_put_before(owner(1), blob.digest, put_at).await), "it was not put before that");
    assert_eq!(ok(a.get_blob(owner(1), blob).await), "bytes");
    ok(b.put_blob(owner(1), Bytes::from_static(b"bytes")).await);
    assert!(ok(a.delete_blob_put_before(owner(1), blob.digest, from_now(LATER)).await));
    assert!(!ok(a.delete_blob_put_before(owner(1), blob.digest, from_now(LATER)).await));
    assert!(matches!(b.get_blob(owner(1), blob).await, Err(ArtifactError::Missing(_))));
}

async fn the_collector_keeps_what_is_live_or_new(a: Handle, _: Handle) {
    let live = ok(a.put_blob(owner(1), Bytes::from_static(b"live")).await);
    let dead = ok(a.put_blob(owner(1), Bytes::from_static(b"dead")).await);
    // Live for one owner is not live for another.
    let other = ok(a.put_blob(owner(2), Bytes::from_static(b"live")).await);
    let marks = ok(Marks::gather(stream::iter([Ok((owner(1), live.digest))]), 10).await);
    let in_grace = ok(gc::collect(&*a, &marks, now(), LATER).await);
    assert_eq!((in_grace.seen, in_grace.removed), (3, 0));
    let after_grace = ok(gc::collect(&*a, &marks, from_now(2 * LATER), LATER).await);
    assert_eq!((after_grace.seen, after_grace.removed, after_grace.removed_bytes), (3, 2, 8));
    assert_eq!(ok(a.get_blob(owner(1), live).await), "live");
    assert!(matches!(a.get_blob(owner(1), dead).await, Err(ArtifactError::Missing(_))));
    assert!(matches!(a.get_blob(owner(2), other).await, Err(ArtifactError::Missing(_))));
}

async fn concurrent_puts_of_one_blob_leave_one(a: Handle, b: Handle) {
    let bytes = Bytes::from(vec![1; 100_000]);
    let puts =
        (0..16).map(|turn| if turn % 2 == 0 { &a } else { &b }).map(|store| store.put_blob(owner(1), bytes.clone()));
    for put in futures::future::join_all(puts).await {
        assert_eq!(ok(a.get_blob(owner(1), ok(put)).await), bytes);
    }
    assert_eq!(ok(a.list_blobs(owner(1), None, 10).await).len(), 1);
}

async fn an_artifact_goes_from_file_to_file(a: Handle, b: Handle) {
    let folder = file_ok(tempfile::tempdir());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    file_ok(std::fs::write(&from, &content));
    let stored = ok(a.put_file(&key(1), &from).await);
    assert_eq!((stored.digest, stored.size), (Digest::of(&content), content.len() as u64));
    assert_eq!(ok(b.get_file(&key(1), &to, Some(stored.digest)).await), stored);
    assert_eq!(file_ok(std::fs::read(&to)), content);
    assert!(b.get_file(&key(1), &to, None).await.is_err(), "the file is there already");
    let mut reader = ok(b.read_file(&key(1)).await);
    assert_eq!(reader.size, content.len() as u64);
    let mut read = Vec::new();
    file_ok(reader.bytes.read_to_end(&mut read).await);
    assert_eq!(read, content);
}

async fn an_artifact_is_replaced_whole(a: Handle, b: Handle) {
    let folder = file_ok(tempfile::tempdir());
    let from = folder.path().join("from");
    for content in ["a longer first content", "second"] {
        file_ok(std::fs::write(&from, content));
        ok(a.put_file(&key(1), &from).await);
        let mut read = String::new();
        file_ok(ok(b.read_file(&key(1)).await).bytes.read_to_string(&mut read).await);
        assert_eq!(read, content);
    }
}

async fn an_artifact_with_another_digest_is_refused(a: Handle, _: Handle) {
    let folder = file_ok(tempfile::tempdir());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    file_ok(std::fs::write(&from, "content"));
    ok(a.put_file(&key(1), &from).await);
    let refused = a.get_file(&key(1), &to, Some(Digest::of(b"other"))).await;
    assert!(matches!(refused, Err(ArtifactError::Damaged(_))));
    assert!(!to.exists(), "what was refused is not left behind");
}

async fn a_missing_artifact_is_named(a: Handle, b: Handle) {
    let folder = file_ok(tempfile::tempdir());
    let to = folder.path().join("to");
    assert!(
        matches!(a.get_file(&key(1), &to, None).await, Err(ArtifactError::Missing(name)) if name.contains("reward-models"))
    );
    assert!(matches!(a.read_file(&key(1)).await, Err(ArtifactError::Missing(_))));
    assert!(!ok(a.delete_file(&key(1)).await));
    file_ok(std::fs::write(folder.path().join("from"), "content"));
    ok(a.put_file(&key(1), &folder.path().join("from")).await);
    assert!(ok(b.delete_file(&key(1)).await));
    assert!(matches!(a.read_file(&key(1)).await, Err(ArtifactError::Missing(_))));
}

async fn a_link_ends_in_five_minutes(a: Handle, _: Handle) {
    let now = now();
    let link = ok(a.link(&key(1), now).await);
    assert!(link.url.contains(key(1).as_str()));
    let seconds = (link.expires_at.0 - now.0) / 1_000_000;
    assert!((super::link::VALID_S - 1..=super::link::VALID_S).contains(&seconds));
}
