//! The event log in Kafka.
//!
//! ```text
//! append ─▶ room (bytes) ─▶ librdkafka: batches, retries, drops its own duplicates ─▶ topic, partition given explicitly
//! read   ◀─ StreamConsumer, partitions assigned by ourselves, no group, no commits ◀─┘
//! ```
//!
//! - The topic is made by us with an explicit configuration (nothing expires, the log gives the time) and is refused when it
//!   has another. Its identity stands in a topic beside it.
//! - No transactions: librdkafka's are not safe against a delayed end of an earlier one (it lacks KIP-890). Without them, and
//!   without compaction, a partition's offsets have no gaps; a reader that finds one reports damage.
//! - A record is durable when the cluster says so: with three copies and `min.insync.replicas=2` when two have it; a single
//!   broker does not wait for its disk, so a power cut may lose what it acknowledged.
//! - Times are those of the partition's leader, in milliseconds. They do not decrease as long as the clocks of the brokers do
//!   not go back.
//!
//! librdkafka's blocking calls run where blocking is allowed.

mod error;
mod identity;
#[cfg(test)]
mod mock_tests;
mod native;
mod producer;
mod query;
mod reader;
mod settings;
mod topic;

use super::{EventLog, LogError, LogReader, NewRecord, check_new_records, check_partition, check_place};
use async_trait::async_trait;
use producer::Producer;
use query::Query;
use rdkafka::config::RDKafkaLogLevel;
pub use settings::KafkaSettings;
use stash_domain::position::{LogId, Offset, Partition, Position};
use stash_domain::time::Timestamp;

/// The event log in Kafka.
pub struct KafkaLog {
    settings: KafkaSettings,
    id: LogId,
    partitions: u16,
    producer: Producer,
    query: Query,
}

impl KafkaLog {
    /// Opens the log in this topic, and makes it if there is none yet; of several processes that do so at once, all open the
    /// same. `partitions_if_new` is ignored when the topic exists.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] when the topic is not one of ours, or not the one that the log was made
    /// in, or is configured so that records would be lost.
    pub async fn open(settings: KafkaSettings, partitions_if_new: u16) -> Result<Self, LogError> {
        let fresh = uuid::Builder::from_random_bytes(rand::random()).into_uuid();
        Self::open_as(settings, partitions_if_new, LogId(fresh)).await
    }

    /// As [`Self::open`]; a log that is made gets this id. For a log that moves here and keeps its id and its offsets.
    ///
    /// # Errors
    /// As [`Self::open`]. A log that exists keeps its own id: the caller compares.
    pub async fn open_as(settings: KafkaSettings, partitions_if_new: u16, id_if_new: LogId) -> Result<Self, LogError> {
        let query = Query::new(&settings)?;
        let found = topic::open(&settings, &query, &settings.topic, partitions_if_new).await?;
        let is_empty = || async {
            for number in 0..found.partitions {
                if query.tail(Partition(number)).await? > Offset(0) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let id = identity::open(&settings, &query, &found, id_if_new, is_empty).await?;
        let producer = Producer::start(&settings, &settings.topic, found.partitions)?;
        Ok(Self { settings, id, partitions: found.partitions, producer, query })
    }
}

#[async_trait]
impl EventLog for KafkaLog {
    fn id(&self) -> LogId {
        self.id
    }

    fn partitions(&self) -> u16 {
        self.partitions
    }

    async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        check_new_records(&records, self.partitions)?;
        self.producer.append(records).await
    }

    async fn read(&self, from: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        for (partition, offset) in from {
            check_partition(*partition, self.partitions)?;
            let tail = self.query.tail(*partition).await?;
            check_place(*partition, *offset, Some(tail), self.partitions)?;
        }
        Ok(Box::new(reader::Reader::new(&self.settings, self.query.clone(), from)?))
    }

    async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        check_partition(partition, self.partitions)?;
        self.query.tail(partition).await
    }

    async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        check_partition(partition, self.partitions)?;
        self.query.offset_for_time(partition, time).await
    }
}

/// A line of librdkafka's log.
fn log_line(level: RDKafkaLogLevel, facility: &str, message: &str) {
    match level {
        RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical | RDKafkaLogLevel::Error => {
            tracing::error!(target: "librdkafka", facility, "{message}");
        }
        RDKafkaLogLevel::Warning => tracing::warn!(target: "librdkafka", facility, "{message}"),
        RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info => {
            tracing::info!(target: "librdkafka", facility, "{message}");
        }
        RDKafkaLogLevel::Debug => tracing::debug!(target: "librdkafka", facility, "{message}"),
    }
}
