//! The readiness checks that every role shares: the database, the event log, and how far the read models lag behind it.

use crate::event_log::EventLog;
use crate::http::health::Check;
use crate::watermark::Watermarks;
use async_trait::async_trait;
use sqlx::PgPool;
use stash_domain::position::Partition;
use std::sync::Arc;

/// The database answers.
pub struct DatabaseCheck(pub PgPool);

#[async_trait]
impl Check for DatabaseCheck {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn check(&self) -> Result<(), String> {
        let mut connection = self.0.acquire().await.map_err(|_| "no connection".to_owned())?;
        sqlx::Connection::ping(&mut *connection).await.map_err(|_| "no answer".to_owned())
    }
}

/// The event log answers.
pub struct LogCheck(pub Arc<dyn EventLog>);

#[async_trait]
impl Check for LogCheck {
    fn name(&self) -> &'static str {
        "log"
    }

    async fn check(&self) -> Result<(), String> {
        self.0.tail(Partition(0)).await.map(|_| ()).map_err(|_| "no answer".to_owned())
    }
}

/// The read models are near the end of the log.
pub struct LagCheck {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// How far the read models are.
    pub marks: Arc<Watermarks>,
    /// Records, over all partitions, that they may be behind.
    pub records_max: u64,
}

#[async_trait]
impl Check for LagCheck {
    fn name(&self) -> &'static str {
        "lag"
    }

    async fn check(&self) -> Result<(), String> {
        let mut lag: u64 = 0;
        for number in 0..self.log.partitions() {
            let partition = Partition(number);
            let tail = self.log.tail(partition).await.map_err(|_| "the log does not answer".to_owned())?;
            lag = lag.saturating_add(tail.0.saturating_sub(self.marks.of(partition).0));
        }
        if lag > self.records_max {
            return Err(format!("the read models are {lag} records behind"));
        }
        Ok(())
    }
}
