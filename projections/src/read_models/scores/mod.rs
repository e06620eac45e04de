//! `rm_trace_scores` and `rm_action_scores`: the newest score of each trace and action by each model.

use super::{Accepted, Deps, bundle_error};
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::events::{Event, ScoresRecorded};
use stash_domain::ids::OwnerId;
use stash_domain::reward::frame::ScoresFrame;
use stash_domain::sealed::Opened;
use stash_domain::time::Timestamp;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

/// Scores written at once.
const ROWS_PER_INSERT: usize = 10_000;

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>], deps: &Deps) -> Result<(), ApplyError> {
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::ScoresRecorded(event) => record(tx, owner, event, item.record.recorded_at, deps).await?,
                Event::TraceDeleted(event) => {
                    for statement in [include_str!("purge_traces.sql"), include_str!("purge_actions.sql")] {
                        sqlx::query(statement).bind(owner.0).bind(event.trace_id.0).execute(&mut *tx).await?;
                    }
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
    deps: &Deps,
) -> Result<(), ApplyError> {
    let mut reader =
        BundleReader::open(deps.keys.clone(), deps.store.clone(), owner, Purpose::SCORE_FRAMES, event.bundle.clone())
            .map_err(bundle_error)?;
    let mut rows = Rows::default();
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        rows.add(&ScoresFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?);
        if rows.len() >= ROWS_PER_INSERT {
            std::mem::take(&mut rows).write(tx, owner, event, at).await?;
        }
    }
    rows.write(tx, owner, event, at).await
}

#[derive(Default)]
struct Rows {
    traces: Traces,
    actions: Actions,
}

#[derive(Default)]
struct Traces {
    trace_id: Vec<Uuid>,
    score: Vec<f64>,
    digest: Vec<Vec<u8>>,
    dropped_tokens: Vec<i32>,
}

#[derive(Default)]
struct Actions {
    trace_id: Vec<Uuid>,
    step_id: Vec<Uuid>,
    score: Vec<f64>,
    credit: Vec<f64>,
    digest: Vec<Vec<u8>>,
    dropped_tokens: Vec<i32>,
    target_cut: Vec<bool>,
}

impl Rows {
    fn len(&self) -> usize {
        self.traces.trace_id.len() + self.actions.trace_id.len()
    }

    fn add(&mut self, frame: &ScoresFrame) {
        let dropped = |tokens: u64| i32::try_from(tokens).unwrap_or(i32::MAX);
        if let Some(score) = frame.score {
            self.traces.trace_id.push(frame.trace_id.0);
            self.traces.score.push(score);
            self.traces.digest.push(frame.digest.0.to_vec());
            self.traces.dropped_tokens.push(frame.truncated.map_or(0, |cut| dropped(cut.dropped_tokens)));
        }
        for action in &frame.actions {
            self.actions.trace_id.push(frame.trace_id.0);
            self.actions.step_id.push(action.step_id.0);
            self.actions.score.push(action.score);
            self.actions.credit.push(action.credit);
            self.actions.digest.push(action.digest.0.to_vec());
            self.actions.dropped_tokens.push(action.truncated.map_or(0, |cut| dropped(cut.dropped_tokens)));
            self.actions.target_cut.push(action.truncated.is_some_and(|cut| cut.target_cut));
        }
    }

    async fn write(
        self,
        tx: &mut PgConnection,
        owner: OwnerId,
        event: &ScoresRecorded,
        at: Timestamp,
    ) -> Result<(), ApplyError> {
        if !self.traces.trace_id.is_empty() {
            sqlx::query(include_str!("upsert_traces.sql"))
                .bind(owner.0)
                .bind(event.reward_model_id.0)
                .bind(self.traces.trace_id)
                .bind(self.traces.score)
                .bind(self.traces.digest)
                .bind(self.traces.dropped_tokens)
                .bind(at.0)
                .execute(&mut *tx)
                .await?;
        }
        if !self.actions.trace_id.is_empty() {
            sqlx::query(include_str!("upsert_actions.sql"))
                .bind(owner.0)
                .bind(event.reward_model_id.0)
                .bind(self.actions.trace_id)
                .bind(self.actions.step_id)
                .bind(self.actions.score)
                .bind(self.actions.credit)
                .bind(self.actions.digest)
                .bind(self.actions.dropped_tokens)
                .bind(self.actions.target_cut)
                .bind(at.0)
                .execute(tx)
                .await?;
        }
        Ok(())
    }
}
