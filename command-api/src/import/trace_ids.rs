//! Which traces an import is about: their ids, in the order of the input, and how many of them there were already.

use super::pieces::{Batch, Piece};
use super::{ImportError, TakesBatches};
use sqlx::PgPool;
use stash_domain::ids::{CommandId, ImportId, OwnerId, TraceId, content_subject, made_by, trace_id_of};
use std::collections::HashSet;
use uuid::Uuid;

/// The traces of one import, as they come in. Holds 32 bytes or so of each.
pub(super) struct TraceIds {
    owner: OwnerId,
    command: CommandId,
    import: ImportId,
    pool: PgPool,
    ids: Vec<TraceId>,
    seen: HashSet<TraceId>,
    updated: u64,
}

impl TraceIds {
    /// None yet. The pool answers which traces there are.
    pub(super) fn new(owner: OwnerId, command: CommandId, import: ImportId, pool: PgPool) -> Self {
        Self { owner, command, import, pool, ids: Vec::new(), seen: HashSet::new(), updated: 0 }
    }

    /// Notes the traces that begin in a batch, and returns their ids.
    ///
    /// # Errors
    /// [`ImportError::Database`].
    pub(super) async fn note(&mut self, batch: &Batch) -> Result<Vec<TraceId>, ImportError> {
        let begun = self.begun(batch);
        let new: Vec<TraceId> = begun.iter().copied().filter(|id| self.seen.insert(*id)).collect();
        // A trace that comes a second time in the same input replaces the first.
        self.updated += (begun.len() - new.len()) as u64 + self.existing(&new).await?;
        self.ids.extend(&begun);
        Ok(begun)
    }

    /// All ids in the order of the input, and how many of the traces were replaced.
    pub(super) fn finish(self) -> (Vec<TraceId>, u64) {
        (self.ids, self.updated)
    }

    /// A trace without an external id gets its id from the command and its number.
    fn begun(&self, batch: &Batch) -> Vec<TraceId> {
        let heads = batch.iter().filter_map(|piece| match piece {
            Piece::Begin(head) => Some(head),
            _ => None,
        });
        let numbered = (self.ids.len() as u64..).zip(heads);
        numbered
            .map(|(number, head)| match &head.external_id {
                Some(external) => trace_id_of(self.owner, external),
                None => TraceId(made_by(self.command, "trace", number)),
            })
            .collect()
    }

    async fn existing(&self, traces: &[TraceId]) -> Result<u64, ImportError> {
        if traces.is_empty() {
            return Ok(0);
        }
        let ids: Vec<Uuid> = traces.iter().map(|id| id.0).collect();
        let subjects: Vec<Uuid> = traces.iter().map(|id| content_subject(self.import, *id).0).collect();
        let (count,): (i64,) = sqlx::query_as(include_str!("existing.sql"))
            .bind(self.owner.0)
            .bind(ids)
            .bind(subjects)
            .fetch_one(&self.pool)
            .await?;
        Ok(count.unsigned_abs())
    }
}

impl TakesBatches for TraceIds {
    async fn take(&mut self, batch: Batch) -> Result<(), ImportError> {
        self.note(&batch).await.map(|_| ())
    }
}
