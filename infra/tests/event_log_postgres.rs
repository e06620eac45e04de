//! What is particular to the event log in Postgres: its protection against change, and its answers when the server fails.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod event_log_support;

use bytes::Bytes;
use event_log_support::{Clients, PARTITIONS, PATIENCE, record, values};
use sqlx::postgres::PgListener;
use sqlx::{AssertSqlSafe, PgPool};
use stash_domain::position::{Offset, Partition, Position};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::event_log::{EventLog, LogError, NewRecord};
use stash_infra::testing::{self, Durability, Postgres};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A new log of four partitions, and its database.
async fn new_log() -> (Arc<PostgresLog>, PgPool) {
    let pool = testing::postgres().log_database().await;
    (Arc::new(PostgresLog::open(pool.clone(), PARTITIONS).await.unwrap()), pool)
}

async fn run(pool: &PgPool, sql: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await.map(|_| ())
}

#[tokio::test]
async fn not_even_the_superuser_changes_history_by_mistake() {
    let (log, pool) = new_log().await;
    log.append(vec![record(0, "kept")]).await.unwrap();
    for change in [
        "UPDATE log_record SET value = 'x'",
        "DELETE FROM log_record",
        "TRUNCATE log_record",
        "UPDATE log_meta SET id = gen_random_uuid()",
        "DELETE FROM log_meta",
        "DELETE FROM log_partition",
        "TRUNCATE log_partition",
    ] {
        let error = run(&pool, change).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{change}: {error}");
    }
    assert_eq!(values(log.as_ref(), 0).await, ["kept"]);
}

#[tokio::test]
async fn the_log_appends_in_a_role_that_may_do_no_more() {
    let (log, pool) = new_log().await;
    log.append(vec![record(0, "allowed")]).await.unwrap();
    for (right, allowed) in
        [("SELECT", true), ("INSERT", true), ("UPDATE", false), ("DELETE", false), ("TRUNCATE", false)]
    {
        let has: bool = sqlx::query_scalar("SELECT has_table_privilege('stash_log', 'log_record', $1)")
            .bind(right)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(has, allowed, "{right}");
    }
    // The login is a superuser's; what it appends is refused all the same once the role may not.
    run(&pool, "REVOKE INSERT ON log_record FROM stash_log").await.unwrap();
    let refused = log.append(vec![record(0, "refused")]).await;
    assert!(matches!(&refused, Err(LogError::Unavailable(text)) if text.contains("permission denied")), "{refused:?}");
    run(&pool, "GRANT INSERT ON log_record TO stash_log").await.unwrap();
    log.append(vec![record(0, "allowed again")]).await.unwrap();
    assert_eq!(values(log.as_ref(), 0).await, ["allowed", "allowed again"]);
}

#[tokio::test]
async fn a_full_disk_refuses_and_keeps_nothing() {
    let (log, pool) = new_log().await;
    log.append(vec![record(0, "before")]).await.unwrap();
    run(
        &pool,
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON log_record EXECUTE FUNCTION full_disk()",
    )
    .await
    .unwrap();
    let refused = log.append(vec![record(0, "refused"), record(1, "refused")]).await;
    assert!(matches!(refused, Err(LogError::Full(_))), "{refused:?}");
    run(&pool, "DROP TRIGGER full_disk ON log_record").await.unwrap();
    let positions = log.append(vec![record(0, "after")]).await.unwrap();
    assert_eq!(positions[0].offset, Offset(1));
    assert_eq!(log.tail(Partition(1)).await, Ok(Offset(0)));
}

#[tokio::test]
async fn a_missing_record_is_found() {
    let (log, pool) = new_log().await;
    log.append((0..5).map(|n| record(0, &n.to_string())).collect()).await.unwrap();
    let hidden = "SET session_replication_role = replica; DELETE FROM log_record WHERE \"offset\" = 3; RESET ALL";
    run(&pool, hidden).await.unwrap();
    let mut reader = log.read(&[(Partition(0), Offset(0))]).await.unwrap();
    let found = reader.next(100, PATIENCE).await;
    assert!(matches!(&found, Err(LogError::Corrupt(text)) if text.contains("at 4 where Some(3)")), "{found:?}");
}

#[tokio::test]
async fn another_log_in_the_same_place_is_noticed_by_all() {
    let (log, pool) = new_log().await;
    log.append(vec![record(0, "old")]).await.unwrap();
    let mut reader = log.read(&[(Partition(0), Offset(1))]).await.unwrap();
    run(
        &pool,
        "SET session_replication_role = replica;
         UPDATE log_meta SET id = gen_random_uuid(); DELETE FROM log_record; UPDATE log_partition SET next_offset = 0;
         RESET ALL",
    )
    .await
    .unwrap();
    let (read, appended) = tokio::join!(reader.next(10, PATIENCE), log.append(vec![record(0, "new")]));
    assert!(matches!(read, Err(LogError::Corrupt(_))), "{read:?}");
    assert!(matches!(appended, Err(LogError::Corrupt(_))), "{appended:?}");
    assert!(matches!(log.tail(Partition(0)).await, Err(LogError::Corrupt(_))));
}

#[tokio::test]
async fn a_database_without_tables_says_what_to_do() {
    let pool = testing::postgres().database().await;
    let refused = PostgresLog::open(pool, PARTITIONS).await.map(|_| ());
    assert!(matches!(&refused, Err(LogError::Unavailable(text)) if text.contains("migrations")), "{refused:?}");
}

/// Starts an append that waits for a lock, does something to the server process that serves it, and returns its outcome.
async fn interrupted(log: &Arc<PostgresLog>, pool: &PgPool, interruption: &str) -> Result<Vec<Position>, LogError> {
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM log_partition WHERE partition = 0 FOR UPDATE").execute(&mut *holder).await.unwrap();
    let appending = {
        let log = Arc::clone(log);
        tokio::spawn(async move { log.append(vec![record(0, "interrupted")]).await })
    };
    let waiting = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%log_append%'";
    let until_it_waits = async { while sqlx::query_scalar::<_, i64>(waiting).fetch_one(pool).await.unwrap() == 0 {} };
    tokio::time::timeout(PATIENCE, until_it_waits).await.unwrap();
    let interruption = waiting.replace("count(*)", &format!("count({interruption}(pid))"));
    sqlx::query(AssertSqlSafe(interruption)).execute(pool).await.unwrap();
    let outcome = appending.await.unwrap();
    holder.rollback().await.unwrap();
    outcome
}

#[tokio::test]
async fn an_interrupted_append_says_whether_it_may_have_happened() {
    let (log, pool) = new_log().await;
    let cancelled = interrupted(&log, &pool, "pg_cancel_backend").await;
    assert!(matches!(cancelled, Err(LogError::Unavailable(_))), "{cancelled:?}");
    let ended = interrupted(&log, &pool, "pg_terminate_backend").await;
    assert!(matches!(ended, Err(LogError::Unknown(_))), "{ended:?}");
    // The next append finds another connection.
    let positions = log.append(vec![record(0, "after")]).await.unwrap();
    assert_eq!(positions[0].offset, Offset(0));
}

#[tokio::test]
async fn more_than_the_queue_holds_waits_its_turn() {
    const CALLS: usize = 90;
    let (log, pool) = new_log().await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("SELECT FROM log_partition WHERE partition = 0 FOR UPDATE").execute(&mut *holder).await.unwrap();
    let finished = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..CALLS)
        .map(|n| {
            let (log, finished) = (Arc::clone(&log), Arc::clone(&finished));
            let value = Bytes::from(vec![u8::try_from(n).unwrap(); 1024 * 1024]);
            tokio::spawn(async move {
                let outcome = log.append(vec![NewRecord { value, ..record(0, "") }]).await;
                finished.fetch_add(1, Ordering::SeqCst);
                outcome
            })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(finished.load(Ordering::SeqCst), 0);
    holder.rollback().await.unwrap();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(log.tail(Partition(0)).await, Ok(Offset(CALLS as u64)));
}

#[tokio::test]
async fn a_partition_with_much_to_read_does_not_hold_up_the_others() {
    let (log, _pool) = new_log().await;
    log.append((0..1000).map(|n| record(0, &n.to_string())).collect()).await.unwrap();
    log.append((1..4).map(|partition| record(partition, "few")).collect()).await.unwrap();
    let all: Vec<_> = (0..4).map(|partition| (Partition(partition), Offset(0))).collect();
    let mut reader = log.read(&all).await.unwrap();
    let mut few = 0;
    for _ in 0..4 {
        let records = reader.next(10, PATIENCE).await.unwrap();
        few += records.iter().filter(|record| record.position.partition != Partition(0)).count();
    }
    assert_eq!(few, 3);
}

#[tokio::test]
async fn other_processes_are_notified() {
    let (log, pool) = new_log().await;
    let mut listener = PgListener::connect_with(&pool).await.unwrap();
    listener.listen("stash_log").await.unwrap();
    log.append(vec![record(0, "news")]).await.unwrap();
    tokio::time::timeout(PATIENCE, listener.recv()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_is_away_is_unavailable_and_found_again() {
    let server = Postgres::start(Durability::None);
    let pool = server.log_database().await;
    let log = PostgresLog::open(pool, PARTITIONS).await.unwrap();
    log.append(vec![record(0, "before")]).await.unwrap();
    let mut reader = log.read(&[(Partition(0), Offset(1))]).await.unwrap();

    server.stop();
    // The first append may go out over the connection that broke a moment ago; later ones find none.
    let first = log.append(vec![record(0, "away")]).await;
    assert!(matches!(first, Err(LogError::Unknown(_) | LogError::Unavailable(_))), "{first:?}");
    for _ in 0..3 {
        let refused = log.append(vec![record(0, "away")]).await;
        assert!(matches!(refused, Err(LogError::Unavailable(_))), "{refused:?}");
    }
    assert!(matches!(reader.next(10, Duration::ZERO).await, Err(LogError::Unavailable(_))));
    assert!(matches!(log.tail(Partition(0)).await, Err(LogError::Unavailable(_))));

    server.start_again();
    log.append(vec![record(0, "back")]).await.unwrap();
    let found = reader.next(10, PATIENCE).await.unwrap();
    assert_eq!(found[0].value, "back");
    assert_eq!(values(&log, 0).await, ["before", "back"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crashes_and_shutdowns_under_load_lose_nothing_acknowledged() {
    const ROUNDS: usize = 6;
    const CLIENTS: usize = 16;
    let server = Postgres::start(Durability::Full);
    let log: Arc<dyn EventLog> = Arc::new(PostgresLog::open(server.log_database().await, PARTITIONS).await.unwrap());
    let clients = Clients::start(log, CLIENTS);
    for round in 0..ROUNDS {
        // Each failure hits clients at work: some hundred records after the last.
        clients.go_on_for(200 + 37 * round).await;
        tokio::task::block_in_place(|| {
            if round % 2 == 0 {
                server.crash()
            } else {
                server.stop()
            }
            server.start_again();
        });
    }
    clients.go_on_for(200).await;
    clients.stop_and_compare().await;
}
