use super::*;
use crate::artifacts::conformance;
use crate::subject_keys::{MasterKey, MasterKeys};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

fn signer() -> LinkSigner {
    LinkSigner::new(&MasterKeys::new(MasterKey::generate().unwrap(), Vec::new()))
}

async fn open(root: &Path) -> FolderStore {
    FolderStore::open(root, signer(), "/artifacts").await.unwrap()
}

fn owner() -> OwnerId {
    OwnerId(Uuid::from_u128(1))
}

fn blob_path(root: &Path, digest: Digest) -> PathBuf {
    root.join("blobs").join(owner().to_string()).join(&digest.to_string()[..2]).join(digest.to_string())
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files
}

#[tokio::test]
async fn a_folder_is_an_artifact_store() {
    let folder = tempfile::tempdir().unwrap();
    conformance::conforms(async |name| Arc::new(open(&folder.path().join(name)).await) as conformance::Handle).await;
}

#[tokio::test]
async fn a_blob_with_a_flipped_byte_is_refused_and_repaired_by_the_next_put() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    std::fs::write(blob_path(folder.path(), blob.digest), b"bytez").unwrap();
    let read = store.get_blob(owner(), blob).await;
    assert!(matches!(read, Err(ArtifactError::Damaged(name)) if name.contains(&blob.digest.to_string())));
    store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    assert_eq!(store.get_blob(owner(), blob).await.unwrap(), "bytes");
}

#[tokio::test]
async fn what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let living = open(folder.path()).await;
    let (_file, unfinished) = living.0.temporary.file().unwrap();
    // A killed process leaves its folder and an unlocked lock file.
    let dead = folder.path().join("tmp/0123");
    std::fs::create_dir(&dead).unwrap();
    std::fs::write(dead.join("0"), "half").unwrap();
    std::fs::write(dead.with_extension("lock"), "").unwrap();

    let second = open(folder.path()).await;
    assert!(!dead.exists() && !dead.with_extension("lock").exists());
    assert!(unfinished.path().exists());
    living.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();

    drop((unfinished, living, second));
    assert!(files(&folder.path().join("tmp")).is_empty());
}

#[tokio::test]
async fn a_put_leaves_nothing_but_the_blob() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    let left: Vec<_> = files(folder.path()).into_iter().filter(|path| path.extension().is_none()).collect();
    assert_eq!(left, [blob_path(folder.path(), blob.digest)]);
}

#[tokio::test]
async fn a_blob_that_a_killed_collector_left_in_the_trash_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    let trash = folder.path().join("trash").join(format!("{}.{}", owner(), blob.digest));
    std::fs::rename(blob_path(folder.path(), blob.digest), &trash).unwrap();
    assert_eq!(store.get_blob(owner(), blob).await.unwrap(), "bytes", "readers find it there too");
    let reopened = open(folder.path()).await;
    assert!(!trash.exists());
    assert_eq!(reopened.get_blob(owner(), blob).await.unwrap(), "bytes");
}

/// Puts and collections of one old blob at the same time: whatever a put answered for must be there afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blob_that_a_put_answered_for_outlives_the_collector() {
    let folder = tempfile::tempdir().unwrap();
    let (putting, collecting) = (open(folder.path()).await, open(folder.path()).await);
    let bytes = Bytes::from_static(b"bytes");
    let day = Duration::from_secs(24 * 3600);
    for _ in 0..200 {
        let blob = putting.put_blob(owner(), bytes.clone()).await.unwrap();
        let file = std::fs::File::options().write(true).open(blob_path(folder.path(), blob.digest)).unwrap();
        file.set_modified(SystemTime::now() - day).unwrap();
        let cutoff = SystemTime::now() - day / 2;
        let cutoff = cutoff.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
        let cutoff = Timestamp(i64::try_from(cutoff).unwrap());
        let collector = collecting.clone();
        let collection =
            tokio::spawn(async move { collector.delete_blob_put_before(owner(), blob.digest, cutoff).await });
        let put = putting.put_blob(owner(), bytes.clone()).await.unwrap();
        collection.await.unwrap().unwrap();
        assert_eq!(putting.get_blob(owner(), put).await.unwrap(), bytes);
        assert!(blob_path(folder.path(), blob.digest).exists());
    }
}

#[tokio::test]
async fn links_lead_to_the_served_path_and_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let masters = MasterKeys::new(MasterKey::generate().unwrap(), Vec::new());
    let store = FolderStore::open(folder.path(), LinkSigner::new(&masters), "/artifacts").await.unwrap();
    let key = ArtifactKey::reward_model(owner(), stash_domain::ids::RewardModelId(Uuid::from_u128(2)));
    let link = store.link(&key, Timestamp(1_000_000)).await.unwrap();
    let query = link.url.strip_prefix(&format!("/artifacts/{key}?expires=")).unwrap();
    let (expires, signature) = query.split_once("&signature=").unwrap();
    let query =
        crate::artifacts::link::LinkQuery { expires: expires.parse().unwrap(), signature: signature.to_owned() };
    assert_eq!(LinkSigner::new(&masters).verify(&key, &query, Timestamp(2_000_000)), Ok(()));
    assert!(signer().verify(&key, &query, Timestamp(2_000_000)).is_err(), "another installation's key");
}
