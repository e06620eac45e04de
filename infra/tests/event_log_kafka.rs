//! What is particular to the event log in Kafka: which topics it refuses, and brokers that are killed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod event_log_support;

use event_log_support::{Clients, PARTITIONS, PATIENCE, record};
use futures::future::join_all;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use stash_domain::position::LogId;
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::{EventLog, LogError};
use stash_infra::testing::{self, Kafka};
use std::sync::Arc;

fn settings(topic: &str) -> KafkaSettings {
    KafkaSettings::new(tokio::task::block_in_place(testing::kafka).bootstrap(), topic)
}

fn admin(settings: &KafkaSettings) -> AdminClient<DefaultClientContext> {
    ClientConfig::new().set("bootstrap.servers", &settings.bootstrap).create().unwrap()
}

async fn delete(settings: &KafkaSettings, topics: &[&str]) {
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    for outcome in admin(settings).delete_topics(topics, &options).await.unwrap() {
        outcome.unwrap();
    }
}

/// Why the log cannot be opened.
async fn refusal(settings: &KafkaSettings) -> String {
    match KafkaLog::open(settings.clone(), PARTITIONS).await {
        Err(LogError::Corrupt(text)) => text,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_would_lose_records_is_refused() {
    let settings = settings("expiring");
    KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap();
    for (key, wrong, right) in [
        ("retention.ms", "604800000", "-1"),
        ("cleanup.policy", "compact", "delete"),
        ("message.timestamp.type", "CreateTime", "LogAppendTime"),
        ("max.message.bytes", "1048588", "2162688"),
    ] {
        for (value, fits) in [(wrong, false), (right, true)] {
            let config = settings_of("expiring", key, value);
            let changed = admin(&settings).alter_configs([&config], &AdminOptions::new()).await.unwrap();
            changed.into_iter().next().unwrap().unwrap();
            if fits {
                KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap();
            } else {
                let text = refusal(&settings).await;
                assert!(text.contains(&format!("{key}={wrong}")), "{text}");
            }
        }
    }
}

/// The whole configuration of a topic of ours, with one entry changed: an alteration replaces all.
fn settings_of<'a>(topic: &'a str, key: &'a str, value: &'a str) -> AlterConfig<'a> {
    let ours = [
        ("cleanup.policy", "delete"),
        ("retention.ms", "-1"),
        ("retention.bytes", "-1"),
        ("message.timestamp.type", "LogAppendTime"),
        ("max.message.bytes", "2162688"),
        ("compression.type", "producer"),
        ("unclean.leader.election.enable", "false"),
    ];
    let mut config = AlterConfig::new(ResourceSpecifier::Topic(topic));
    for (name, usual) in ours {
        config = config.set(name, if name == key { value } else { usual });
    }
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_made_again_is_not_the_log() {
    let settings = settings("again");
    let log = KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap();
    log.append(vec![record(0, "old"), record(1, "old")]).await.unwrap();
    let old = log.id();
    drop(log);

    delete(&settings, &["again"]).await;
    let text = refusal(&settings).await;
    assert!(text.contains("deleted and made again") && text.contains("again-meta"), "{text}");

    delete(&settings, &["again", "again-meta"]).await;
    let new = KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap();
    assert_ne!(new.id(), old);
    new.append(vec![record(0, "new")]).await.unwrap();

    delete(&settings, &["again-meta"]).await;
    let text = refusal(&settings).await;
    assert!(text.contains("does not say of what log"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_with_more_partitions_than_it_was_made_with_is_refused() {
    let settings = settings("grown");
    KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap();
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    let more = admin(&settings).create_partitions([&NewPartitions::new("grown", 5)], &options).await.unwrap();
    more.into_iter().next().unwrap().unwrap();
    let mut text = String::new();
    // The cluster takes a moment to say so everywhere.
    while !text.contains("5 partitions where the log was made with 4") {
        match KafkaLog::open(settings.clone(), PARTITIONS).await {
            Ok(_) | Err(LogError::Unavailable(_)) => {}
            Err(error) => text = error.to_string(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_somebody_else_are_refused() {
    let settings = settings("foreign");
    let mut topic = NewTopic::new("foreign", 4, TopicReplication::Fixed(1));
    for (key, value) in [
        ("cleanup.policy", "delete"),
        ("retention.ms", "-1"),
        ("retention.bytes", "-1"),
        ("message.timestamp.type", "LogAppendTime"),
        ("max.message.bytes", "2162688"),
        ("unclean.leader.election.enable", "false"),
        ("compression.type", "producer"),
    ] {
        topic = topic.set(key, value);
    }
    let made = admin(&settings).create_topics([&topic], &AdminOptions::new()).await.unwrap();
    made.into_iter().next().unwrap().unwrap();
    let producer: rdkafka::producer::FutureProducer =
        ClientConfig::new().set("bootstrap.servers", &settings.bootstrap).create().unwrap();
    let message = rdkafka::producer::FutureRecord::to("foreign").key("k").payload("not ours").partition(2);
    producer.send(message, PATIENCE).await.unwrap();
    let text = refusal(&settings).await;
    assert!(text.contains("does not say of what log"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_moves_in_keeps_its_id() {
    let id = LogId(uuid::Uuid::from_u128(0x1234));
    let settings = settings("moved");
    assert_eq!(KafkaLog::open_as(settings.clone(), PARTITIONS, id).await.unwrap().id(), id);
    assert_eq!(KafkaLog::open(settings.clone(), PARTITIONS).await.unwrap().id(), id);
    let other = LogId(uuid::Uuid::from_u128(0x5678));
    assert_eq!(KafkaLog::open_as(settings, PARTITIONS, other).await.unwrap().id(), id);
}

#[tokio::test]
async fn without_a_broker_opening_is_unavailable() {
    // Port 1 of this machine: nothing listens there.
    let outcome = KafkaLog::open(KafkaSettings::new("127.0.0.1:1", "nowhere"), PARTITIONS).await.map(|_| ());
    assert!(matches!(outcome, Err(LogError::Unavailable(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn brokers_killed_under_load_lose_nothing_acknowledged() {
    const CLIENTS: usize = 16;
    let cluster = tokio::task::block_in_place(|| Kafka::start(3));
    let mut settings = KafkaSettings::new(cluster.bootstrap(), "killed");
    settings.replication = 3;
    settings.min_insync_replicas = Some(2);
    // Any of the three may be asked about a topic just made, also one that has not heard of it.
    let opening = (0..8).map(|new| KafkaSettings { topic: format!("new-{new}"), ..settings.clone() });
    for opened in join_all(opening.map(|settings| KafkaLog::open(settings, PARTITIONS))).await {
        opened.unwrap();
    }
    let log = Arc::new(KafkaLog::open(settings, PARTITIONS).await.unwrap());
    let clients = Clients::start(log, CLIENTS);
    for broker in 1..=2 {
        // With two of three brokers the log goes on; with all again, the next may go.
        clients.go_on_for(300).await;
        tokio::task::block_in_place(|| cluster.kill(broker));
        clients.go_on_for(300).await;
        tokio::task::block_in_place(|| cluster.start_again());
    }
    clients.go_on_for(300).await;
    clients.stop_and_compare().await;
}
