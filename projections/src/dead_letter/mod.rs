//! Records put aside because they cannot be applied. What a dead letter is about is parked: later records about the same wait
//! behind it, in order, while everything else goes on. [`scopes`] says what a record is about.

pub(crate) mod scopes;

use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::ids::OwnerId;
use stash_domain::position::{Offset, Partition, Position};
use std::collections::HashSet;

/// DDL of the dead-letter table.
pub(crate) const DDL: &str = include_str!("table.sql");

/// Code of a record that waits behind an earlier dead letter.
pub(crate) const BEHIND: &str = "behind_a_dead_letter";

/// Dead letters of one page.
const PAGE: i64 = 500;

/// A record put aside.
pub(crate) struct DeadLetter {
    /// Where it stands.
    pub(crate) position: Position,
    /// What it is about; empty when it could not be read.
    pub(crate) scopes: Vec<String>,
}

/// Whether there is any.
pub(crate) async fn any(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(include_str!("any.sql")).fetch_one(connection).await
}

/// Of these scopes, those that are parked.
pub(crate) async fn parked(connection: &mut PgConnection, scopes: Vec<String>) -> Result<HashSet<String>, ApplyError> {
    let rows: Vec<(String,)> = sqlx::query_as(include_str!("parked.sql")).bind(scopes).fetch_all(connection).await?;
    Ok(rows.into_iter().map(|(scope,)| scope).collect())
}

/// Puts a record aside.
pub(crate) async fn put(
    connection: &mut PgConnection,
    position: Position,
    owner: Option<OwnerId>,
    scopes: Vec<String>,
    code: &str,
) -> Result<(), ApplyError> {
    sqlx::query(include_str!("insert.sql"))
        .bind(i32::from(position.partition.0))
        .bind(position.offset.0.cast_signed())
        .bind(owner.map(|owner| owner.0))
        .bind(scopes)
        .bind(code)
        .execute(connection)
        .await?;
    Ok(())
}

/// The next dead letters after a place, in order; those from the first on for none. An empty page is the end.
pub(crate) async fn page(
    connection: &mut PgConnection,
    after: Option<Position>,
) -> Result<Vec<DeadLetter>, ApplyError> {
    let (partition, offset) =
        after.map_or((-1, -1), |after| (i32::from(after.partition.0), after.offset.0.cast_signed()));
    let rows: Vec<(i32, i64, Vec<String>)> =
        sqlx::query_as(include_str!("page.sql")).bind(partition).bind(offset).bind(PAGE).fetch_all(connection).await?;
    rows.into_iter()
        .map(|(partition, offset, scopes)| {
            let partition = u16::try_from(partition).map_err(|_| ApplyError::damaged("dead_letter.partition"))?;
            let position = Position { partition: Partition(partition), offset: Offset(offset.cast_unsigned()) };
            Ok(DeadLetter { position, scopes })
        })
        .collect()
}

/// Removes a dead letter whose record has been applied.
pub(crate) async fn delete(connection: &mut PgConnection, position: Position) -> Result<(), ApplyError> {
    sqlx::query(include_str!("delete.sql"))
        .bind(i32::from(position.partition.0))
        .bind(position.offset.0.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}
