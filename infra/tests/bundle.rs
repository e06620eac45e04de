//! Bundles written and read through a folder store.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bytes::Bytes;
use proptest::prelude::*;
use stash_domain::ids::{Digest, OwnerId, SubjectId};
use stash_domain::limits::{BLOB_BYTES_TARGET, INLINE_PAYLOAD_BYTES_MAX};
use stash_domain::sealed::{Bundle, Opened, Sealed};
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::artifacts::{ArtifactError, ArtifactStore, FolderStore};
use stash_infra::bundle::{BundleError, BundleReader, BundleWriter, FRAME_BYTES_MAX, Frame};
use stash_infra::seal::Purpose;
use stash_infra::subject_keys::{KeyError, KeySource, MasterKey, MasterKeys, SubjectKey};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use uuid::Uuid;
use zeroize::Zeroizing;

const OWNER: OwnerId = OwnerId(Uuid::from_u128(1));
const PURPOSE: Purpose = Purpose::TRACE_FRAMES;

/// Keys in memory, and how often they were asked for.
#[derive(Default)]
struct Keys {
    there: HashMap<SubjectId, SubjectKey>,
    calls: Mutex<Vec<usize>>,
}

#[async_trait::async_trait]
impl KeySource for Keys {
    async fn get(&self, _: OwnerId, subjects: &[SubjectId]) -> Result<HashMap<SubjectId, SubjectKey>, KeyError> {
        self.calls.lock().unwrap().push(subjects.len());
        Ok(subjects.iter().filter_map(|subject| Some((*subject, self.there.get(subject)?.clone()))).collect())
    }
}

fn subject(number: u8) -> SubjectId {
    SubjectId(Uuid::from_u128(u128::from(number)))
}

fn key(number: u8) -> SubjectKey {
    SubjectKey::from_root(OWNER, subject(number), &Zeroizing::new([number; 32]))
}

fn keys(numbers: impl IntoIterator<Item = u8>) -> Arc<Keys> {
    let there = numbers.into_iter().map(|number| (subject(number), key(number))).collect();
    Arc::new(Keys { there, ..Keys::default() })
}

struct Fixture {
    _folder: tempfile::TempDir,
    store: Arc<dyn ArtifactStore>,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let signer = LinkSigner::new(&MasterKeys::new(MasterKey::generate().unwrap(), Vec::new()));
    let store = Arc::new(FolderStore::open(folder.path(), signer, "/artifacts").await.unwrap());
    Fixture { _folder: folder, store }
}

/// Frames of a subject: content, or none for one erased before it was written.
type Frames = Vec<(u8, Option<Vec<u8>>)>;

async fn write(store: &Arc<dyn ArtifactStore>, frames: &Frames) -> Result<Bundle, BundleError> {
    let mut writer = BundleWriter::new(Arc::clone(store), OWNER, PURPOSE);
    for (number, plain) in frames {
        match plain {
            Some(plain) => writer.push(&key(*number), plain.clone()).await?,
            None => writer.push_erased(subject(*number)).await?,
        }
    }
    writer.finish().await
}

async fn read(store: &Arc<dyn ArtifactStore>, keys: &Arc<Keys>, bundle: &Bundle) -> Result<Vec<Frame>, BundleError> {
    let keys = Arc::clone(keys) as Arc<dyn KeySource>;
    let mut reader = BundleReader::open(keys, Arc::clone(store), OWNER, PURPOSE, bundle.clone())?;
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().await? {
        frames.push(frame);
    }
    assert_eq!(reader.next().await?, None, "the end stays the end");
    Ok(frames)
}

/// What reading should give when only these subjects have keys.
fn expected(frames: &Frames, there: &[u8]) -> Vec<Frame> {
    let content = |number: &u8, plain: &Option<Vec<u8>>| match plain {
        Some(plain) if there.contains(number) => Opened::Clear(plain.clone()),
        _ => Opened::Redacted,
    };
    let frame = |(index, (number, plain)): (u64, &(u8, Option<Vec<u8>>))| Frame {
        index,
        subject: subject(*number),
        content: content(number, plain),
    };
    (0..).zip(frames).map(frame).collect()
}

/// Bytes that do not compress, the same for a seed (splitmix64).
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).to_le_bytes()
    };
    (0..length.div_ceil(8)).flat_map(|_| word()).take(length).collect()
}

/// Frames of mixed sizes, some of which compress and some of which do not; enough of them now and then for blobs.
fn frames() -> impl Strategy<Value = Frames> {
    let frame = (0_u8..6, any::<u64>(), prop_oneof![8 => 0_usize..2_000, 1 => 100_000_usize..900_000], 0_u8..10)
        .prop_map(|(number, seed, length, kind)| {
            let plain = if kind < 5 { noise(seed, length) } else { vec![kind; length] };
            (number, (kind > 0).then_some(plain))
        });
    prop::collection::vec(frame, 0..40)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(1).enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn frames_come_back_in_order_and_only_with_their_key(frames in frames(), there in prop::collection::vec(0_u8..6, 0..6)) {
        block_on(async {
            let fixture = fixture().await;
            let bundle = write(&fixture.store, &frames).await.unwrap();
            prop_assert_eq!(bundle.frames, frames.len() as i64);
            prop_assert!(bundle.inline.is_none() || bundle.blobs.is_empty());
            prop_assert!(bundle.inline.as_ref().is_none_or(|sealed| sealed.0.len() <= INLINE_PAYLOAD_BYTES_MAX));
            let all = read(&fixture.store, &keys(0..6), &bundle).await.unwrap();
            prop_assert_eq!(&all, &expected(&frames, &[0, 1, 2, 3, 4, 5]));
            let some = read(&fixture.store, &keys(there.iter().copied()), &bundle).await.unwrap();
            prop_assert_eq!(&some, &expected(&frames, &there));
            Ok(())
        })?;
    }

    #[test]
    fn a_retry_gives_the_same_bundle(frames in frames()) {
        block_on(async {
            let fixture = fixture().await;
            let first = write(&fixture.store, &frames).await.unwrap();
            prop_assert_eq!(write(&fixture.store, &frames).await.unwrap(), first);
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_small_bundle_stands_in_the_record_and_an_empty_one_holds_nothing() {
    let fixture = fixture().await;
    assert_eq!(write(&fixture.store, &Vec::new()).await.unwrap(), Bundle::default());
    let bundle = write(&fixture.store, &vec![(1, Some(b"text".to_vec()))]).await.unwrap();
    assert!(bundle.inline.is_some() && bundle.blobs.is_empty());
    assert!(fixture.store.list_owners(None).await.unwrap().is_empty(), "nothing was stored");
}

#[tokio::test]
async fn a_large_bundle_stands_in_blobs_of_about_the_target_size() {
    let fixture = fixture().await;
    let frame = 300_000;
    let frames: Frames = (0..30).map(|number| (1, Some(noise(number, frame)))).collect();
    let bundle = write(&fixture.store, &frames).await.unwrap();
    assert_eq!(bundle.inline, None);
    let sizes: Vec<usize> = bundle.blobs.iter().map(|blob| usize::try_from(blob.size).unwrap()).collect();
    let (last, whole) = sizes.split_last().unwrap();
    assert!(whole.iter().all(|size| (BLOB_BYTES_TARGET..BLOB_BYTES_TARGET + frame + 100).contains(size)), "{sizes:?}");
    assert!(*last < BLOB_BYTES_TARGET, "{sizes:?}");
    assert_eq!(read(&fixture.store, &keys([1]), &bundle).await.unwrap(), expected(&frames, &[1]));
}

#[tokio::test]
async fn keys_are_fetched_once_per_blob() {
    let fixture = fixture().await;
    let frames: Frames =
        (0..30).map(|number| (u8::try_from(number % 20).unwrap(), Some(noise(number, 300_000)))).collect();
    let bundle = write(&fixture.store, &frames).await.unwrap();
    let keys = keys(0..20);
    read(&fixture.store, &keys, &bundle).await.unwrap();
    assert_eq!(keys.calls.lock().unwrap().len(), bundle.blobs.len());
}

#[tokio::test]
async fn ten_thousand_small_frames_cost_few_runs_and_come_back() {
    let fixture = fixture().await;
    let frames: Frames = (0..10_000_u32).map(|number| (1, Some(number.to_string().into_bytes()))).collect();
    let bundle = write(&fixture.store, &frames).await.unwrap();
    assert_eq!(read(&fixture.store, &keys([1]), &bundle).await.unwrap(), expected(&frames, &[1]));
}

#[tokio::test]
async fn a_missing_or_damaged_blob_is_named() {
    let fixture = fixture().await;
    let frames: Frames = (0..20).map(|number| (1, Some(noise(number, 300_000)))).collect();
    let bundle = write(&fixture.store, &frames).await.unwrap();
    let last = *bundle.blobs.last().unwrap();
    fixture.store.delete_blob(OWNER, last.digest).await.unwrap();
    let failed = read(&fixture.store, &keys([1]), &bundle).await;
    let named = |text: &str| text.contains(&last.digest.to_string());
    assert!(matches!(failed, Err(BundleError::Store(ArtifactError::Missing(text))) if named(&text)));

    // Another blob's bytes in its place are damage too.
    let mut swapped = bundle.clone();
    swapped.blobs.swap(0, 1);
    swapped.blobs[0].digest = Digest([0; 32]);
    assert!(matches!(read(&fixture.store, &keys([1]), &swapped).await, Err(BundleError::Store(_))));
}

#[tokio::test]
async fn a_bundle_that_contradicts_itself_is_damaged() {
    let fixture = fixture().await;
    let bundle = write(&fixture.store, &vec![(1, Some(b"text".to_vec()))]).await.unwrap();
    let damaged = |result: Result<Vec<Frame>, BundleError>| matches!(result, Err(BundleError::Damaged(_)));
    for frames in [-1, 0, 2] {
        let other = Bundle { frames, ..bundle.clone() };
        assert!(damaged(read(&fixture.store, &keys([1]), &other).await), "{frames}");
    }
    let mut cut = bundle.clone();
    cut.inline = cut.inline.map(|sealed| Sealed(sealed.0[..sealed.0.len() - 1].to_vec()));
    assert!(damaged(read(&fixture.store, &keys([1]), &cut).await));
    let mut both = bundle.clone();
    both.blobs.push(fixture.store.put_blob(OWNER, Bytes::from_static(b"x")).await.unwrap());
    assert!(damaged(read(&fixture.store, &keys([1]), &both).await));
    let mut flipped = bundle;
    if let Some(sealed) = &mut flipped.inline {
        *sealed.0.last_mut().unwrap() ^= 1;
    }
    let failed = read(&fixture.store, &keys([1]), &flipped).await;
    assert!(matches!(failed, Err(BundleError::Seal { index: 0, .. })));
}

#[tokio::test]
async fn a_frame_opens_only_for_the_bundles_purpose() {
    let fixture = fixture().await;
    let bundle = write(&fixture.store, &vec![(1, Some(b"text".to_vec()))]).await.unwrap();
    let keys = keys([1]) as Arc<dyn KeySource>;
    let mut reader = BundleReader::open(keys, fixture.store, OWNER, Purpose::PAIR_FRAMES, bundle).unwrap();
    assert!(matches!(reader.next().await, Err(BundleError::Seal { .. })));
}

#[tokio::test]
async fn wrong_frames_are_refused_at_the_door() {
    let fixture = fixture().await;
    let mut writer = BundleWriter::new(Arc::clone(&fixture.store), OWNER, PURPOSE);
    let stranger = SubjectKey::from_root(OwnerId(Uuid::from_u128(2)), subject(1), &Zeroizing::new([1; 32]));
    assert!(matches!(writer.push(&stranger, Vec::new()).await, Err(BundleError::OtherOwner)));
    let large = writer.push(&key(1), vec![0; FRAME_BYTES_MAX + 1]).await;
    assert!(matches!(large, Err(BundleError::FrameTooLarge(size)) if size == FRAME_BYTES_MAX + 1));
    assert_eq!(writer.finish().await.unwrap(), Bundle::default());
}

#[tokio::test]
async fn a_cancelled_read_loses_nothing() {
    let fixture = fixture().await;
    let frames: Frames = (0..18).map(|number| (1, Some(noise(number, 300_000)))).collect();
    let bundle = write(&fixture.store, &frames).await.unwrap();
    let source = keys([1]) as Arc<dyn KeySource>;
    let mut reader = BundleReader::open(source, Arc::clone(&fixture.store), OWNER, PURPOSE, bundle).unwrap();
    let mut got = Vec::new();
    loop {
        // Polled once and dropped, then asked again, until it answers at once.
        let polled = futures::poll!(std::pin::pin!(reader.next()));
        match polled {
            std::task::Poll::Pending => tokio::task::yield_now().await,
            std::task::Poll::Ready(frame) => match frame.unwrap() {
                Some(frame) => got.push(frame),
                None => break,
            },
        }
    }
    assert_eq!(got, expected(&frames, &[1]));
}
