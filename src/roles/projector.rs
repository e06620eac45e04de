//! `stash serve --role projector`

use super::{PART_END_MAX, Server, Stop};
use crate::wiring::Foundation;
use crate::wiring::data_folder::ProjectorLock;
use stash_infra::telemetry::Metrics;

/// Writes the read models, or stands by while another process does.
pub(super) async fn run(foundation: &Foundation, server: Server, metrics: Metrics, stop: Stop) -> anyhow::Result<()> {
    let web = foundation.bare_web(metrics);
    let health = tokio::spawn(server.run(web.router, stop.clone()));
    let result = project(foundation, &stop).await;
    stop.ask();
    let _ = tokio::time::timeout(PART_END_MAX, health).await;
    result
}

/// The projector, until asked to stop.
pub(super) async fn project(foundation: &Foundation, stop: &Stop) -> anyhow::Result<()> {
    let lock = tokio::select! {
        lock = ProjectorLock::acquire(&foundation.settings.data.folder) => lock?,
        () = stop.asked() => return Ok(()),
    };
    let projector = foundation.projector();
    projector.run_leased(&foundation.projection_leases(), &lock.holder, stop.token()).await?;
    projector.pool.close().await;
    Ok(())
}
