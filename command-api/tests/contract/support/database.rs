//! Databases with all tables, copied from one that is made once.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use stash_infra::postgres::{PoolSizes, Pools, migrate};
use stash_infra::testing::{Postgres, postgres};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::OnceCell;

/// A database of the shared server, for one test.
pub(crate) async fn fresh() -> PgConnectOptions {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let template =
        TEMPLATE.get_or_init(|| async { prepared(postgres()).await.get_database().unwrap().to_owned() }).await;
    let name = format!("contract_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect_with(&postgres().options("postgres")).await.unwrap();
    let create = AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE {template}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    postgres().options(&name)
}

/// A new database of a server, with all tables.
pub(crate) async fn prepared(server: &Postgres) -> PgConnectOptions {
    let pool = server.database().await;
    let options = (*pool.connect_options()).clone();
    pool.close().await;
    migrate(&options).await.unwrap();
    let pools = Pools::connect(&options, PoolSizes::default()).await.unwrap();
    let mut connection = pools.system.acquire().await.unwrap();
    stash_projections::schema::ensure(&mut connection).await.unwrap();
    drop(connection);
    pools.close().await;
    options
}
