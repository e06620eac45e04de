//! `stash serve --role api`

use super::{Server, Stop, follow};
use crate::wiring::Foundation;
use stash_infra::telemetry::Metrics;

/// Answers requests; another process projects.
pub(super) async fn run(foundation: &Foundation, server: Server, metrics: Metrics, stop: Stop) -> anyhow::Result<()> {
    foundation.settle_changes().await?;
    follow(foundation);
    let web = foundation.web(metrics);
    server.run(web.router, stop).await
}
