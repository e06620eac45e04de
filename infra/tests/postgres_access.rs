//! Migrations, roles, pools and the scope of one owner, on a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, PgPool};
use stash_domain::ids::OwnerId;
use stash_infra::postgres::{self, DatabaseError, OwnerTx, PoolSizes, Pools, Purpose};
use stash_infra::testing::{Durability, Postgres};
use std::collections::HashSet;
use uuid::Uuid;

const SIZES: PoolSizes = PoolSizes { api: 4, system: 4 };

/// A read-model table in a version's schema, and its view in `rm`, as the projections make them.
const READ_MODEL: &str = "
    CREATE SCHEMA rm_v1;
    GRANT USAGE ON SCHEMA rm_v1 TO stash_api;
    CREATE TABLE rm_v1.rm_things (owner_id uuid NOT NULL, name text NOT NULL);
    GRANT SELECT ON rm_v1.rm_things TO stash_api;
    ALTER TABLE rm_v1.rm_things ENABLE ROW LEVEL SECURITY;
    CREATE POLICY owner ON rm_v1.rm_things FOR SELECT TO stash_api
        USING (owner_id = nullif(current_setting('stash.owner_id', true), '')::uuid);
    CREATE VIEW rm.rm_things WITH (security_invoker = true) AS SELECT * FROM rm_v1.rm_things;
    INSERT INTO rm_v1.rm_things VALUES
        ('00000000-0000-0000-0000-00000000000a', 'of a'), ('00000000-0000-0000-0000-00000000000b', 'of b');
";

fn owner(number: u128) -> OwnerId {
    OwnerId(Uuid::from_u128(number))
}

async fn names(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT name FROM rm_things ORDER BY name").fetch_all(connection).await
}

async fn opened() -> Pools {
    let database = stash_infra::testing::postgres().database().await;
    let pools = postgres::open(&database.connect_options(), SIZES).await.unwrap();
    pools.system.execute(READ_MODEL).await.unwrap();
    pools
}

#[test]
fn every_migration_has_a_number_of_its_own() {
    let numbers: HashSet<i64> = postgres::MIGRATIONS.iter().map(|migration| migration.version).collect();
    assert_eq!(numbers.len(), postgres::MIGRATIONS.iter().count());
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations")).unwrap().count();
    assert_eq!(files, numbers.len(), "a file of migrations/ is not named NNNN_<change>.sql, or was not compiled in");
}

#[tokio::test]
async fn many_starters_at_once_migrate_once_each_database() {
    let server = stash_infra::testing::postgres();
    let databases: Vec<PgPool> = futures::future::join_all((0..3).map(|_| server.database())).await;
    // The roles belong to the cluster, so starters of different databases race for them too.
    let starters = databases.iter().flat_map(|database| std::iter::repeat_n(database, 4)).map(|database| {
        let options = database.connect_options();
        async move { postgres::migrate(&options).await }
    });
    for result in futures::future::join_all(starters).await {
        result.unwrap();
    }
    for database in &databases {
        let applied: i64 = sqlx::query_scalar("SELECT count(*) FROM public._sqlx_migrations WHERE success")
            .fetch_one(database)
            .await
            .unwrap();
        assert_eq!(usize::try_from(applied).unwrap(), postgres::MIGRATIONS.iter().count());
    }
    // And once more changes nothing.
    postgres::migrate(&databases[0].connect_options()).await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_stash_is_refused() {
    let database = stash_infra::testing::postgres().database().await;
    postgres::migrate(&database.connect_options()).await.unwrap();
    database
        .execute("INSERT INTO public._sqlx_migrations VALUES (9999, 'later', now(), true, ''::bytea, 0)")
        .await
        .unwrap();
    let error = postgres::migrate(&database.connect_options()).await.unwrap_err();
    assert!(matches!(error, DatabaseError::Migrate(sqlx::migrate::MigrateError::VersionMissing(9999))), "{error}");
}

#[tokio::test]
async fn a_role_that_would_pass_over_row_level_security_is_refused() {
    // A cluster of its own: roles are shared by all databases of one.
    let server = tokio::task::spawn_blocking(|| Postgres::start(Durability::None)).await.unwrap();
    let database = server.database().await;
    database.execute("CREATE ROLE stash_api NOLOGIN BYPASSRLS").await.unwrap();
    let error = postgres::migrate(&database.connect_options()).await.unwrap_err();
    assert!(matches!(&error, DatabaseError::RoleTooStrong(role) if role == "stash_api"), "{error}");
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
}

#[tokio::test]
async fn a_user_that_is_no_superuser_can_own_the_database() {
    let server = tokio::task::spawn_blocking(|| Postgres::start(Durability::None)).await.unwrap();
    let database = server.database().await;
    let name = database.connect_options().get_database().unwrap().to_owned();
    database.execute("CREATE ROLE plain LOGIN CREATEROLE").await.unwrap();
    database.execute(sqlx::AssertSqlSafe(format!("ALTER DATABASE {name} OWNER TO plain"))).await.unwrap();
    let options = (*database.connect_options()).clone().username("plain");
    let pools = postgres::open(&options, SIZES).await.unwrap();
    pools.system.execute(READ_MODEL).await.unwrap();
    let mut tx = OwnerTx::begin(&pools.api, owner(0xA)).await.unwrap();
    assert_eq!(names(&mut tx).await.unwrap(), ["of a"]);
    drop(tx);
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
}

#[tokio::test]
async fn a_read_sees_the_rows_of_its_owner_and_no_others() {
    let pools = opened().await;
    let mut tx = OwnerTx::begin(&pools.api, owner(0xA)).await.unwrap();
    assert_eq!(names(&mut tx).await.unwrap(), ["of a"]);
    drop(tx);
    let mut tx = OwnerTx::begin(&pools.api, owner(0xC)).await.unwrap();
    assert!(names(&mut tx).await.unwrap().is_empty());
    drop(tx);
    // The writer sees all.
    let projector = Purpose::Projector { schema: "rm_v1" }.pool(pools.options(), 1);
    assert_eq!(names(&mut projector.acquire().await.unwrap()).await.unwrap(), ["of a", "of b"]);
}

#[tokio::test]
async fn without_an_owner_nothing_is_seen_also_after_an_owner_was_served() {
    let pools = opened().await;
    let mut connection = pools.api.acquire().await.unwrap();
    assert!(names(&mut connection).await.unwrap().is_empty());
    drop(connection);
    for _ in 0..8 {
        drop(OwnerTx::begin(&pools.api, owner(0xB)).await.unwrap());
    }
    // All connections of the pool, used and unused.
    let mut held = Vec::new();
    for _ in 0..SIZES.api {
        let mut connection = pools.api.acquire().await.unwrap();
        assert!(names(&mut connection).await.unwrap().is_empty());
        held.push(connection);
    }
}

#[tokio::test]
async fn requests_can_write_nothing_and_read_nothing_but_read_models() {
    let pools = opened().await;
    for statement in [
        "INSERT INTO rm_v1.rm_things VALUES ('00000000-0000-0000-0000-00000000000a', 'new')",
        "DELETE FROM rm_v1.rm_things",
        "CREATE TABLE mine (x int)",
        "SELECT * FROM public.log_record",
        "SELECT * FROM public._sqlx_migrations",
        // Back to the start is not back to the user of the URL.
        "RESET ROLE; SELECT * FROM public.log_record",
    ] {
        let mut connection = pools.api.acquire().await.unwrap();
        let error = sqlx::raw_sql(statement).execute(&mut *connection).await.unwrap_err();
        let code = error.as_database_error().and_then(|error| error.code()).unwrap().into_owned();
        // 42501: insufficient privilege. 25006: read-only transaction.
        assert!(["42501", "25006"].contains(&code.as_str()), "{statement}: {error}");
        connection.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_read_is_one_snapshot() {
    let pools = opened().await;
    let mut tx = OwnerTx::begin(&pools.api, owner(0xA)).await.unwrap();
    assert_eq!(names(&mut tx).await.unwrap(), ["of a"]);
    pools.system.execute("DELETE FROM rm_v1.rm_things").await.unwrap();
    assert_eq!(names(&mut tx).await.unwrap(), ["of a"]);
    drop(tx);
    let mut tx = OwnerTx::begin(&pools.api, owner(0xA)).await.unwrap();
    assert!(names(&mut tx).await.unwrap().is_empty());
}

#[tokio::test]
async fn reads_go_on_after_the_server_was_restarted() {
    let server = tokio::task::spawn_blocking(|| Postgres::start(Durability::None)).await.unwrap();
    let database = server.database().await;
    let pools = postgres::open(&database.connect_options(), SIZES).await.unwrap();
    // Every connection of the pool is made, idles, and breaks.
    let mut open = Vec::new();
    for number in 0..SIZES.api {
        open.push(OwnerTx::begin(&pools.api, owner(number.into())).await.unwrap());
    }
    drop(open);
    let server = tokio::task::spawn_blocking(move || {
        server.stop();
        server.start_again();
        server
    })
    .await
    .unwrap();
    for _ in 0..SIZES.api {
        let mut tx = OwnerTx::begin(&pools.api, owner(1)).await.unwrap();
        tx.ping().await.unwrap();
    }
    tokio::task::spawn_blocking(move || drop(server)).await.unwrap();
}

#[tokio::test]
async fn a_wrong_database_name_is_refused_at_once_and_an_absent_server_after_the_wait() {
    let options = stash_infra::testing::postgres().options("no_such_database");
    let error = Pools::connect(&options, SIZES).await.unwrap_err();
    assert!(matches!(error, DatabaseError::Refused(_)), "{error}");
    let nowhere = options.socket(tempfile::tempdir().unwrap().path());
    let error = postgres::wait_until_reachable(&nowhere, std::time::Duration::ZERO).await.unwrap_err();
    assert!(matches!(error, DatabaseError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_plan_made_on_a_small_table_does_not_read_it_whole_when_it_has_grown() {
    let pools = opened().await;
    pools
        .system
        .execute(
            "CREATE TABLE public.many (owner_id uuid, number bigint, PRIMARY KEY (owner_id, number))
                 WITH (autovacuum_enabled = off);
             INSERT INTO public.many VALUES (gen_random_uuid(), 1);
             ANALYZE public.many;
             GRANT SELECT ON public.many TO stash_api, stash_log",
        )
        .await
        .unwrap();
    let log = Purpose::Log.pool(pools.options(), 1);
    let projector = Purpose::Projector { schema: "rm_v1" }.pool(pools.options(), 1);
    let mut connections = Vec::new();
    for pool in [&pools.api, &pools.system, &log, &projector] {
        connections.push(pool.acquire().await.unwrap());
    }
    let read = "SELECT number FROM public.many WHERE owner_id = $1 AND number = ANY ($2)";
    let mut read_all = async |times: usize| {
        for connection in &mut connections {
            for _ in 0..times {
                let numbers: Vec<i64> = sqlx::query_scalar(read)
                    .bind(owner(7).0)
                    .bind([1_i64, 2])
                    .fetch_all(&mut **connection)
                    .await
                    .unwrap();
                assert!(numbers.len() <= 2);
            }
            connection.execute("SELECT pg_stat_force_next_flush()").await.unwrap();
        }
    };
    read_all(10).await;
    sqlx::query("INSERT INTO public.many SELECT $1, generate_series(1, 50000)")
        .bind(owner(7).0)
        .execute(&pools.system)
        .await
        .unwrap();
    read_all(10).await;
    drop(connections);
    let whole = "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'many'";
    let rows: i64 = sqlx::query_scalar(whole).fetch_one(&pools.system).await.unwrap();
    // Plans made anew may read it whole while that is one row.
    assert!(rows < 1000, "{rows} rows were read by backends that read the whole table");
}
