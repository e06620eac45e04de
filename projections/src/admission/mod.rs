//! Verdicts and stream versions in Postgres: loads what [`admit`](stash_domain::admit::admit) must know about a batch, and saves
//! what it decided, in the transaction that applies the batch.

use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::admit::{Admission, AdmissionState, Judged, Verdict};
use stash_domain::ids::{CommandId, Digest};
use stash_domain::position::{Partition, Position};
use stash_domain::record::{Record, StreamId};
use stash_domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// DDL of the admission tables.
pub(crate) const DDL: &str = include_str!("table.sql");

/// DDL of the table of blobs.
pub(crate) const BLOBS_DDL: &str = include_str!("blobs.sql");

#[derive(sqlx::FromRow)]
struct CommandRow {
    command_id: Uuid,
    verdict: String,
    stream: Option<String>,
    expected: Option<i64>,
    actual: Option<i64>,
    request_digest: Vec<u8>,
    log_time: i64,
}

impl CommandRow {
    fn judged(self) -> Result<(CommandId, Judged), ApplyError> {
        let verdict = match (self.verdict.as_str(), self.stream, self.expected, self.actual) {
            ("conflict", Some(stream), Some(expected), Some(actual)) => Verdict::Conflict {
                stream: stream.parse().map_err(|_| ApplyError::damaged("es_command.stream"))?,
                expected: expected.cast_unsigned(),
                actual: actual.cast_unsigned(),
            },
            _ => Verdict::Accepted,
        };
        let digest = self.request_digest.try_into().map_err(|_| ApplyError::damaged("es_command.request_digest"))?;
        let judged = Judged { verdict, request_digest: Digest(digest), log_time: Timestamp(self.log_time) };
        Ok((CommandId(self.command_id), judged))
    }
}

/// Loads what is known about these records' commands and streams.
pub(crate) async fn load<'a>(
    connection: &mut PgConnection,
    records: impl Iterator<Item = &'a Record> + Clone,
) -> Result<AdmissionState, ApplyError> {
    let commands: Vec<Uuid> = records.clone().map(|record| record.command_id.0).collect();
    let streams: Vec<String> =
        records.flat_map(|record| record.appends.iter().map(|append| append.stream.to_string())).collect();
    let mut state = AdmissionState::default();
    let rows: Vec<CommandRow> =
        sqlx::query_as(include_str!("load_commands.sql")).bind(commands).fetch_all(&mut *connection).await?;
    for row in rows {
        let (command, judged) = row.judged()?;
        state.remember(command, judged);
    }
    let rows: Vec<(String, i64)> =
        sqlx::query_as(include_str!("load_streams.sql")).bind(streams).fetch_all(&mut *connection).await?;
    for (stream, version) in rows {
        let stream = stream.parse().map_err(|_| ApplyError::damaged("es_stream.stream"))?;
        state.set_version(stream, version.cast_unsigned());
    }
    Ok(state)
}

/// Removes the verdicts of these partitions that were given before these times. After [`Decisions::save`], so that what is left
/// does not depend on how batches fell.
pub(crate) async fn prune(
    connection: &mut PgConnection,
    before: &BTreeMap<Partition, Timestamp>,
) -> Result<(), ApplyError> {
    if !before.is_empty() {
        sqlx::query(include_str!("prune.sql"))
            .bind(before.keys().map(|partition| i32::from(partition.0)).collect::<Vec<_>>())
            .bind(before.values().map(|time| time.0).collect::<Vec<_>>())
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The fresh decisions of a batch, to be saved.
#[derive(Default)]
pub(crate) struct Decisions {
    commands: Vec<(CommandId, Uuid, Judged, Position)>,
    versions: BTreeMap<StreamId, (Uuid, u64)>,
    blobs: BTreeSet<(Uuid, Digest)>,
}

impl Decisions {
    /// Takes up the decision on a record.
    pub(crate) fn add(&mut self, record: &Record, position: Position, admission: &Admission) {
        let Admission::Fresh { judged, versions } = admission else { return };
        let owner = record.owner_id.0;
        self.commands.push((record.command_id, owner, judged.clone(), position));
        for (stream, version) in versions {
            self.versions.insert(*stream, (owner, *version));
        }
        if admission.takes_effect() {
            let bundles = record.events().filter_map(|(_, event)| event.bundle());
            self.blobs.extend(bundles.flat_map(|bundle| &bundle.blobs).map(|blob| (owner, blob.digest)));
        }
    }

    /// Writes them.
    pub(crate) async fn save(&self, connection: &mut PgConnection) -> Result<(), ApplyError> {
        self.save_commands(connection).await?;
        let streams: Vec<String> = self.versions.keys().map(ToString::to_string).collect();
        let owners: Vec<Uuid> = self.versions.values().map(|(owner, _)| *owner).collect();
        let versions: Vec<i64> = self.versions.values().map(|(_, version)| version.cast_signed()).collect();
        if !streams.is_empty() {
            sqlx::query(include_str!("save_streams.sql"))
                .bind(streams)
                .bind(owners)
                .bind(versions)
                .execute(&mut *connection)
                .await?;
        }
        if !self.blobs.is_empty() {
            sqlx::query(include_str!("save_blobs.sql"))
                .bind(self.blobs.iter().map(|(owner, _)| *owner).collect::<Vec<_>>())
                .bind(self.blobs.iter().map(|(_, digest)| digest.0.to_vec()).collect::<Vec<_>>())
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    async fn save_commands(&self, connection: &mut PgConnection) -> Result<(), ApplyError> {
        // A command id may come twice in one batch after its window has passed; ON CONFLICT refuses to touch a row twice.
        let newest: BTreeMap<CommandId, usize> =
            self.commands.iter().enumerate().map(|(index, (command, ..))| (*command, index)).collect();
        let rows: Vec<_> = newest.values().filter_map(|index| self.commands.get(*index)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let conflict = |judged: &Judged| match judged.verdict {
            Verdict::Accepted => (None, None, None),
            Verdict::Conflict { stream, expected, actual } => {
                (Some(stream.to_string()), Some(expected.cast_signed()), Some(actual.cast_signed()))
            }
        };
        let name = |judged: &Judged| if judged.verdict == Verdict::Accepted { "accepted" } else { "conflict" };
        sqlx::query(include_str!("save_commands.sql"))
            .bind(rows.iter().map(|row| row.0.0).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.1).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| name(&row.2)).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| conflict(&row.2).0).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| conflict(&row.2).1).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| conflict(&row.2).2).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.2.request_digest.0.to_vec()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.2.log_time.0).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| i32::from(row.3.partition.0)).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.3.offset.0.cast_signed()).collect::<Vec<_>>())
            .execute(connection)
            .await?;
        Ok(())
    }
}
