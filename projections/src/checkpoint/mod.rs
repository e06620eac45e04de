//! Checkpoints: how far each partition has been applied.

use crate::error::{ApplyError, ProjectionError};
use sqlx::PgConnection;
use stash_domain::admit::forgotten_before;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

/// DDL of the checkpoint table.
pub(crate) const DDL: &str = include_str!("table.sql");

/// Where this projector stands in the partitions it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    places: BTreeMap<Partition, Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    next: Offset,
    epoch: i64,
    /// Before which time this projector has removed forgotten verdicts; none before its first batch.
    pruned: Option<Timestamp>,
}

impl Checkpoints {
    /// Takes over these partitions. The caller's transaction ends it: rolled back, nobody has been fenced.
    ///
    /// # Errors
    /// [`ProjectionError::AnotherLog`] when the checkpoints were made from a log with another id.
    pub(crate) async fn take(
        connection: &mut PgConnection,
        log: LogId,
        partitions: &[Partition],
    ) -> Result<Self, ProjectionError> {
        let wanted: Vec<i32> = partitions.iter().map(|partition| i32::from(partition.0)).collect();
        let rows: Vec<(i32, Uuid, i64, i64)> =
            sqlx::query_as(include_str!("take.sql")).bind(wanted).bind(log.0).fetch_all(connection).await?;
        let mut places = BTreeMap::new();
        for (partition, log_id, next, epoch) in rows {
            let partition =
                Partition(u16::try_from(partition).map_err(|_| ApplyError::damaged("es_checkpoint.partition"))?);
            if log_id != log.0 {
                return Err(ProjectionError::AnotherLog(partition));
            }
            places.insert(partition, Place { next: Offset(next.cast_unsigned()), epoch, pruned: None });
        }
        Ok(Self { places })
    }

    /// Where the partitions stand after these records, which follow the checkpoints without a gap.
    ///
    /// # Errors
    /// [`ApplyError::Gap`] when they do not: moving over a record that was never handed out would lose it for good.
    pub(crate) fn after(
        &self,
        positions: impl Iterator<Item = Position>,
    ) -> Result<BTreeMap<Partition, Offset>, ApplyError> {
        let mut to = BTreeMap::new();
        for Position { partition, offset } in positions {
            let place = self.places.get(&partition).ok_or(ApplyError::Fenced)?;
            let next = to.entry(partition).or_insert(place.next);
            if offset != *next {
                return Err(ApplyError::Gap { partition, expected: *next, found: offset });
            }
            *next = offset.next();
        }
        Ok(to)
    }

    /// All places.
    pub(crate) fn all(&self) -> Vec<(Partition, Offset)> {
        self.places.iter().map(|(partition, place)| (*partition, place.next)).collect()
    }

    /// Moves partitions forward in the database, inside the caller's transaction. The object itself moves by
    /// [`moved`](Self::moved), after the commit.
    ///
    /// # Errors
    /// [`ApplyError::Fenced`] when one of them is not where this projector left it.
    pub(crate) async fn advance(
        &self,
        connection: &mut PgConnection,
        to: &BTreeMap<Partition, Offset>,
    ) -> Result<(), ApplyError> {
        let mut partitions = Vec::with_capacity(to.len());
        let mut from = Vec::with_capacity(to.len());
        let mut next = Vec::with_capacity(to.len());
        let mut epochs = Vec::with_capacity(to.len());
        for (partition, offset) in to {
            let place = self.places.get(partition).ok_or(ApplyError::Fenced)?;
            partitions.push(i32::from(partition.0));
            from.push(place.next.0.cast_signed());
            next.push(offset.0.cast_signed());
            epochs.push(place.epoch);
        }
        let done = sqlx::query(include_str!("advance.sql"))
            .bind(partitions)
            .bind(from)
            .bind(next)
            .bind(epochs)
            .execute(connection)
            .await?;
        if done.rows_affected() == to.len() as u64 { Ok(()) } else { Err(ApplyError::Fenced) }
    }

    /// Before which times verdicts are to be removed with these records, given as partition and time in the order of the log.
    /// Only for partitions where that has changed.
    pub(crate) fn to_prune(
        &self,
        records: impl Iterator<Item = (Partition, Timestamp)>,
    ) -> BTreeMap<Partition, Timestamp> {
        let mut before: BTreeMap<_, _> = records.map(|(partition, time)| (partition, forgotten_before(time))).collect();
        before.retain(|partition, time| self.places.get(partition).is_some_and(|place| place.pruned != Some(*time)));
        before
    }

    /// Takes up a committed removal of verdicts.
    pub(crate) fn pruned(&mut self, before: &BTreeMap<Partition, Timestamp>) {
        for (partition, time) in before {
            if let Some(place) = self.places.get_mut(partition) {
                place.pruned = Some(*time);
            }
        }
    }

    /// Takes up a committed move.
    pub(crate) fn moved(&mut self, to: &BTreeMap<Partition, Offset>) {
        for (partition, offset) in to {
            if let Some(place) = self.places.get_mut(partition) {
                debug_assert!(*offset >= place.next, "a checkpoint never moves back");
                place.next = *offset;
            }
        }
    }
}
