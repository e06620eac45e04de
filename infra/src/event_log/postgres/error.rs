//! Which error of Postgres means what for the log.
//!
//! The one question that matters after a failed append is whether the records may be in the log:
//!
//! | what came back | the transaction | becomes |
//! |---|---|---|
//! | nothing was sent (no connection, server starting up or full) | never began | `Unavailable` |
//! | ERROR with a code | rolled back by the server, which lived to say so | `Full`, `Corrupt` or `Unavailable` |
//! | FATAL, PANIC, a broken connection, our own deadline | open: the commit may have been made durable before | `Unknown` |
//!
//! FATAL counts as open although it mostly means rolled back: an administrator's shutdown can also end the session between
//! the commit and its answer.

use super::super::LogError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use std::time::Duration;

/// How long one read may take. 16 MiB from a healthy server take less than a second; this ends a wait on a hung one.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// Runs a reading query, but not for ever.
pub(super) async fn bounded<T>(query: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, LogError> {
    match tokio::time::timeout(READ_TIMEOUT, query).await {
        Ok(answer) => answer.map_err(|error| before_commit(&error)),
        Err(_) => Err(LogError::Unavailable(format!("no answer from Postgres within {READ_TIMEOUT:?}"))),
    }
}

/// The meaning of an error of something that could not have appended: connecting, or reading.
pub(super) fn before_commit(error: &sqlx::Error) -> LogError {
    match code_of(error) {
        Some((code, _)) => by_code(code, error),
        None if is_of_our_making(error) => LogError::Corrupt(error.to_string()),
        None => LogError::Unavailable(error.to_string()),
    }
}

/// The meaning of an error of a statement that appends, once it was sent.
pub(super) fn after_sending(error: &sqlx::Error) -> LogError {
    match code_of(error) {
        Some((code, PgSeverity::Error)) => by_code(code, error),
        _ => LogError::Unknown(error.to_string()),
    }
}

fn code_of(error: &sqlx::Error) -> Option<(&str, PgSeverity)> {
    let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    Some((error.code(), error.severity()))
}

/// SQLSTATE codes: PostgreSQL manual, appendix A.
fn by_code(code: &str, error: &sqlx::Error) -> LogError {
    match code {
        // disk_full
        "53100" => LogError::Full(error.to_string()),
        // data_corrupted, index_corrupted; unique_violation: an offset that was given out before; check_violation and
        // not_null_violation: a row that no writer of ours makes
        "XX001" | "XX002" | "23505" | "23514" | "23502" => LogError::Corrupt(error.to_string()),
        // undefined_table, undefined_function
        "42P01" | "42883" => LogError::Unavailable(format!("{error} (have the migrations been run?)")),
        _ => LogError::Unavailable(error.to_string()),
    }
}

/// Whether the answer arrived but is not what our tables can hold.
fn is_of_our_making(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_))
}
