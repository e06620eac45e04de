//! Digests of tables, to tell whether two generations of the read models hold the same rows.

use crate::read_models;
use sqlx::{AssertSqlSafe, PgConnection};

/// A table's content in brief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDigest {
    /// The table.
    pub table: &'static str,
    /// Its number of rows.
    pub rows: i64,
    /// The sum of a 64-bit hash of each row: the same for the same rows in any order. It tells bugs apart from equality;
    /// it is no defence against forgery.
    pub sum: String,
}

impl std::fmt::Display for TableDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows, {}", self.rows, self.sum)
    }
}

/// Digests of all tables of a generation, the tables of verdicts and blobs included.
///
/// # Errors
/// Those of the database.
pub async fn of(connection: &mut PgConnection, schema: &str) -> Result<Vec<TableDigest>, sqlx::Error> {
    let mut digests = Vec::new();
    for table in read_models::TABLES.iter().chain(&["es_command", "es_stream", "es_blob"]) {
        let statement = include_str!("digest.sql").replace("{table}", &format!("{schema}.{table}"));
        let (rows, sum): (i64, String) = sqlx::query_as(AssertSqlSafe(statement)).fetch_one(&mut *connection).await?;
        digests.push(TableDigest { table, rows, sum });
    }
    Ok(digests)
}
