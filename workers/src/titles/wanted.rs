//! Traces that a title is wanted for.

use sqlx::PgConnection;
use stash_domain::ids::{Digest, OwnerId, TraceId};
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// Days after its import that a trace is given a title by itself; an older one is given one on request. So a deployment that sets a
/// key one day does not send all that it ever imported.
const DAYS: i64 = 7;

const DAY_MICROSECONDS: i64 = 24 * 60 * 60 * 1_000_000;

/// A trace that wants a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) owner: OwnerId,
    pub(super) trace: TraceId,
    /// The message that the title will be about.
    pub(super) basis: Option<Digest>,
}

/// Those that come next, at most so many.
pub(super) async fn find(
    connection: &mut PgConnection,
    now: Timestamp,
    max: usize,
) -> Result<Vec<Wanted>, sqlx::Error> {
    let rows: Vec<(Uuid, Uuid, Option<Vec<u8>>)> = sqlx::query_as(include_str!("wanted.sql"))
        .bind(now.0.saturating_sub(DAYS * DAY_MICROSECONDS))
        .bind(i64::try_from(max).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(owner, trace, basis)| Wanted {
            owner: OwnerId(owner),
            trace: TraceId(trace),
            basis: basis.and_then(|bytes| bytes.try_into().ok()).map(Digest),
        })
        .collect())
}
