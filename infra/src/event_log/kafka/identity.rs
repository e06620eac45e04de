//! The log's identity: the first record of the topic `<topic>-meta`, for ever.
//!
//! It cannot stand in the log's own topic, whose offsets begin with our first record. And it cannot be the topic's identity in
//! the cluster, since a log that is moved to Kafka keeps the id that checkpoints and position tokens name. So the record says
//! both: this log is in that very topic. A topic that was deleted and made again has another identity and is refused.
//!
//! Of several processes that make a log at once, each writes a record, and the first in the topic holds for all.

use super::super::{LogError, NewRecord};
use super::error::{self, blocking, no_answer};
use super::producer::Producer;
use super::query::{Query, Topic};
use super::settings::{KafkaSettings, QUERY_TIMEOUT};
use super::{reader, topic};
use bytes::Bytes;
use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde::{Deserialize, Serialize};
use stash_domain::position::{LogId, Partition};
use std::time::Instant;
use uuid::Uuid;

/// What the record says, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// The log.
    log: Uuid,
    /// The topic that it is in, as the cluster names it.
    topic: Uuid,
    /// Its number of partitions.
    partitions: u16,
}

/// The id of the log in this topic; a new log gets `id_if_new`. `is_empty` tells whether the topic has no records.
///
/// # Errors
/// [`LogError::Unavailable`]; [`LogError::Corrupt`] when the topic is not the one that the log was made in, has another number
/// of partitions, or has records of which nobody says what log they are.
pub(super) async fn open<F>(
    settings: &KafkaSettings,
    query: &Query,
    found: &Topic,
    id_if_new: LogId,
    is_empty: impl Fn() -> F,
) -> Result<LogId, LogError>
where
    F: Future<Output = Result<bool, LogError>>,
{
    let meta = settings.meta_topic();
    topic::open(settings, query, &meta, 1).await?;
    let mut identity = first_record(settings, &meta).await?;
    if identity.is_none() && !is_empty().await? {
        // Records may have come since the look before, but then the identity came before them.
        identity = first_record(settings, &meta).await?;
        if identity.is_none() {
            let topic = &settings.topic;
            return Err(LogError::Corrupt(format!(
                "the topic {topic} has records, and {meta} does not say of what log"
            )));
        }
    }
    let identity = match identity {
        Some(identity) => identity,
        None => {
            let wanted = Identity { log: id_if_new.0, topic: found.id, partitions: found.partitions };
            propose(settings, &meta, wanted).await?;
            first_record(settings, &meta)
                .await?
                .ok_or_else(|| LogError::Corrupt(format!("{meta} forgot its record")))?
        }
    };
    let topic = &settings.topic;
    if identity.topic != found.id {
        return Err(LogError::Corrupt(format!(
            "the topic {topic} was deleted and made again; the log {} was in another. Restore that, or delete {meta} too, to \
             begin a new log",
            identity.log
        )));
    }
    if identity.partitions != found.partitions {
        return Err(LogError::Corrupt(format!(
            "the topic {topic} has {} partitions where the log was made with {}: the records of an owner would stand in two",
            found.partitions, identity.partitions
        )));
    }
    Ok(LogId(identity.log))
}

async fn propose(settings: &KafkaSettings, meta: &str, identity: Identity) -> Result<(), LogError> {
    let value = serde_json::to_vec(&identity).map_err(|error| LogError::Unavailable(error.to_string()))?;
    let producer = Producer::start(settings, meta, 1)?;
    let record = NewRecord { partition: Partition(0), key: Bytes::from_static(b"log"), value: Bytes::from(value) };
    match producer.append(vec![record]).await {
        // Whether it was taken shows when the topic is read again.
        Ok(_) | Err(LogError::Unknown(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The first record of the topic, or none if it is empty.
async fn first_record(settings: &KafkaSettings, meta: &str) -> Result<Option<Identity>, LogError> {
    let mut config = settings.reader();
    config.set("enable.partition.eof", "true");
    let meta = meta.to_owned();
    blocking(move || {
        let asking = |error: KafkaError| error::asking(&error);
        let consumer: BaseConsumer<reader::Context> = config
            .create_with_context(reader::Context)
            .map_err(|error| LogError::Unavailable(format!("the Kafka client cannot be made: {error}")))?;
        let mut place = TopicPartitionList::new();
        place.add_partition_offset(&meta, 0, Offset::Offset(0)).map_err(asking)?;
        consumer.assign(&place).map_err(asking)?;
        let deadline = Instant::now() + QUERY_TIMEOUT;
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            match consumer.poll(left) {
                Some(Ok(message)) => {
                    let value = message.payload().unwrap_or_default();
                    return serde_json::from_slice(value)
                        .map(Some)
                        .map_err(|error| LogError::Corrupt(format!("the first record of {meta}: {error}")));
                }
                Some(Err(KafkaError::PartitionEOF(_))) => return Ok(None),
                Some(Err(error)) => match asking(error) {
                    // The client goes on trying.
                    LogError::Unavailable(_) => {}
                    damage => return Err(damage),
                },
                None => {}
            }
        }
        Err(no_answer("the log's identity", QUERY_TIMEOUT))
    })
    .await
}
