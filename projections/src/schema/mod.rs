//! Versioned schemas. All tables of one generation of the read models stand in one schema, `rm_v1`, `rm_v2`, …, with the
//! checkpoints, verdicts and dead letters that belong to them. Schema `rm` holds views of the current generation, switched in
//! one transaction, so that a rebuild can grow beside the live tables.
//!
//! Each table has row-level security for the API's role: a query that forgets its WHERE sees only the rows of the owner set by
//! the transaction, and none if it set none. Views are `security_invoker`, so the policy holds through them. The schema's owner,
//! under whom projectors run, is not subject to it.

mod shape;

pub use shape::{is_current, shape};

use crate::read_models;
use crate::{admission, checkpoint, dead_letter};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The generation that a new database begins with.
pub const GENERATION_FIRST: &str = "rm_v1";

/// Tables without an owner's rows that the API may read whole.
const SHARED_TABLES: &[&str] = &["es_checkpoint"];

/// Tables of verdicts: with an owner, but not part of the digests' comparison list of read models.
const VERDICT_TABLES: &[&str] = &["es_command", "es_stream"];

/// Tables that the API never reads: what only operators and the collector ask for.
const PRIVATE_TABLES: &[&str] = &["dead_letter", "es_blob"];

/// Advisory lock that makes creations and switches take turns.
const LOCK: i64 = 0x5374_6173_6801;

/// Advisory lock that keeps a second rebuild away.
const REBUILD_LOCK: i64 = 0x5374_6173_6802;

/// Whether a schema's tables exist.
///
/// # Errors
/// Those of the database.
pub async fn exists(connection: &mut PgConnection, schema: &str) -> Result<bool, sqlx::Error> {
    let (exists,): (bool,) = sqlx::query_as(include_str!("exists.sql")).bind(schema).fetch_one(connection).await?;
    Ok(exists)
}

/// Creates a generation's tables if they are not there. The connection's search path is left alone.
///
/// # Errors
/// Those of the database.
///
/// # Panics
/// Never; a name that is no plain identifier is refused as an error.
pub async fn create(connection: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    check_name(schema)?;
    let mut tx = connection.begin().await?;
    sqlx::query(include_str!("lock.sql")).bind(LOCK).execute(&mut *tx).await?;
    if exists(&mut tx, schema).await? {
        return tx.commit().await;
    }
    run(&mut tx, format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await?;
    run(&mut tx, format!("SET LOCAL search_path TO {schema}, public")).await?;
    let (has_lz4,): (bool,) = sqlx::query_as(include_str!("has_lz4.sql")).fetch_one(&mut *tx).await?;
    for ddl in statements() {
        run(&mut tx, compressed(ddl, has_lz4)).await?;
    }
    run(&mut tx, format!("GRANT USAGE ON SCHEMA {schema} TO stash_api")).await?;
    for table in owned_tables() {
        run(&mut tx, include_str!("secure.sql").replace("{table}", table)).await?;
    }
    for table in SHARED_TABLES {
        run(&mut tx, format!("GRANT SELECT ON {table} TO stash_api")).await?;
    }
    shape::note(&mut tx, schema).await?;
    tx.commit().await
}

/// Points the views at a generation, in one transaction.
///
/// # Errors
/// Those of the database.
pub async fn switch_to(connection: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    check_name(schema)?;
    let mut tx = connection.begin().await?;
    sqlx::query(include_str!("lock.sql")).bind(LOCK).execute(&mut *tx).await?;
    run(&mut tx, "CREATE SCHEMA IF NOT EXISTS rm".to_owned()).await?;
    run(&mut tx, "GRANT USAGE ON SCHEMA rm TO stash_api".to_owned()).await?;
    for table in owned_tables().chain(SHARED_TABLES.iter().copied()).chain(PRIVATE_TABLES.iter().copied()) {
        // A view's columns cannot be changed by CREATE OR REPLACE, so it is dropped first.
        run(&mut tx, format!("DROP VIEW IF EXISTS rm.{table}")).await?;
        run(
            &mut tx,
            format!("CREATE VIEW rm.{table} WITH (security_invoker = true) AS SELECT * FROM {schema}.{table}"),
        )
        .await?;
        if !PRIVATE_TABLES.contains(&table) {
            run(&mut tx, format!("GRANT SELECT ON rm.{table} TO stash_api")).await?;
        }
    }
    tx.commit().await
}

/// The generation that the views show; none before the first start.
///
/// # Errors
/// Those of the database.
pub async fn current(connection: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let row: Option<(String,)> = sqlx::query_as(include_str!("current.sql")).fetch_optional(connection).await?;
    Ok(row.map(|(schema,)| schema))
}

/// The name of the generation after this one; the first for a name that is none.
pub fn after(schema: &str) -> String {
    match schema.strip_prefix("rm_v").and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("rm_v{}", number.saturating_add(1)),
        None => GENERATION_FIRST.to_owned(),
    }
}

/// Makes sure that some generation exists and is shown.
///
/// # Errors
/// Those of the database.
pub async fn ensure(connection: &mut PgConnection) -> Result<String, sqlx::Error> {
    if let Some(schema) = current(connection).await? {
        return Ok(schema);
    }
    let mut tx = connection.begin().await?;
    sqlx::query(include_str!("lock.sql")).bind(LOCK).execute(&mut *tx).await?;
    // Another process may have been faster, and even have switched on since.
    let schema = match current(&mut tx).await? {
        Some(schema) => schema,
        None => {
            create(&mut tx, GENERATION_FIRST).await?;
            switch_to(&mut tx, GENERATION_FIRST).await?;
            GENERATION_FIRST.to_owned()
        }
    };
    tx.commit().await?;
    Ok(schema)
}

/// Removes a generation's tables.
///
/// # Errors
/// Those of the database; also when the views still show it.
pub async fn drop(connection: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    check_name(schema)?;
    run(connection, format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await
}

/// Removes every generation but this one.
///
/// # Errors
/// Those of the database.
pub(crate) async fn drop_others(connection: &mut PgConnection, kept: &str) -> Result<(), sqlx::Error> {
    let others: Vec<(String,)> =
        sqlx::query_as(include_str!("others.sql")).bind(kept).fetch_all(&mut *connection).await?;
    for (schema,) in others {
        drop(connection, &schema).await?;
    }
    Ok(())
}

/// Whether this connection is the one that may rebuild, for as long as it is open.
///
/// # Errors
/// Those of the database.
pub(crate) async fn try_lock_rebuild(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(include_str!("try_lock.sql")).bind(REBUILD_LOCK).fetch_one(connection).await
}

/// Frees what [`try_lock_rebuild`] took.
///
/// # Errors
/// Those of the database.
pub(crate) async fn unlock_rebuild(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(include_str!("unlock.sql")).bind(REBUILD_LOCK).execute(connection).await?;
    Ok(())
}

/// Makes this connection read and write a generation's tables by their plain names, without a limit on a statement's time:
/// some go over whole tables.
///
/// # Errors
/// Those of the database.
pub async fn enter(connection: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    check_name(schema)?;
    run(connection, format!("SET search_path TO {schema}, public; SET statement_timeout TO 0")).await
}

/// Lets this connection's commits return before they are on disk. What it writes is derived: rows, verdicts and the checkpoint
/// are lost together or not at all, the records they came from are durable in the log, and applying those again gives the same.
/// So a crash costs a little work again, and no command waits for a second write to disk.
///
/// # Errors
/// Those of the database.
pub async fn commit_without_waiting(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    run(connection, "SET synchronous_commit TO off".to_owned()).await
}

/// A statement for a server that may be built without lz4, as the one that npm has is: it then compresses in its own way.
fn compressed(ddl: &str, has_lz4: bool) -> String {
    if has_lz4 { ddl.to_owned() } else { ddl.replace("COMPRESSION lz4", "COMPRESSION default") }
}

/// The statements that make a generation's tables.
fn statements() -> impl Iterator<Item = &'static str> {
    [admission::DDL, admission::BLOBS_DDL, checkpoint::DDL, dead_letter::DDL]
        .into_iter()
        .chain(read_models::DDL.iter().copied())
}

/// Tables whose rows have an owner.
fn owned_tables() -> impl Iterator<Item = &'static str> {
    read_models::TABLES.iter().chain(read_models::MEMO_TABLES).chain(VERDICT_TABLES).copied()
}

/// Names come from this code, never from a request; this only keeps it so.
fn check_name(schema: &str) -> Result<(), sqlx::Error> {
    let plain = schema.strip_prefix("rm_v").is_some_and(|number| {
        !number.is_empty()
            && number.len() <= 32
            && number.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    });
    if plain {
        Ok(())
    } else {
        Err(sqlx::Error::Configuration(format!("{schema:?} is not a generation's name").into()))
    }
}

async fn run(connection: &mut PgConnection, statement: String) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_lz4_is_not_asked_for_it() {
        assert!(statements().any(|ddl| ddl.contains("COMPRESSION lz4")));
        assert!(statements().all(|ddl| compressed(ddl, true) == ddl));
        assert!(statements().all(|ddl| !compressed(ddl, false).to_lowercase().contains("compression lz4")));
    }
}
