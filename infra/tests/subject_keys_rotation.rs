//! Rotation of the master key in a real Postgres.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use sqlx::PgPool;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_infra::subject_keys::{CacheSize, KeyError, MasterKeyFile, SubjectKey, SubjectKeys};
use std::time::Duration;
use uuid::Uuid;

const TABLES: &str = include_str!("../../migrations/0010_subject_keys.sql");
const OWNER: OwnerId = OwnerId(Uuid::from_u128(1));

/// Nothing is kept: every call asks the database.
const NO_CACHE: CacheSize = CacheSize { entries: 0, ttl: Duration::from_secs(60) };

struct Fixture {
    pool: PgPool,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn file(&self) -> MasterKeyFile {
        MasterKeyFile::in_folder(self.folder.path())
    }

    async fn open(&self) -> SubjectKeys {
        SubjectKeys::open(self.pool.clone(), self.file(), NO_CACHE).await.unwrap()
    }

    async fn masters_of_rows(&self) -> Vec<Uuid> {
        let sql = "SELECT DISTINCT master_key_id FROM subject_key";
        sqlx::query_scalar(sql).fetch_all(&self.pool).await.unwrap()
    }
}

async fn fixture() -> Fixture {
    let pool = stash_infra::testing::postgres().database().await;
    sqlx::raw_sql(TABLES).execute(&pool).await.unwrap();
    Fixture { pool, folder: tempfile::tempdir().unwrap() }
}

fn subjects(numbers: impl IntoIterator<Item = u128>) -> Vec<SubjectId> {
    numbers.into_iter().map(|number| SubjectId(Uuid::from_u128(number))).collect()
}

async fn tags(keys: &SubjectKeys, subjects: &[SubjectId]) -> Vec<[u8; 8]> {
    let found = keys.get(OWNER, subjects).await.unwrap();
    subjects.iter().filter_map(|subject| found.get(subject)).map(SubjectKey::tag).collect()
}

#[tokio::test]
async fn rotation_rewraps_every_row_and_keeps_every_key() {
    let fixture = fixture().await;
    let (keys, other_process) = (fixture.open().await, fixture.open().await);
    let asked = subjects(0..2_500);
    keys.ensure(OWNER, &asked).await.unwrap();
    let before = tags(&keys, &asked).await;
    let old = keys.masters().current().id();

    let mut progress = Vec::new();
    let rotation = keys.rotate(|rows| progress.push(rows)).await.unwrap();

    assert_eq!((rotation.rewrapped, rotation.resumed, rotation.removed), (2_500, false, vec![old]));
    assert_ne!(rotation.current, old);
    assert_eq!(progress, [1_000, 2_000, 2_500]);
    assert_eq!(fixture.masters_of_rows().await, [rotation.current.0]);
    let file = fixture.file().load().unwrap();
    assert_eq!((file.current().id(), file.older().len()), (rotation.current, 0));
    for keys in [&keys, &other_process, &fixture.open().await] {
        assert_eq!(tags(keys, &asked).await, before);
    }
}

#[tokio::test]
async fn a_process_that_knows_only_the_old_master_key_makes_keys_under_the_new_one() {
    let fixture = fixture().await;
    let (keys, other_process) = (fixture.open().await, fixture.open().await);
    let rotation = keys.rotate(|_| ()).await.unwrap();
    other_process.ensure(OWNER, &subjects([1])).await.unwrap();
    assert_eq!(fixture.masters_of_rows().await, [rotation.current.0]);
    assert_eq!(tags(&keys, &subjects([1])).await.len(), 1);
}

#[tokio::test]
async fn a_rotation_that_was_stopped_goes_on() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let asked = subjects(0..2_500);
    keys.ensure(OWNER, &asked).await.unwrap();
    let before = tags(&keys, &asked).await;

    // Stopped after the file, and again after the first batch: the second one meets a row that cannot be read.
    fixture.file().add().unwrap();
    let damage =
        "UPDATE subject_key SET wrapped = set_byte(wrapped, 60, get_byte(wrapped, 60) # 1) WHERE subject_id = $1";
    sqlx::query(damage).bind(Uuid::from_u128(1_500)).execute(&fixture.pool).await.unwrap();
    let stopped = keys.rotate(|_| ()).await.err().unwrap();
    assert!(matches!(stopped, KeyError::Damaged(_)), "{stopped}");
    assert_eq!(fixture.masters_of_rows().await.len(), 2);
    sqlx::query(damage).bind(Uuid::from_u128(1_500)).execute(&fixture.pool).await.unwrap();
    assert_eq!(tags(&fixture.open().await, &asked).await, before, "all keys are there between the calls");

    let rotation = fixture.open().await.rotate(|_| ()).await.unwrap();
    assert_eq!((rotation.resumed, rotation.rewrapped, rotation.removed.len()), (true, 1_500, 1));
    assert_eq!(fixture.masters_of_rows().await, [rotation.current.0]);
    assert_eq!(tags(&keys, &asked).await, before);
}

#[tokio::test]
async fn a_second_rotation_at_once_after_the_first_makes_another_key() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    keys.ensure(OWNER, &subjects([1])).await.unwrap();
    let first = keys.rotate(|_| ()).await.unwrap();
    let second = keys.rotate(|_| ()).await.unwrap();
    assert_eq!(second.removed, [first.current]);
    assert_eq!(tags(&keys, &subjects([1])).await.len(), 1);
}

#[tokio::test]
async fn a_copy_of_the_file_from_before_a_rotation_is_refused() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let copy = MasterKeyFile::in_folder(&fixture.folder.path().join("copy"));
    std::fs::create_dir(fixture.folder.path().join("copy")).unwrap();
    std::fs::copy(fixture.file().path(), copy.path()).unwrap();
    let behind = SubjectKeys::open(fixture.pool.clone(), copy.clone(), NO_CACHE).await.unwrap();
    keys.ensure(OWNER, &subjects([1])).await.unwrap();
    keys.rotate(|_| ()).await.unwrap();
    assert!(matches!(behind.get(OWNER, &subjects([1])).await, Err(KeyError::MasterMissing { .. })));
    assert!(behind.ensure(OWNER, &subjects([2])).await.is_err());
    assert!(matches!(
        SubjectKeys::open(fixture.pool.clone(), copy, NO_CACHE).await,
        Err(KeyError::MasterMissing { .. })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_made_and_shredded_during_a_rotation_come_out_right() {
    let fixture = fixture().await;
    let (keys, other_process) = (fixture.open().await, fixture.open().await);
    let old = subjects(0..3_000);
    keys.ensure(OWNER, &old).await.unwrap();
    let (new, shredded) = (subjects(10_000..10_400), &old[..600]);

    let making = async {
        let mut made = Vec::new();
        for chunk in new.chunks(20) {
            made.extend(other_process.ensure(OWNER, chunk).await.unwrap());
        }
        made.iter().map(SubjectKey::tag).collect::<Vec<_>>()
    };
    let shredding = async {
        for chunk in shredded.chunks(30) {
            other_process.shred(OWNER, chunk).await.unwrap();
        }
    };
    let (rotation, made, ()) = tokio::join!(keys.rotate(|_| ()), making, shredding);

    let rotation = rotation.unwrap();
    assert_eq!(fixture.masters_of_rows().await, [rotation.current.0], "no row is left under the old key");
    let reopened = fixture.open().await;
    assert_eq!(tags(&reopened, &new).await, made);
    assert!(tags(&reopened, shredded).await.is_empty(), "a shredded key does not come back");
    assert_eq!(tags(&reopened, &old[600..]).await.len(), 2_400);
}
