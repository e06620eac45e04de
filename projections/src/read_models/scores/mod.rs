//! `rm_trace_scores` and `rm_action_scores`: the newest score of each trace and action by each model.

use super::reward_models::is_deleted;
use super::{Accepted, Tools, bundle_error};
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::events::{Event, ScoresRecorded};
use stash_domain::ids::OwnerId;
use stash_domain::reward::frame::{ActionScore, ScoresFrame, Truncated};
use stash_domain::sealed::Opened;
use stash_domain::time::Timestamp;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use std::collections::BTreeMap;
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

/// Scores written at once.
const ROWS_PER_INSERT: usize = 10_000;

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>], tools: &Tools) -> Result<(), ApplyError> {
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::ScoresRecorded(event) => record(tx, owner, event, item.record.recorded_at, tools).await?,
                Event::TraceDeleted(event) => {
                    for statement in [include_str!("purge_traces.sql"), include_str!("purge_actions.sql")] {
                        sqlx::query(statement).bind(owner.0).bind(event.trace_id.0).execute(&mut *tx).await?;
                    }
                }
                Event::RewardModelDeleted(event) => {
                    sqlx::query(include_str!("purge_model.sql"))
                        .bind(owner.0)
                        .bind(event.reward_model_id.0)
                        .execute(&mut *tx)
                        .await?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

async fn record(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &ScoresRecorded,
    at: Timestamp,
    tools: &Tools,
) -> Result<(), ApplyError> {
    if is_deleted(tx, owner, event.reward_model_id).await? {
        return Ok(());
    }
    let mut reader =
        BundleReader::open(tools.keys.clone(), tools.store.clone(), owner, Purpose::SCORE_FRAMES, event.bundle.clone())
            .map_err(bundle_error)?;
    let mut rows = Rows::default();
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        rows.add(ScoresFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?);
        if rows.len() >= ROWS_PER_INSERT {
            std::mem::take(&mut rows).write(tx, owner, event, at).await?;
        }
    }
    rows.write(tx, owner, event, at).await
}

/// Rows by their key: no statement may touch a row twice, and the later score stands.
#[derive(Default)]
struct Rows {
    traces: BTreeMap<Uuid, TraceRow>,
    actions: BTreeMap<(Uuid, Uuid), ActionScore>,
}

struct TraceRow {
    score: f64,
    digest: Vec<u8>,
    dropped_tokens: i32,
}

impl Rows {
    fn len(&self) -> usize {
        self.traces.len() + self.actions.len()
    }

    fn add(&mut self, frame: ScoresFrame) {
        let trace = frame.trace_id.0;
        if let Some(score) = frame.score {
            let digest = frame.digest.0.to_vec();
            self.traces.insert(trace, TraceRow { score, digest, dropped_tokens: dropped(frame.truncated) });
        }
        self.actions.extend(frame.actions.into_iter().map(|action| ((trace, action.step_id.0), action)));
    }

    async fn write(
        self,
        tx: &mut PgConnection,
        owner: OwnerId,
        event: &ScoresRecorded,
        at: Timestamp,
    ) -> Result<(), ApplyError> {
        if !self.traces.is_empty() {
            let rows: Vec<&TraceRow> = self.traces.values().collect();
            sqlx::query(include_str!("upsert_traces.sql"))
                .bind(owner.0)
                .bind(event.reward_model_id.0)
                .bind(self.traces.keys().copied().collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.score).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.digest.as_slice()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.dropped_tokens).collect::<Vec<_>>())
                .bind(at.0)
                .execute(&mut *tx)
                .await?;
        }
        if !self.actions.is_empty() {
            let (traces, steps): (Vec<Uuid>, Vec<Uuid>) = self.actions.keys().copied().unzip();
            let rows: Vec<&ActionScore> = self.actions.values().collect();
            let target_cut = |row: &&ActionScore| row.truncated.is_some_and(|cut| cut.target_cut);
            sqlx::query(include_str!("upsert_actions.sql"))
                .bind(owner.0)
                .bind(event.reward_model_id.0)
                .bind(traces)
                .bind(steps)
                .bind(rows.iter().map(|row| row.score).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.credit).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.digest.0.as_slice()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| dropped(row.truncated)).collect::<Vec<_>>())
                .bind(rows.iter().map(target_cut).collect::<Vec<_>>())
                .bind(at.0)
                .execute(tx)
                .await?;
        }
        Ok(())
    }
}

fn dropped(truncated: Option<Truncated>) -> i32 {
    truncated.map_or(0, |cut| i32::try_from(cut.dropped_tokens).unwrap_or(i32::MAX))
}
