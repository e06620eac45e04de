//! Verdicts and stream versions in Postgres: loads what [`admit`](stash_domain::admit::admit) must know about a batch, and saves
//! what it decided, in the transaction that applies the batch.

use crate::copy::CopyRows;
use crate::error::ApplyError;
use crate::fresh::Fresh;
use sqlx::PgConnection;
use stash_domain::admit::{Admission, AdmissionState, Judged, Verdict};
use stash_domain::ids::{CommandId, Digest};
use stash_domain::position::{Partition, Position};
use stash_domain::record::{Record, StreamId};
use stash_domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashSet};
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

/// Loads what is known about these records' commands and streams, and says which of them the tables surely do not hold.
pub(crate) async fn load<'a>(
    connection: &mut PgConnection,
    records: impl Iterator<Item = &'a Record> + Clone,
    fresh: &Fresh,
) -> Result<(AdmissionState, New), ApplyError> {
    let mut new = New::default();
    let mut commands = Vec::new();
    let mut streams = Vec::new();
    for record in records {
        if fresh.is_new(&record.command_id) {
            new.commands.insert(record.command_id);
        } else if !new.commands.contains(&record.command_id) {
            commands.push(record.command_id.0);
        }
        for stream in record.appends.iter().map(|append| append.stream) {
            if fresh.is_new(&stream) {
                new.streams.insert(stream);
            } else if !new.streams.contains(&stream) {
                streams.push(stream.to_string());
            }
        }
    }
    let mut state = AdmissionState::default();
    if !commands.is_empty() {
        let rows: Vec<CommandRow> =
            sqlx::query_as(include_str!("load_commands.sql")).bind(commands).fetch_all(&mut *connection).await?;
        for row in rows {
            let (command, judged) = row.judged()?;
            state.remember(command, judged);
        }
    }
    if !streams.is_empty() {
        let rows: Vec<(String, i64)> =
            sqlx::query_as(include_str!("load_streams.sql")).bind(streams).fetch_all(&mut *connection).await?;
        for (stream, version) in rows {
            let stream = stream.parse().map_err(|_| ApplyError::damaged("es_stream.stream"))?;
            state.set_version(stream, version.cast_unsigned());
        }
    }
    Ok((state, new))
}

/// What the tables surely do not hold before a batch.
#[derive(Default)]
pub(crate) struct New {
    commands: HashSet<CommandId>,
    streams: HashSet<StreamId>,
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
    pub(crate) async fn save(&self, connection: &mut PgConnection, new: &New) -> Result<(), ApplyError> {
        self.save_commands(connection, new).await?;
        self.save_streams(connection, new).await?;
        if !self.blobs.is_empty() {
            sqlx::query(include_str!("save_blobs.sql"))
                .bind(self.blobs.iter().map(|(owner, _)| *owner).collect::<Vec<_>>())
                .bind(self.blobs.iter().map(|(_, digest)| digest.0.to_vec()).collect::<Vec<_>>())
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    async fn save_streams(&self, connection: &mut PgConnection, new: &New) -> Result<(), ApplyError> {
        let mut added = CopyRows::default();
        let (mut streams, mut owners, mut versions) = (Vec::new(), Vec::new(), Vec::new());
        for (stream, (owner, version)) in &self.versions {
            let name = stream.to_string();
            if new.streams.contains(stream) {
                added.row(*owner).text(&name).uuid(*owner).long(version.cast_signed()).end()?;
            } else {
                streams.push(name);
                owners.push(*owner);
                versions.push(version.cast_signed());
            }
        }
        added.write(connection, include_str!("copy_streams.sql")).await?;
        if !streams.is_empty() {
            sqlx::query(include_str!("save_streams.sql"))
                .bind(streams)
                .bind(owners)
                .bind(versions)
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    async fn save_commands(&self, connection: &mut PgConnection, new: &New) -> Result<(), ApplyError> {
        // A command id may come twice in one batch after its window has passed; ON CONFLICT refuses to touch a row twice.
        let newest: BTreeMap<CommandId, usize> =
            self.commands.iter().enumerate().map(|(index, (command, ..))| (*command, index)).collect();
        let rows = newest.values().filter_map(|index| self.commands.get(*index));
        let (added, rows): (Vec<_>, Vec<_>) = rows.partition(|row| new.commands.contains(&row.0));
        let conflict = |judged: &Judged| match judged.verdict {
            Verdict::Accepted => (None, None, None),
            Verdict::Conflict { stream, expected, actual } => {
                (Some(stream.to_string()), Some(expected.cast_signed()), Some(actual.cast_signed()))
            }
        };
        let name = |judged: &Judged| if judged.verdict == Verdict::Accepted { "accepted" } else { "conflict" };
        let mut copied = CopyRows::default();
        for (command, owner, judged, position) in added {
            let (stream, expected, actual) = conflict(judged);
            let row = copied.row(*owner).uuid(command.0).uuid(*owner).text(name(judged));
            let row = row.maybe_text(stream.as_deref()).maybe_long(expected).maybe_long(actual);
            let row = row.bytes(&judged.request_digest.0).long(judged.log_time.0);
            row.int(i32::from(position.partition.0)).long(position.offset.0.cast_signed()).end()?;
        }
        copied.write(connection, include_str!("copy_commands.sql")).await?;
        if rows.is_empty() {
            return Ok(());
        }
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
