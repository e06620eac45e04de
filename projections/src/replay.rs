//! Applying dead letters after what kept them from being applied is mended.
//!
//! In the order of the log: each record is read again and applied in a transaction that removes its dead letter and holds its
//! partition's checkpoint, so that the projector waits meanwhile. What still fails stays, and everything behind it with it.
//!
//! Its verdict was given when it was put aside. A record that could not even be decoded has none; its place in the order of
//! verdicts is past, so only a rebuild may take it up.

use crate::batch::{self, Entry};
use crate::dead_letter::{self, DeadLetter};
use crate::error::{ApplyError, ProjectionError};
use crate::read_models::{self, Accepted, Deps, Kind, Tools};
use crate::schema;
use sqlx::{Connection as _, PgConnection, PgPool};
use stash_domain::position::Position;
use stash_infra::event_log::{EventLog, LogError};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// How long the read of a record waits; it is known to exist.
const READ_WAIT: Duration = Duration::from_secs(5);

/// What a replay did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Dead letters applied and removed.
    pub applied: u64,
    /// Those that stay, because they fail again or wait behind one that does.
    pub waiting: u64,
    /// Those that were never judged. If this version can read them, a rebuild applies them.
    pub unjudged: u64,
}

/// Applies every dead letter that can be applied now.
///
/// # Errors
/// [`ProjectionError`]; what was applied before stays applied.
pub async fn replay(pool: &PgPool, log: &Arc<dyn EventLog>, deps: &Deps) -> Result<Replayed, ProjectionError> {
    let mut connection = pool.acquire().await?.detach();
    let generation = schema::ensure(&mut connection).await?;
    schema::enter(&mut connection, &generation).await?;
    let work = Work { log, tools: Tools::new(deps, Kind::Live, true), generation };
    let mut replayed = Replayed::default();
    // What still fails, within one partition: scopes belong to one owner, and so to one partition.
    let mut blocked = HashSet::new();
    let mut after: Option<Position> = None;
    loop {
        let page = dead_letter::page(&mut connection, after).await?;
        let Some(last) = page.last() else { return Ok(replayed) };
        let ended = last.position;
        for letter in page {
            if after.is_some_and(|after| after.partition != letter.position.partition) {
                blocked.clear();
            }
            after = Some(letter.position);
            if letter.scopes.is_empty() {
                replayed.unjudged += 1;
            } else if !letter.scopes.iter().any(|scope| blocked.contains(scope))
                && work.apply(&mut connection, &letter).await?
            {
                replayed.applied += 1;
            } else {
                replayed.waiting += 1;
                blocked.extend(letter.scopes);
            }
        }
        after = Some(ended);
    }
}

struct Work<'a> {
    log: &'a Arc<dyn EventLog>,
    tools: Tools,
    generation: String,
}

impl Work<'_> {
    /// Applies one dead letter. `false`: it fails for its own sake, as before.
    async fn apply(&self, connection: &mut PgConnection, letter: &DeadLetter) -> Result<bool, ProjectionError> {
        let entry = self.read(letter.position).await?;
        let Ok(record) = &entry.record else { return Ok(false) };
        let mut tx = connection.begin().await?;
        let held: Option<(i64,)> = sqlx::query_as(include_str!("checkpoint/hold.sql"))
            .bind(i32::from(letter.position.partition.0))
            .bind(self.log.id().0)
            .fetch_optional(&mut *tx)
            .await?;
        if held.is_none() {
            return Err(ProjectionError::AnotherLog(letter.position.partition));
        }
        if schema::current(&mut tx).await?.as_deref() != Some(self.generation.as_str()) {
            return Err(ApplyError::Fenced.into());
        }
        let shredded = match read_models::apply_all(&mut tx, &[Accepted { record }], &self.tools).await {
            Ok(shredded) => shredded,
            Err(error) if error.is_poison() => {
                let Position { partition, offset } = letter.position;
                tracing::warn!(partition = partition.0, offset = offset.0, %error, "a dead letter still cannot be applied");
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        };
        dead_letter::delete(&mut tx, letter.position).await?;
        let committed = tx.commit().await;
        batch::forget(&self.tools, &shredded);
        committed?;
        Ok(true)
    }

    async fn read(&self, position: Position) -> Result<Entry, ProjectionError> {
        let mut reader = self.log.read(&[(position.partition, position.offset)]).await?;
        let records = reader.next(1, READ_WAIT).await?;
        let found = records.first().filter(|record| record.position == position);
        Ok(Entry::of(found.ok_or_else(|| LogError::Unavailable("a dead letter's record was not read in time".into()))?))
    }
}
