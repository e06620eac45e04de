//! Questions to the cluster: tails, times, identities. Every call blocks inside librdkafka, so it runs where that is allowed.

use super::super::LogError;
use super::error::{asking, blocking, drop_elsewhere};
use super::native;
use super::reader::Context;
use super::settings::{KafkaSettings, QUERY_TIMEOUT};
use rdkafka::client::Client;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::{Offset as KafkaOffset, TopicPartitionList};
use stash_domain::position::{Offset, Partition};
use stash_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Microseconds in a millisecond, which Kafka counts time in.
const US_PER_MS: i64 = 1000;

/// Longest wait of a reader that asks whether the brokers are back.
const REACH_TIMEOUT: Duration = Duration::from_secs(1);

/// Times that a question goes to a partition's leader, with a new look at who that is in between.
const LEADER_TRIES: usize = 20;

/// Wait between them: an election takes about a second.
const LEADER_RETRY: Duration = Duration::from_millis(100);

/// A topic as the cluster describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic {
    /// The identity that the cluster gave it.
    pub(super) id: Uuid,
    /// Its number of partitions.
    pub(super) partitions: u16,
}

/// A client that only asks.
#[derive(Clone)]
pub(super) struct Query(Arc<Connection>);

struct Connection {
    /// The log's topic.
    topic: String,
    /// None only while it is dropped.
    client: Option<BaseConsumer<Context>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop_elsewhere(client);
        }
    }
}

impl Query {
    /// A client for this topic. It connects when it is first asked.
    pub(super) fn new(settings: &KafkaSettings) -> Result<Self, LogError> {
        let client = settings
            .query()
            .create_with_context(Context)
            .map_err(|error: KafkaError| LogError::Unavailable(format!("the Kafka client cannot be made: {error}")))?;
        Ok(Self(Arc::new(Connection { topic: settings.topic.clone(), client: Some(client) })))
    }

    /// Asks with this client.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&str, &Client<Context>) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        self.ask_consumer(|topic, consumer| question(topic, consumer.client())).await
    }

    async fn ask_consumer<T: Send + 'static>(
        &self,
        question: impl FnOnce(&str, &BaseConsumer<Context>) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let connection = Arc::clone(&self.0);
        blocking(move || match &connection.client {
            Some(client) => question(&connection.topic, client),
            None => Err(LogError::Unavailable("the Kafka client is closed".into())),
        })
        .await
    }

    /// The offset that the partition's next record will get.
    ///
    /// # Errors
    /// [`LogError::Unavailable`]; [`LogError::Corrupt`] when its first records are gone.
    pub(super) async fn tail(&self, partition: Partition) -> Result<Offset, LogError> {
        self.ask(move |topic, client| {
            let (first, tail) =
                of_the_leader(client, topic, || client.fetch_watermarks(topic, i32::from(partition.0), QUERY_TIMEOUT))?;
            match u64::try_from(tail) {
                Ok(tail) if first == 0 => Ok(Offset(tail)),
                _ => Err(LogError::Corrupt(format!(
                    "partition {} of the topic {topic} begins at {first} and ends at {tail}: records were removed",
                    partition.0
                ))),
            }
        })
        .await
    }

    /// The first offset whose record was taken at or after a time; the tail if there is none.
    pub(super) async fn offset_for_time(&self, partition: Partition, time: Timestamp) -> Result<Offset, LogError> {
        // The first millisecond that is not before the time.
        let time_ms = time.0.div_euclid(US_PER_MS) + i64::from(time.0.rem_euclid(US_PER_MS) != 0);
        if time_ms <= 0 {
            return Ok(Offset(0));
        }
        let found = self
            .ask_consumer(move |topic, consumer| {
                let mut times = TopicPartitionList::new();
                times
                    .add_partition_offset(topic, i32::from(partition.0), KafkaOffset::Offset(time_ms))
                    .map_err(|error| asking(&error))?;
                of_the_leader(consumer.client(), topic, || {
                    let found = consumer.offsets_for_times(times.clone(), QUERY_TIMEOUT)?;
                    let place = found.find_partition(topic, i32::from(partition.0));
                    let place = place.ok_or(KafkaError::OffsetFetch(RDKafkaErrorCode::UnknownPartition))?;
                    place.error().map(|()| place.offset())
                })
            })
            .await?;
        match found {
            KafkaOffset::Offset(offset) => u64::try_from(offset)
                .map(Offset)
                .map_err(|_| LogError::Corrupt(format!("offset {offset} was found for a time"))),
            _ => self.tail(partition).await,
        }
    }

    /// Returns when a broker answers.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] when none does.
    pub(super) async fn reach(&self) -> Result<(), LogError> {
        self.ask(|topic, client| {
            let answer = client.fetch_metadata(Some(topic), REACH_TIMEOUT);
            answer.map(|_| ()).map_err(|error| LogError::Unavailable(error.to_string()))
        })
        .await
    }

    /// A topic of this cluster, if it is there.
    ///
    /// # Errors
    /// [`LogError::Unavailable`] also while a partition has no leader.
    pub(super) async fn describe(&self, name: &str) -> Result<Option<Topic>, LogError> {
        let name = name.to_owned();
        self.ask(move |_, client| {
            let id = native::topic_id(client, &name, QUERY_TIMEOUT)
                .map_err(|code| LogError::Unavailable(KafkaError::MetadataFetch(code.into()).to_string()))?;
            let Some(id) = id else { return Ok(None) };
            if id.is_nil() {
                let text = "the Kafka cluster gives its topics no identity; 2.8 or newer is needed";
                return Err(LogError::Unavailable(text.into()));
            }
            let metadata = client.fetch_metadata(Some(&name), QUERY_TIMEOUT).map_err(|error| asking(&error))?;
            let topic = metadata.topics().iter().find(|topic| topic.name() == name);
            let partitions = topic.map_or(&[][..], |topic| topic.partitions());
            if partitions.is_empty() || partitions.iter().any(|partition| partition.leader() < 0) {
                let text = format!("not every partition of the topic {name} has a leader");
                return Err(LogError::Unavailable(text));
            }
            let count = u16::try_from(partitions.len())
                .map_err(|_| LogError::Corrupt(format!("the topic {name} has {} partitions", partitions.len())))?;
            Ok(Some(Topic { id, partitions: count }))
        })
        .await
    }
}

/// Asks the leader of a partition; again when it turns out not to be the leader any more. Blocks.
fn of_the_leader<T>(
    client: &Client<Context>,
    topic: &str,
    question: impl Fn() -> Result<T, KafkaError>,
) -> Result<T, LogError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let error = match question() {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let has_moved = matches!(
            error.rdkafka_error_code(),
            Some(
                RDKafkaErrorCode::NotLeaderForPartition
                    | RDKafkaErrorCode::LeaderNotAvailable
                    | RDKafkaErrorCode::FencedLeaderEpoch
                    | RDKafkaErrorCode::UnknownLeaderEpoch
            )
        );
        if !has_moved || tries == LEADER_TRIES {
            return Err(asking(&error));
        }
        std::thread::sleep(LEADER_RETRY);
        client.fetch_metadata(Some(topic), QUERY_TIMEOUT).map_err(|error| asking(&error))?;
    }
}
