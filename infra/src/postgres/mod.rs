//! Postgres: the embedded server, connections, migrations, and the scope of one owner.
//!
//! One database. Schema `public` holds the event log, accounts, keys and leases (migrations); each version of the read models
//! has a schema `rm_v<N>`, written by the projector as the schema's owner; schema `rm` holds views of the current version,
//! through which requests read as role `stash_api`, bound by row-level security to the rows of one owner.

mod database;
pub mod embedded;
mod error;
pub mod grouped;
mod migrate;
mod owner_scope;
mod pool;

pub use database::Database;
pub use error::{DatabaseError, is_full, is_unavailable};
pub use migrate::{MIGRATIONS, SERVER_MAJOR_MIN, migrate};
pub use owner_scope::OwnerTx;
pub use pool::{API_ROLE, LOG_ROLE, PoolSizes, Pools, Purpose, REACHABLE_MAX, wait_until_reachable};

use sqlx::postgres::PgConnectOptions;

/// Brings the database up to date and connects to it: what every role does when it starts.
///
/// # Errors
/// [`DatabaseError`].
pub async fn open(options: &PgConnectOptions, sizes: PoolSizes) -> Result<Pools, DatabaseError> {
    migrate(options).await?;
    Pools::connect(options, sizes).await
}
