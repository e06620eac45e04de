//! Reading: a consumer that assigns its partitions itself. No group, no commits: whoever reads keeps its own place.

use super::super::{LogError, LogReader, LogRecord, READ_BYTES_MAX};
use super::error::{self, drop_elsewhere};
use super::log_line;
use super::query::Query;
use super::settings::KafkaSettings;
use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt as _;
use rdkafka::client::ClientContext;
use rdkafka::config::{FromClientConfigAndContext as _, RDKafkaLogLevel};
use rdkafka::consumer::{Consumer as _, ConsumerContext, StreamConsumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Message as _, Timestamp as MessageTime};
use rdkafka::topic_partition_list::{Offset as KafkaOffset, TopicPartitionList};
use stash_domain::position::{Offset, Partition, Position};
use stash_domain::time::Timestamp;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Microseconds in a millisecond, which Kafka counts time in.
const US_PER_MS: i64 = 1000;

/// A reader of some partitions of a log in Kafka.
pub(super) struct Reader {
    /// None only while it is dropped, and for a reader of no partitions.
    consumer: Option<StreamConsumer<Context>>,
    query: Query,
    /// The next offset of each partition read.
    next: HashMap<Partition, u64>,
    /// A damage that was found: it does not go away.
    damage: Option<LogError>,
    /// The brokers went away; they may be back.
    down: bool,
}

impl Reader {
    /// A reader at these places, which were checked before.
    pub(super) fn new(settings: &KafkaSettings, query: Query, from: &[(Partition, Offset)]) -> Result<Self, LogError> {
        let mut places = TopicPartitionList::with_capacity(from.len());
        for (partition, offset) in from {
            let offset = KafkaOffset::Offset(i64::try_from(offset.0).unwrap_or(i64::MAX));
            places
                .add_partition_offset(&settings.topic, i32::from(partition.0), offset)
                .map_err(|error| error::asking(&error))?;
        }
        let consumer = if from.is_empty() {
            None
        } else {
            let consumer = StreamConsumer::from_config_and_context(&settings.reader(), Context)
                .map_err(|error| LogError::Unavailable(format!("the Kafka client cannot be made: {error}")))?;
            consumer.assign(&places).map_err(|error| error::asking(&error))?;
            Some(consumer)
        };
        let next = from.iter().map(|(partition, offset)| (*partition, offset.0)).collect();
        Ok(Self { consumer, query, next, damage: None, down: false })
    }
}

/// What can go wrong between two records.
enum Trouble {
    /// The log is damaged, for good.
    Damage(LogError),
    /// Nothing can be read now.
    Away(String),
}

/// Takes a message as the next record of its partition.
fn take(next: &mut HashMap<Partition, u64>, message: &BorrowedMessage<'_>) -> Result<LogRecord, LogError> {
    let corrupt = |what: &str| {
        LogError::Corrupt(format!("partition {} at offset {}: {what}", message.partition(), message.offset()))
    };
    let partition = u16::try_from(message.partition()).map(Partition).map_err(|_| corrupt("no such partition"))?;
    let expected = next.get_mut(&partition).ok_or_else(|| corrupt("a partition that is not read"))?;
    let offset = u64::try_from(message.offset()).map_err(|_| corrupt("not an offset"))?;
    if offset != *expected {
        return Err(corrupt(&format!("offset {expected} was expected")));
    }
    let MessageTime::LogAppendTime(time_ms) = message.timestamp() else {
        return Err(corrupt("the time is not the log's own"));
    };
    *expected += 1;
    Ok(LogRecord {
        position: Position { partition, offset: Offset(offset) },
        time: Timestamp(time_ms.saturating_mul(US_PER_MS)),
        key: Bytes::copy_from_slice(message.key().unwrap_or_default()),
        value: Bytes::copy_from_slice(message.payload().unwrap_or_default()),
    })
}

fn accept(
    next: &mut HashMap<Partition, u64>,
    received: Result<BorrowedMessage<'_>, KafkaError>,
) -> Result<LogRecord, Trouble> {
    match received {
        Ok(message) => take(next, &message).map_err(Trouble::Damage),
        Err(error) => Err(match error::asking(&error) {
            LogError::Corrupt(text) => Trouble::Damage(LogError::Corrupt(text)),
            _ => Trouble::Away(error.to_string()),
        }),
    }
}

#[async_trait]
impl LogReader for Reader {
    /// Only the wait for the first record can be cancelled, and what was received before it is none: so nothing is lost.
    async fn next(&mut self, max: usize, wait: Duration) -> Result<Vec<LogRecord>, LogError> {
        if let Some(damage) = &self.damage {
            return Err(damage.clone());
        }
        let deadline = Instant::now() + wait;
        let mut records = Vec::new();
        if max == 0 {
            return Ok(records);
        }
        let Some(consumer) = &self.consumer else {
            tokio::time::sleep_until(deadline).await;
            return Ok(records);
        };
        let mut bytes = 0;
        // With no time to wait, what has been fetched is still taken.
        let mut received = match consumer.recv().now_or_never() {
            Some(received) => Some(received),
            None => tokio::time::timeout_at(deadline, consumer.recv()).await.ok(),
        };
        let trouble = loop {
            let Some(outcome) = received else { break None };
            match accept(&mut self.next, outcome) {
                Ok(record) => {
                    bytes += record.value.len();
                    records.push(record);
                }
                Err(trouble) => break Some(trouble),
            }
            if records.len() >= max || bytes >= READ_BYTES_MAX {
                break None;
            }
            received = consumer.recv().now_or_never();
        };
        match trouble {
            Some(Trouble::Damage(error)) => self.damage = Some(error),
            Some(Trouble::Away(error)) => {
                self.down = true;
                if records.is_empty() {
                    return Err(LogError::Unavailable(error));
                }
            }
            None => {}
        }
        if !records.is_empty() {
            return Ok(records);
        }
        if let Some(damage) = &self.damage {
            return Err(damage.clone());
        }
        if self.down {
            // Silence from brokers that are away is not the same as no news.
            self.query.reach().await?;
            self.down = false;
        }
        Ok(records)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(consumer) = self.consumer.take() {
            drop_elsewhere(consumer);
        }
    }
}

/// What librdkafka calls back.
pub(super) struct Context;

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        log_line(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "Kafka reader");
    }
}

impl ConsumerContext for Context {}
