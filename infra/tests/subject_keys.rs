//! Keys of subjects in a real Postgres.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use sqlx::PgPool;
use stash_domain::ids::{OwnerId, SubjectId};
use stash_domain::sealed::Opened;
use stash_infra::seal::{Purpose, open, seal};
use stash_infra::subject_keys::{CacheSize, KeyError, MasterFileError, MasterKeyFile, SubjectKey, SubjectKeys};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use uuid::Uuid;

const TABLES: &str = include_str!("../../migrations/0010_subject_keys.sql");
const OWNER: OwnerId = OwnerId(Uuid::from_u128(1));
const PURPOSE: Purpose = Purpose::ANNOTATION_TEXT;

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
        SubjectKeys::open(self.pool.clone(), self.file(), CacheSize::default()).await.unwrap()
    }

    async fn open_without_cache(&self) -> SubjectKeys {
        SubjectKeys::open(self.pool.clone(), self.file(), NO_CACHE).await.unwrap()
    }

    async fn rows(&self) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM subject_key").fetch_one(&self.pool).await.unwrap()
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

fn tags(keys: &[SubjectKey]) -> Vec<[u8; 8]> {
    keys.iter().map(SubjectKey::tag).collect()
}

#[tokio::test]
async fn keys_are_made_once_and_found_by_every_process() {
    let fixture = fixture().await;
    let (a, b) = (fixture.open().await, fixture.open().await);
    let asked = subjects([3, 1, 2, 1]);
    let made = a.ensure(OWNER, &asked).await.unwrap();
    assert_eq!(made.iter().map(SubjectKey::subject).collect::<Vec<_>>(), asked, "in the order asked");
    assert_eq!(tags(&b.ensure(OWNER, &asked).await.unwrap()), tags(&made));
    let found = b.get(OWNER, &subjects([1, 9])).await.unwrap();
    assert_eq!(found.len(), 1, "a key is never made by asking for it");
    assert_eq!(found[&asked[1]].step_id_key(), made[1].step_id_key());
    assert_eq!(fixture.rows().await, 3);
}

#[tokio::test]
async fn owners_and_subjects_never_share_a_key() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let one = keys.ensure(OWNER, &subjects(0..50)).await.unwrap();
    let other = keys.ensure(OwnerId(Uuid::from_u128(2)), &subjects(0..50)).await.unwrap();
    let mut distinct: Vec<_> = one.iter().chain(&other).map(|key| (key.tag(), key.step_id_key())).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 100);
    assert!(keys.get(OwnerId(Uuid::from_u128(3)), &subjects(0..50)).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_imports_of_the_same_subjects_get_the_same_keys() {
    let fixture = fixture().await;
    let stores = [fixture.open().await, fixture.open().await];
    let mut forwards = subjects(0..3_000);
    let mut tasks = Vec::new();
    for turn in 0..6 {
        let keys = stores[turn % 2].clone();
        let asked = forwards.clone();
        forwards.reverse();
        tasks.push(tokio::spawn(async move {
            let mut made = keys.ensure(OWNER, &asked).await.unwrap();
            made.sort_by_key(SubjectKey::subject);
            tags(&made)
        }));
    }
    let first = tasks.remove(0).await.unwrap();
    assert_eq!(first.len(), 3_000);
    for task in tasks {
        assert_eq!(task.await.unwrap(), first);
    }
}

#[tokio::test]
async fn more_subjects_than_one_statement_takes() {
    let fixture = fixture().await;
    let keys = fixture.open_without_cache().await;
    let asked = subjects(0..10_000);
    let made = keys.ensure(OWNER, &asked).await.unwrap();
    let found = keys.get(OWNER, &asked).await.unwrap();
    assert!(made.iter().all(|key| found[&key.subject()].tag() == key.tag()));
    assert_eq!(fixture.rows().await, 10_000);
}

#[tokio::test]
async fn a_shredded_subject_is_gone_at_once_and_made_anew_has_another_key() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let asked = subjects([1, 2]);
    let before = keys.ensure(OWNER, &asked).await.unwrap();
    let sealed = seal(&before[0], PURPOSE, b"text").unwrap();

    keys.shred(OWNER, &asked[..1]).await.unwrap();
    keys.shred(OWNER, &asked[..1]).await.unwrap();
    let found = keys.get(OWNER, &asked).await.unwrap();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), [asked[1]]);
    assert_eq!(open(found.get(&asked[0]), PURPOSE, &sealed, 100), Ok(Opened::Redacted));

    let after = keys.ensure(OWNER, &asked).await.unwrap();
    assert_ne!(after[0].step_id_key(), before[0].step_id_key());
    assert_eq!(after[1].tag(), before[1].tag());
    assert_eq!(open(Some(&after[0]), PURPOSE, &sealed, 100), Ok(Opened::Redacted), "what was erased stays erased");
}

#[tokio::test]
async fn making_keys_never_uses_one_that_another_process_shredded() {
    let fixture = fixture().await;
    let (a, b) = (fixture.open().await, fixture.open().await);
    let before = a.ensure(OWNER, &subjects([1])).await.unwrap();
    b.shred(OWNER, &subjects([1])).await.unwrap();
    let after = a.ensure(OWNER, &subjects([1])).await.unwrap();
    assert_ne!(after[0].tag(), before[0].tag());
    assert_eq!(a.get(OWNER, &subjects([1])).await.unwrap()[&subjects([1])[0]].tag(), after[0].tag());
}

#[tokio::test]
async fn a_shred_inside_a_transaction_happens_if_that_commits() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let asked = subjects([1]);
    keys.ensure(OWNER, &asked).await.unwrap();

    let mut transaction = fixture.pool.begin().await.unwrap();
    keys.shred_in(&mut transaction, OWNER, &asked).await.unwrap();
    transaction.rollback().await.unwrap();
    keys.forget(OWNER, &asked);
    assert_eq!(keys.get(OWNER, &asked).await.unwrap().len(), 1);

    let mut transaction = fixture.pool.begin().await.unwrap();
    keys.shred_in(&mut transaction, OWNER, &asked).await.unwrap();
    transaction.commit().await.unwrap();
    keys.forget(OWNER, &asked);
    assert!(keys.get(OWNER, &asked).await.unwrap().is_empty());
}

#[tokio::test]
async fn shredding_an_owner_leaves_the_others() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    let other = OwnerId(Uuid::from_u128(2));
    keys.ensure(OWNER, &subjects(0..5)).await.unwrap();
    keys.ensure(other, &subjects(0..5)).await.unwrap();
    assert_eq!(keys.shred_owner(OWNER).await.unwrap(), 5);
    assert!(keys.get(OWNER, &subjects(0..5)).await.unwrap().is_empty());
    assert_eq!(keys.get(other, &subjects(0..5)).await.unwrap().len(), 5);
}

#[tokio::test]
async fn an_owners_keys_are_loaded_at_once_as_far_as_they_fit() {
    let fixture = fixture().await;
    fixture.open().await.ensure(OWNER, &subjects(1..6_000)).await.unwrap();
    let small = CacheSize { entries: 1_000, ttl: Duration::from_secs(60) };
    let small = SubjectKeys::open(fixture.pool.clone(), fixture.file(), small).await.unwrap();
    assert!(small.load_owner(OWNER).await.unwrap() < 6_000 - 1);
    let keys = fixture.open().await;
    assert_eq!(keys.load_owner(OWNER).await.unwrap(), 5_999);
    // They are in memory: the table is not asked again.
    sqlx::query("DROP TABLE subject_key").execute(&fixture.pool).await.unwrap();
    assert_eq!(keys.get(OWNER, &subjects([1, 5_999])).await.unwrap().len(), 2);
}

#[tokio::test]
async fn rows_moved_or_changed_in_the_database_are_damaged() {
    let fixture = fixture().await;
    let keys = fixture.open_without_cache().await;
    keys.ensure(OWNER, &subjects([1, 2])).await.unwrap();
    sqlx::query(
        "UPDATE subject_key SET wrapped = other.wrapped FROM subject_key other
         WHERE subject_key.subject_id = $1 AND other.subject_id = $2",
    )
    .bind(Uuid::from_u128(1))
    .bind(Uuid::from_u128(2))
    .execute(&fixture.pool)
    .await
    .unwrap();
    let moved = keys.get(OWNER, &subjects([1])).await;
    assert!(matches!(moved, Err(KeyError::Damaged(subject)) if subject == subjects([1])[0]));
}

#[tokio::test]
async fn the_master_key_is_not_in_the_database_and_its_file_is_private() {
    let fixture = fixture().await;
    let keys = fixture.open().await;
    keys.ensure(OWNER, &subjects([1])).await.unwrap();
    let path = fixture.file().path().to_owned();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    let digits = text.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(digits.len(), 64);
    assert!(!format!("{:?}", keys.masters()).contains(digits));
    let rows = "SELECT subject_key::text || master_key::text FROM subject_key, master_key";
    let rows: String = sqlx::query_scalar(rows).fetch_one(&fixture.pool).await.unwrap();
    assert!(!rows.contains(digits), "{rows}");

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = SubjectKeys::open(fixture.pool.clone(), fixture.file(), NO_CACHE).await.err().unwrap();
    assert!(refused.to_string().contains("chmod 600"), "{refused}");
}

#[tokio::test]
async fn a_new_master_key_beside_an_old_database_is_refused() {
    let fixture = fixture().await;
    fixture.open().await.ensure(OWNER, &subjects([1])).await.unwrap();
    std::fs::remove_file(fixture.file().path()).unwrap();
    let refused = SubjectKeys::open(fixture.pool.clone(), fixture.file(), NO_CACHE).await.err().unwrap();
    assert!(matches!(refused, KeyError::MasterMissing { .. }), "{refused}");
}

#[tokio::test]
async fn a_mistyped_key_file_is_refused_with_its_line() {
    let fixture = fixture().await;
    fixture.open().await;
    let path = fixture.file().path().to_owned();
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().count();
    let last = text.trim_end().chars().last().unwrap();
    let changed = if last == '0' { '1' } else { '0' };
    for (wrong, at) in [
        (format!("{}{changed}\n", &text[..text.len() - 2]), line),
        (format!("{text}no-key\n"), line + 1),
        (format!("{text}a b\n"), line + 1),
        ("# nothing\n".to_owned(), 1),
    ] {
        std::fs::write(&path, &wrong).unwrap();
        let refused = fixture.file().load().err().unwrap();
        assert!(matches!(refused, MasterFileError::Malformed { line, .. } if line == at), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_at_once_agree_on_one_master_key() {
    let fixture = fixture().await;
    let opened = futures::future::join_all((0..8).map(|_| {
        let file = fixture.file();
        tokio::task::spawn_blocking(move || file.load_or_create().unwrap().current().id())
    }));
    let mut ids: Vec<_> = opened.await.into_iter().map(Result::unwrap).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
}
