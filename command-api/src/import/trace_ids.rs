//! Which traces an import is about: their ids, in the order of the input, and how many of them there were already.
//!
//! Only a trace with an external id, or one of a named source, can have been there before. How many were is asked at the end, once for all, when what was
//! imported a moment earlier can be seen.

use super::pieces::{Batch, Piece};
use super::{ImportError, TakesBatches};
use sqlx::PgPool;
use stash_domain::ids::{CommandId, ImportId, OwnerId, TraceId, content_subject, made_by, trace_id_in, trace_id_of};
use std::collections::HashSet;
use uuid::Uuid;

/// Traces asked about in one statement.
const TRACES_PER_STATEMENT: usize = 4096;

/// The traces of one import, as they come in. Holds 48 bytes or so of each.
pub(super) struct TraceIds {
    owner: OwnerId,
    command: CommandId,
    /// Name of what is imported, if it has one.
    source: Option<String>,
    /// Traces without an external id so far.
    unnamed: u64,
    ids: Vec<TraceId>,
    seen: HashSet<TraceId>,
    named: Vec<TraceId>,
    repeated: u64,
}

/// Which traces an import is about.
pub(super) struct Noted {
    /// Ids in the order of the input.
    pub(super) ids: Vec<TraceId>,
    /// How many of them replace one that came earlier in the same input.
    pub(super) repeated: u64,
    /// Those that may have been there before, each once.
    pub(super) named: Vec<TraceId>,
}

impl TraceIds {
    /// None yet.
    pub(super) fn new(owner: OwnerId, command: CommandId, source: Option<String>) -> Self {
        Self {
            owner,
            command,
            source,
            unnamed: 0,
            ids: Vec::new(),
            seen: HashSet::new(),
            named: Vec::new(),
            repeated: 0,
        }
    }

    /// Notes the traces that begin in a batch, and returns their ids.
    pub(super) fn note(&mut self, batch: &Batch) -> Vec<TraceId> {
        let first = self.ids.len();
        for piece in batch {
            if let Piece::Begin(head) = piece {
                self.begin(head.external_id.as_deref());
            }
        }
        self.ids.get(first..).unwrap_or_default().to_vec()
    }

    /// What was noted.
    pub(super) fn finish(self) -> Noted {
        Noted { ids: self.ids, repeated: self.repeated, named: self.named }
    }

    /// A trace without an external id gets its id from its source and its number there, or, where the source has no name, from
    /// the command.
    fn begin(&mut self, external: Option<&str>) {
        let id = match (external, &self.source) {
            (Some(external), _) => trace_id_of(self.owner, external),
            (None, Some(source)) => {
                self.unnamed += 1;
                trace_id_in(self.owner, source, self.unnamed)
            }
            (None, None) => {
                self.ids.push(TraceId(made_by(self.command, "trace", self.ids.len() as u64)));
                return;
            }
        };
        self.ids.push(id);
        if self.seen.insert(id) {
            self.named.push(id);
        } else {
            // A trace that comes a second time in the same input replaces the first.
            self.repeated += 1;
        }
    }
}

impl TakesBatches for TraceIds {
    async fn take(&mut self, batch: Batch) -> Result<(), ImportError> {
        self.note(&batch);
        Ok(())
    }
}

/// How many of these traces the read models had before this import.
///
/// # Errors
/// Those of the database.
pub(super) async fn existing(
    pool: &PgPool,
    owner: OwnerId,
    import: ImportId,
    traces: &[TraceId],
) -> Result<u64, sqlx::Error> {
    let mut existing = 0;
    for chunk in traces.chunks(TRACES_PER_STATEMENT) {
        let ids: Vec<Uuid> = chunk.iter().map(|id| id.0).collect();
        let subjects: Vec<Uuid> = chunk.iter().map(|id| content_subject(import, *id).0).collect();
        let (count,): (i64,) =
            sqlx::query_as(include_str!("existing.sql")).bind(owner.0).bind(ids).bind(subjects).fetch_one(pool).await?;
        existing += count.unsigned_abs();
    }
    Ok(existing)
}
