//! Records put aside because they cannot be applied. A stream with a dead letter is parked: its later records wait behind it,
//! in order, while other streams go on.

use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::ids::OwnerId;
use stash_domain::position::Position;
use std::collections::HashSet;

/// DDL of the dead-letter table.
pub(crate) const DDL: &str = include_str!("table.sql");

/// Code of a record that waits behind an earlier dead letter of its stream.
pub(crate) const BEHIND: &str = "behind_a_dead_letter";

/// Of these streams, those that are parked.
pub(crate) async fn parked(connection: &mut PgConnection, streams: Vec<String>) -> Result<HashSet<String>, ApplyError> {
    let rows: Vec<(String,)> = sqlx::query_as(include_str!("parked.sql")).bind(streams).fetch_all(connection).await?;
    Ok(rows.into_iter().map(|(stream,)| stream).collect())
}

/// Puts a record aside.
pub(crate) async fn put(
    connection: &mut PgConnection,
    position: Position,
    owner: Option<OwnerId>,
    streams: Vec<String>,
    code: &str,
) -> Result<(), ApplyError> {
    sqlx::query(include_str!("insert.sql"))
        .bind(i32::from(position.partition.0))
        .bind(position.offset.0.cast_signed())
        .bind(owner.map(|owner| owner.0))
        .bind(streams)
        .bind(code)
        .execute(connection)
        .await?;
    Ok(())
}
