//! One batch: judge its records, apply the events that hold, save verdicts and versions, move the checkpoint. All of it is one
//! transaction, so that a crash at any instant leaves everything or nothing.

use crate::admission::{self, Decisions};
use crate::checkpoint::Checkpoints;
use crate::dead_letter::{self, scopes};
use crate::error::ApplyError;
use crate::read_models::{self, Accepted, Kind, Shredded, Tools};
use sqlx::{Connection as _, PgConnection};
use stash_domain::admit::Judged;
use stash_domain::ids::CommandId;
use stash_domain::position::{Offset, Partition, Position};
use stash_domain::record::Record;
use stash_domain::time::Timestamp;
use stash_infra::event_log::LogRecord;
use std::collections::{BTreeMap, HashSet};

/// A record of the log after decoding.
pub(crate) struct Entry {
    /// Where it stands.
    pub(crate) position: Position,
    /// When the log took it.
    pub(crate) time: Timestamp,
    /// What it holds; a record that cannot be decoded is poison.
    pub(crate) record: Result<Record, String>,
}

impl Entry {
    /// Decodes a record.
    pub(crate) fn of(log: &LogRecord) -> Self {
        let record = stash_schemas::decode_record(&log.value).map_err(|error| error.to_string());
        Self { position: log.position, time: log.time, record }
    }
}

/// What a committed batch decided.
#[derive(Default)]
pub(crate) struct Applied {
    /// The verdict that stands for each record, repeats included.
    pub(crate) verdicts: Vec<(CommandId, Judged)>,
    /// Where each partition stands now.
    pub(crate) to: BTreeMap<Partition, Offset>,
    /// Before which times verdicts were removed.
    pub(crate) pruned: BTreeMap<Partition, Timestamp>,
    /// Events applied.
    pub(crate) events: usize,
    /// Subjects erased.
    shredded: Shredded,
}

/// What to do with the accepted records of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// Apply them.
    Apply,
    /// Put them aside under this code: applying the batch, which is one record, has just failed for its own sake.
    PutAside(&'static str),
}

/// Applies a batch in one transaction.
///
/// # Errors
/// [`ApplyError`]; nothing was written.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    checkpoints: &Checkpoints,
    entries: &[Entry],
    tools: &Tools,
    mode: Mode,
) -> Result<Applied, ApplyError> {
    let mut tx = connection.begin().await?;
    let applied = apply_in(&mut tx, checkpoints, entries, tools, mode).await?;
    if tools.kind == Kind::Live {
        sqlx::query(include_str!("announce.sql")).execute(&mut *tx).await?;
    }
    let committed = tx.commit().await;
    // A commit that failed may have happened all the same. Forgetting a key too often costs a query.
    forget(tools, &applied.shredded);
    committed?;
    Ok(applied)
}

/// Drops the keys of erased subjects from the memory of this process.
pub(crate) fn forget(tools: &Tools, shredded: &Shredded) {
    for (owner, subjects) in shredded {
        tools.keys.forget(*owner, subjects);
    }
}

async fn apply_in(
    tx: &mut PgConnection,
    checkpoints: &Checkpoints,
    entries: &[Entry],
    tools: &Tools,
    mode: Mode,
) -> Result<Applied, ApplyError> {
    let mut applied =
        Applied { to: checkpoints.after(entries.iter().map(|entry| entry.position))?, ..Applied::default() };
    // First, so that a projector that has lost a partition stops before it does any work; the row lock holds until the commit.
    checkpoints.advance(tx, &applied.to).await?;

    let records = || entries.iter().filter_map(|entry| entry.record.as_ref().ok());
    let (mut state, new) = admission::load(tx, records(), &tools.fresh).await?;
    let mut parked = parked_scopes(tx, tools, records()).await?;
    let mut decisions = Decisions::default();
    let mut accepted = Vec::new();
    for entry in entries {
        let record = match &entry.record {
            Ok(record) => record,
            Err(reason) => match mode {
                Mode::Apply => return Err(ApplyError::poison("undecodable", reason)),
                Mode::PutAside(code) => {
                    dead_letter::put(tx, entry.position, None, Vec::new(), code).await?;
                    continue;
                }
            },
        };
        let admission = state.step(record, entry.time);
        decisions.add(record, entry.position, &admission);
        let takes_effect = admission.takes_effect();
        applied.verdicts.push((record.command_id, admission.into_judged()));
        if !takes_effect {
            continue;
        }
        let waits = !parked.is_empty() && scopes::of(record).iter().any(|scope| parked.contains(scope));
        let aside = match mode {
            _ if waits => Some(dead_letter::BEHIND),
            Mode::PutAside(code) => Some(code),
            Mode::Apply => None,
        };
        if let Some(code) = aside {
            let scopes = scopes::of(record);
            dead_letter::put(tx, entry.position, Some(record.owner_id), scopes.clone(), code).await?;
            // The next records of this batch wait behind it too.
            parked.extend(scopes);
            continue;
        }
        applied.events += record.events().count();
        accepted.push(Accepted { record });
    }
    applied.shredded = read_models::apply_all(tx, &accepted, tools).await?;
    decisions.save(tx, &new).await?;
    applied.pruned = checkpoints.to_prune(entries.iter().map(|entry| (entry.position.partition, entry.time)));
    admission::prune(tx, &applied.pruned).await?;
    Ok(applied)
}

/// The parked scopes among those of the batch. Dead letters are rare: the table is asked only when it has any.
async fn parked_scopes<'a>(
    tx: &mut PgConnection,
    tools: &Tools,
    records: impl Iterator<Item = &'a Record>,
) -> Result<HashSet<String>, ApplyError> {
    if !tools.has_dead_letters() {
        return Ok(HashSet::new());
    }
    dead_letter::parked(tx, records.flat_map(scopes::of).collect()).await
}
