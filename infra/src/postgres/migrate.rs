//! Bringing the database up to date: roles first, then the files of `migrations/`, each once.
//!
//! Safe with any number of starters at once: the migrations run under an advisory lock of the database, and the roles, which
//! belong to the whole cluster and so to other databases' starters too, are made in a way that bears a race.

use super::error::DatabaseError;
use super::pool::{API_ROLE, LOG_ROLE, REACHABLE_MAX, wait_until_reachable};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};

/// The oldest server that does: 15 has `security_invoker` views.
pub const SERVER_MAJOR_MIN: u32 = super::embedded::MAJOR_MIN;

/// All migrations, compiled in.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// Attempts at the roles: each loses to at least one other starter, and each starter is done after one success.
const ROLE_ATTEMPTS_MAX: u32 = 20;

/// Waits until the server answers and brings the database up to date; changes nothing if it is.
///
/// # Errors
/// [`DatabaseError`].
pub async fn migrate(options: &PgConnectOptions) -> Result<(), DatabaseError> {
    wait_until_reachable(options, REACHABLE_MAX).await?;
    // Migrations wait for each other and for old transactions, but not for ever; how long each takes is not bounded.
    let options = options.clone().disable_statement_logging().application_name("stash-migrate").options([
        ("search_path", "public"),
        ("lock_timeout", "60s"),
        ("statement_timeout", "0"),
    ]);
    let mut connection = PgConnection::connect_with(&options).await?;
    check_version(&mut connection).await?;
    make_roles(&mut connection).await?;
    MIGRATIONS.run(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

async fn check_version(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    let number: i32 = sqlx::query_scalar(include_str!("server_version.sql")).fetch_one(connection).await?;
    let found = u32::try_from(number / 10_000).unwrap_or(0);
    if found < SERVER_MAJOR_MIN {
        return Err(DatabaseError::TooOld { found, needed: SERVER_MAJOR_MIN });
    }
    Ok(())
}

async fn make_roles(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    let mut attempt = 1;
    loop {
        match sqlx::raw_sql(include_str!("roles.sql")).execute(&mut *connection).await {
            Ok(_) => break,
            Err(error) if attempt < ROLE_ATTEMPTS_MAX && lost_a_race(&error) => attempt += 1,
            Err(error) => return Err(DatabaseError::Roles(error)),
        }
    }
    let strong: Option<String> = sqlx::query_scalar(include_str!("strong_role.sql"))
        .bind([API_ROLE, LOG_ROLE])
        .fetch_optional(connection)
        .await?;
    strong.map_or(Ok(()), |role| Err(DatabaseError::RoleTooStrong(role)))
}

/// Whether another starter made or granted the same role at the same moment: a duplicate, or `tuple concurrently updated`,
/// which has no code of its own (XX000).
fn lost_a_race(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| ["42710", "23505", "XX000"].contains(&code.as_ref()))
}
