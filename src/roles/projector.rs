//! `stash serve --role projector`

use super::{PART_END_MAX, Server, Stop};
use crate::wiring::Foundation;
use crate::wiring::data_folder::ProjectorLock;
use anyhow::Context as _;
use stash_infra::telemetry::Metrics;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often the checkpoints are read for the readiness of a projector that stands by.
const MARKS_LOOK: Duration = Duration::from_secs(5);

/// Writes the read models, or stands by while another process does.
pub(super) async fn run(foundation: &Foundation, server: Server, metrics: Metrics, stop: Stop) -> anyhow::Result<()> {
    keep_marks(foundation);
    let web = foundation.bare_web(metrics);
    let health = tokio::spawn(server.run(web.router, stop.clone()));
    let result = match renew(foundation, &stop).await {
        Ok(()) => project(foundation, &stop).await,
        Err(error) => Err(error),
    };
    stop.ask();
    let _ = tokio::time::timeout(PART_END_MAX, health).await;
    result
}

/// Reads the checkpoints now and then, so that a projector that stands by is as ready as the one at work.
fn keep_marks(foundation: &Foundation) {
    let (marks, pool) = (foundation.marks.clone(), foundation.pools.system.clone());
    tokio::spawn(async move {
        let mut looks = tokio::time::interval(MARKS_LOOK);
        loop {
            looks.tick().await;
            if let Err(error) = marks.refresh(&pool).await {
                tracing::debug!(%error, "cannot read the checkpoints");
            }
        }
    });
}

/// Makes the read models anew if another version made them.
pub(super) async fn renew(foundation: &Foundation, stop: &Stop) -> anyhow::Result<()> {
    let pool = foundation.projector_pool();
    let mut told = |records: u64, total: u64| tracing::info!(records, total, "rebuilding the read models");
    let deps = foundation.deps();
    let renewed = tokio::select! {
        renewed = stash_projections::renew(&pool, &foundation.log, &deps, &mut told) => {
            renewed.context("the read models were made by another version and cannot be rebuilt")?
        }
        () = stop.asked() => return Ok(()),
    };
    if let Some(rebuilt) = renewed {
        tracing::info!(schema = rebuilt.schema, records = rebuilt.records, "the read models are rebuilt");
    }
    pool.close().await;
    Ok(())
}

/// The projector, until asked to stop.
pub(super) async fn project(foundation: &Foundation, stop: &Stop) -> anyhow::Result<()> {
    let lock = tokio::select! {
        lock = ProjectorLock::acquire(&foundation.settings.data.folder) => lock?,
        () = stop.asked() => return Ok(()),
    };
    let projector = foundation.projector();
    let (leases, collector) = (foundation.projection_leases(), foundation.collector());
    // Blobs are collected beside it for as long as it runs.
    let collecting = CancellationToken::new();
    let projecting = async {
        let ended = projector.run_leased(&leases, &lock.holder, stop.token()).await;
        collecting.cancel();
        ended
    };
    let (ended, ()) = tokio::join!(projecting, collector.run(collecting.clone()));
    ended?;
    projector.pool.close().await;
    Ok(())
}
