//! The event log of the deployment.

use super::LOG_CONNECTIONS;
use anyhow::Context as _;
use stash_infra::config::{LogBackend, Settings};
use stash_infra::event_log::EventLog;
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::postgres::{Pools, Purpose};
use std::sync::Arc;

/// Opens it; makes it at first start.
pub(super) async fn open(settings: &Settings, pools: &Pools) -> anyhow::Result<Arc<dyn EventLog>> {
    match settings.log.backend {
        LogBackend::Postgres => {
            let pool = Purpose::Log.pool(pools.options(), LOG_CONNECTIONS);
            let log = PostgresLog::open(pool, settings.log.partitions).await.context("the event log cannot be opened")?;
            Ok(Arc::new(log))
        }
        LogBackend::Kafka => anyhow::bail!("STASH_LOG=kafka is not in this build"),
    }
}
