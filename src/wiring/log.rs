//! The event log of the deployment.

use super::LOG_CONNECTIONS;
use anyhow::Context as _;
use sqlx::PgPool;
use stash_infra::config::{LogBackend, Settings};
use stash_infra::event_log::EventLog;
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::postgres::{Pools, Purpose};
use std::sync::Arc;

/// The log, and the connections that are to be closed after it.
pub(super) struct Opened {
    pub(super) log: Arc<dyn EventLog>,
    pub(super) pool: Option<PgPool>,
}

/// Opens it; makes it at first start.
pub(super) async fn open(settings: &Settings, pools: &Pools) -> anyhow::Result<Opened> {
    let partitions = settings.log.partitions;
    match settings.log.backend {
        LogBackend::Postgres => {
            let pool = Purpose::Log.pool(pools.options(), LOG_CONNECTIONS);
            let log = PostgresLog::open(pool.clone(), partitions).await.context("the event log cannot be opened")?;
            Ok(Opened { log: Arc::new(log), pool: Some(pool) })
        }
        LogBackend::Kafka => {
            let kafka = settings.log.kafka.as_ref().context("STASH_KAFKA_BROKERS is not set")?;
            let place = KafkaSettings::new(kafka.brokers.as_str(), kafka.topic.as_str());
            let log = KafkaLog::open(place, partitions)
                .await
                .with_context(|| format!("the event log in Kafka at {} cannot be opened", kafka.brokers))?;
            Ok(Opened { log: Arc::new(log), pool: None })
        }
    }
}
