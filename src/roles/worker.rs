//! `stash serve --role worker`

use super::{PART_END_MAX, Server, Stop, follow};
use crate::first_start::ensure_base;
use crate::wiring::Foundation;
use stash_infra::telemetry::Metrics;
use stash_workers::{coordinator, titles};
use std::sync::Arc;

/// Takes jobs; another process projects.
pub(super) async fn run(foundation: &Foundation, server: Server, metrics: Metrics, stop: Stop) -> anyhow::Result<()> {
    follow(foundation);
    let web = foundation.bare_web(metrics);
    let health = tokio::spawn(server.run(web.router, stop.clone()));
    work(foundation, &stop).await;
    stop.ask();
    let _ = tokio::time::timeout(PART_END_MAX, health).await;
    Ok(())
}

/// The worker, and titles beside its jobs, until asked to stop.
pub(super) async fn work(foundation: &Foundation, stop: &Stop) {
    if let Err(error) = ensure_base(&foundation.settings.data.folder).await {
        tracing::warn!("the small base model cannot be made: {error:#}");
    }
    let worker = foundation.worker();
    tokio::join!(coordinator::run(Arc::clone(&worker), stop.token()), titles::run(worker, stop.token()));
}
