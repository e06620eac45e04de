//! Read models made by another version: found at the start, and made anew before anybody uses them.

use crate::error::ProjectionError;
use crate::read_models::Deps;
use crate::rebuild::{OnDifference, Rebuilt, rebuild};
use crate::schema;
use sqlx::PgPool;
use stash_infra::event_log::EventLog;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether another process, which rebuilds already, is done.
const LOOK: Duration = Duration::from_secs(1);

/// Rebuilds the read models into the next generation if the tables shown have another shape than this version's, and says what
/// that did. Where another process does so already, waits for it.
///
/// # Errors
/// As [`rebuild`]; the tables shown are then as they were, and this version must not use them.
pub async fn renew(
    pool: &PgPool,
    log: &Arc<dyn EventLog>,
    deps: &Deps,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Option<Rebuilt>, ProjectionError> {
    loop {
        let shown = schema::ensure(&mut *pool.acquire().await?).await?;
        if schema::is_current(&mut *pool.acquire().await?, &shown).await? {
            return Ok(None);
        }
        tracing::info!(schema = shown, "the read models were made by another version and are rebuilt");
        match rebuild(pool, log, deps, OnDifference::Keep, progress).await {
            Err(ProjectionError::Rebuilding) => tokio::time::sleep(LOOK).await,
            rebuilt => return rebuilt.map(Some),
        }
    }
}
