//! The shape of a generation's tables: a digest of the statements that made them, noted as the comment of their schema. So a
//! version whose tables are made otherwise finds out before it reads or writes a row.

use super::{SHARED_TABLES, check_name, owned_tables, run, statements};
use sqlx::PgConnection;
use stash_domain::ids::Digest;

/// The shape of the tables that this version makes. Comments and spacing do not count.
pub fn shape() -> String {
    let mut text = String::new();
    for statement in statements().chain([include_str!("secure.sql")]) {
        let code = statement.lines().map(|line| line.split("--").next().unwrap_or_default());
        text.extend(code.flat_map(str::split_whitespace).flat_map(|word| [word, " "]));
    }
    text.extend(owned_tables().chain(SHARED_TABLES.iter().copied()).flat_map(|table| [table, " "]));
    format!("shape {}", Digest::of(text.as_bytes()))
}

/// Whether a generation's tables are those that this version makes.
///
/// # Errors
/// Those of the database.
pub async fn is_current(connection: &mut PgConnection, schema: &str) -> Result<bool, sqlx::Error> {
    let noted: Option<Option<String>> =
        sqlx::query_scalar(include_str!("shape.sql")).bind(schema).fetch_optional(connection).await?;
    Ok(noted.flatten() == Some(shape()))
}

/// Notes the shape of a generation that was just made.
pub(super) async fn note(connection: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    check_name(schema)?;
    run(connection, format!("COMMENT ON SCHEMA {schema} IS '{}'", shape())).await
}
