//! Errors of the database, by what a caller can do about them.

use super::embedded::EmbeddedError;
use std::time::Duration;

/// The database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It did not answer in time.
    #[error("the database does not answer ({waited:?} tried); check DATABASE_URL and that the server runs: {source}")]
    Unreachable {
        /// How long it was tried.
        waited: Duration,
        /// The last failure.
        source: sqlx::Error,
    },
    /// It answers and refuses: user, password or database name are wrong.
    #[error("the database refuses the connection; check DATABASE_URL: {0}")]
    Refused(sqlx::Error),
    /// It is older than what Stash needs.
    #[error("the database server has version {found}; Stash needs {needed} or later")]
    TooOld {
        /// Its major version.
        found: u32,
        /// The oldest that does.
        needed: u32,
    },
    /// The roles that Stash works with are not there and cannot be made.
    #[error(
        "the roles stash_api and stash_log cannot be set up: {0}; as a superuser run: CREATE ROLE stash_api NOLOGIN; CREATE \
         ROLE stash_log NOLOGIN; GRANT stash_api, stash_log TO <the user of DATABASE_URL>"
    )]
    Roles(sqlx::Error),
    /// A role of this name has more rights than it may have.
    #[error(
        "the role {0} is a superuser or passes over row-level security, which would let owners see each other's data"
    )]
    RoleTooStrong(String),
    /// A migration failed, or the database was made by a newer Stash.
    #[error("the database cannot be brought up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The embedded server cannot be had.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// Another statement failed.
    #[error(transparent)]
    Other(#[from] sqlx::Error),
}

/// Whether the failure is the database's absence and not our request: the same request may succeed later.
pub fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        // 08: connection exceptions; 53: out of a resource (disk, memory, connections); 57P: the server is being stopped or
        // started; 25P03: a transaction idled too long; 55P03, 40P01 and 40001: it waited for, or lost to, another one.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "53", "57P"].iter().any(|class| code.starts_with(class))
                || ["25P03", "40001", "40P01", "55P03"].contains(&code.as_ref())
        }),
        _ => false,
    }
}

/// Whether the disk of the database is full.
pub fn is_full(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "53100")
}

/// Whether the connection broke, so that what was asked on it may be asked on another one.
pub(super) fn is_broken_connection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| code.starts_with("57P") || code.starts_with("08"))
        }
        _ => false,
    }
}
