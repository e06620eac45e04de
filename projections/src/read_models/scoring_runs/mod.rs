//! `rm_scoring_runs`: each scoring that was asked for, and what it computed in.

use super::{Accepted, without_nul};
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::events::Event;
use stash_domain::views::scoring_run;

pub(super) const DDL: &str = include_str!("table.sql");

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>]) -> Result<(), ApplyError> {
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            if let Some(run) = scoring_run::made(event, item.context()) {
                sqlx::query(include_str!("insert.sql"))
                    .bind(owner.0)
                    .bind(run.id.0)
                    .bind(run.job_id.0)
                    .bind(run.trace_id.0)
                    .bind(run.reward_model_id.0)
                    .bind(run.created_at.0)
                    .execute(&mut *tx)
                    .await?;
            }
            if let Event::ScoresRecorded(event) = event
                && let (Some(run), Some(precision)) = (event.run_id, &event.precision)
            {
                sqlx::query(include_str!("scored.sql"))
                    .bind(owner.0)
                    .bind(run.0)
                    .bind(without_nul(precision.clone()))
                    .execute(&mut *tx)
                    .await?;
            }
            let (purge, of) = match event {
                Event::TraceDeleted(event) => (include_str!("purge.sql"), event.trace_id.0),
                Event::RewardModelDeleted(event) => (include_str!("purge_model.sql"), event.reward_model_id.0),
                _ => continue,
            };
            sqlx::query(purge).bind(owner.0).bind(of).execute(&mut *tx).await?;
        }
    }
    Ok(())
}
