//! `rm_llm_switches`: what language models may be used for on each account's content.

use super::Accepted;
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::events::Event;
use stash_domain::llm::LlmPurpose;

pub(super) const DDL: &str = include_str!("table.sql");

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>]) -> Result<(), ApplyError> {
    for item in batch {
        for event in item.events() {
            let Event::LlmSwitched(switched) = event else { continue };
            // One that a newer Stash knows means nothing here.
            let Some(purpose) = LlmPurpose::parse(&switched.purpose) else { continue };
            sqlx::query(include_str!("upsert.sql"))
                .bind(item.record.owner_id.0)
                .bind(purpose.name())
                .bind(switched.allowed)
                .bind(item.context().recorded_at.0)
                .execute(&mut *tx)
                .await?;
        }
    }
    Ok(())
}
