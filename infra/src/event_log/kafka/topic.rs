//! The topics: made with an explicit configuration, and refused when they have another.

use super::super::LogError;
use super::error::{self, no_answer};
use super::query::{Query, Topic};
use super::settings::{KafkaSettings, MESSAGE_BYTES_MAX, QUERY_TIMEOUT};
use rdkafka::admin::{AdminClient, AdminOptions, ConfigResource, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::RDKafkaErrorCode;
use std::time::Duration;
use tokio::time::Instant;

/// How long a new topic may take until each of its partitions has a leader.
const MAKING_TIMEOUT: Duration = Duration::from_secs(30);

/// How often that is looked at.
const MAKING_POLL: Duration = Duration::from_millis(50);

/// Finds the topic, or makes it with so many partitions, and checks its configuration.
///
/// # Errors
/// [`LogError::Unavailable`]; [`LogError::Corrupt`] when the configuration would let records expire, or take another time than
/// the log's, or refuse records that we take.
pub(super) async fn open(
    settings: &KafkaSettings,
    query: &Query,
    name: &str,
    partitions_if_new: u16,
) -> Result<Topic, LogError> {
    let admin: AdminClient<DefaultClientContext> = settings
        .client()
        .create()
        .map_err(|error| LogError::Unavailable(format!("the Kafka client cannot be made: {error}")))?;
    let outcome = open_with(&admin, settings, query, name, partitions_if_new).await;
    error::drop_elsewhere(admin);
    outcome
}

async fn open_with(
    admin: &AdminClient<DefaultClientContext>,
    settings: &KafkaSettings,
    query: &Query,
    name: &str,
    partitions_if_new: u16,
) -> Result<Topic, LogError> {
    let topic = match query.describe(name).await? {
        Some(topic) => topic,
        None => {
            make(admin, settings, name, partitions_if_new).await?;
            await_leaders(query, name).await?
        }
    };
    check(admin, settings, name).await?;
    Ok(topic)
}

async fn make(
    admin: &AdminClient<DefaultClientContext>,
    settings: &KafkaSettings,
    name: &str,
    partitions: u16,
) -> Result<(), LogError> {
    let config = settings.topic_config();
    let replication = TopicReplication::Fixed(settings.replication);
    let mut topic = NewTopic::new(name, i32::from(partitions), replication);
    for (key, value) in &config {
        topic = topic.set(key, value);
    }
    let options = AdminOptions::new().request_timeout(Some(QUERY_TIMEOUT)).operation_timeout(Some(QUERY_TIMEOUT));
    let answers = admin.create_topics([&topic], &options).await.map_err(|error| error::asking(&error))?;
    match answers.into_iter().next() {
        // Another process made it a moment before.
        Some(Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists))) => Ok(()),
        Some(Err((_, code))) => Err(LogError::Unavailable(format!("the topic {name} cannot be made: {code}"))),
        None => Err(no_answer("the new topic", QUERY_TIMEOUT)),
    }
}

/// The topic, once it is there and each partition has a leader.
async fn await_leaders(query: &Query, name: &str) -> Result<Topic, LogError> {
    let deadline = Instant::now() + MAKING_TIMEOUT;
    loop {
        match query.describe(name).await {
            Ok(Some(topic)) => return Ok(topic),
            Ok(None) | Err(LogError::Unavailable(_)) if Instant::now() < deadline => {
                tokio::time::sleep(MAKING_POLL).await;
            }
            Ok(None) => return Err(no_answer("the new topic", MAKING_TIMEOUT)),
            Err(error) => return Err(error),
        }
    }
}

/// Refuses a topic whose configuration does not fit.
async fn check(
    admin: &AdminClient<DefaultClientContext>,
    settings: &KafkaSettings,
    name: &str,
) -> Result<(), LogError> {
    let told = await_configuration(admin, name).await?;
    for (key, wanted) in settings.topic_config() {
        let found = told.get(key).and_then(|entry| entry.value.as_deref()).unwrap_or("nothing");
        let fits = match key {
            // Larger does no harm.
            "max.message.bytes" => found.parse::<usize>().is_ok_and(|bytes| bytes >= MESSAGE_BYTES_MAX),
            // How many copies is the operator's choice, at any time.
            "min.insync.replicas" => true,
            _ => found == wanted,
        };
        if !fits {
            return Err(LogError::Corrupt(format!(
                "the topic {name} has {key}={found} where the event log needs {wanted}: set that, or use another topic"
            )));
        }
    }
    Ok(())
}

/// The topic's configuration, once a broker tells it.
///
/// Any broker may be asked, also one that has not heard of a topic just made, or that is just back. It answers with an error
/// for the topic, which the client drops: what arrives is a configuration without entries, and says nothing about the topic.
async fn await_configuration(
    admin: &AdminClient<DefaultClientContext>,
    name: &str,
) -> Result<ConfigResource, LogError> {
    let options = AdminOptions::new().request_timeout(Some(QUERY_TIMEOUT));
    let deadline = Instant::now() + MAKING_TIMEOUT;
    loop {
        let answers = admin
            .describe_configs([&ResourceSpecifier::Topic(name)], &options)
            .await
            .map_err(|error| error::asking(&error))?;
        match answers.into_iter().next() {
            Some(Ok(told)) if !told.entries.is_empty() => return Ok(told),
            Some(Ok(_)) | None if Instant::now() < deadline => tokio::time::sleep(MAKING_POLL).await,
            Some(Ok(_)) | None => return Err(no_answer("the topic's configuration", MAKING_TIMEOUT)),
            Some(Err(code)) => {
                return Err(LogError::Unavailable(format!("the topic {name} cannot be examined: {code}")));
            }
        }
    }
}
