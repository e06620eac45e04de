//! The producer and the reader against librdkafka's mock brokers: errors that a real broker gives only by chance.

use super::super::{LogError, LogReader as _, NewRecord};
use super::producer::Producer;
use super::query::Query;
use super::reader::Reader;
use super::settings::KafkaSettings;
use bytes::Bytes;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use stash_domain::position::{Offset, Partition};
use std::time::Duration;

const TOPIC: &str = "log";
const PATIENCE: Duration = Duration::from_secs(60);

/// The delivery timeout of these tests.
const DELIVERY: Duration = Duration::from_secs(2);

fn record(text: &str) -> NewRecord {
    NewRecord { partition: Partition(0), key: Bytes::from_static(b"owner"), value: Bytes::from(text.to_owned()) }
}

/// One mock broker with the topic, and a producer for it.
fn mock() -> (MockCluster<'static, DefaultProducerContext>, KafkaSettings, Producer) {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 1, 1).unwrap();
    let mut settings = KafkaSettings::new(cluster.bootstrap_servers(), TOPIC);
    settings.delivery_timeout = DELIVERY;
    let producer = Producer::start(&settings, TOPIC, 1).unwrap();
    (cluster, settings, producer)
}

async fn offset_of(producer: &Producer, text: &str) -> Result<u64, LogError> {
    producer.append(vec![record(text)]).await.map(|positions| positions[0].offset.0)
}

#[tokio::test]
async fn a_passing_error_is_tried_again_and_leaves_one_record() {
    let (cluster, _settings, producer) = mock();
    assert_eq!(offset_of(&producer, "first").await, Ok(0));
    cluster.request_errors(
        RDKafkaApiKey::Produce,
        &[
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        ],
    );
    assert_eq!(offset_of(&producer, "second").await, Ok(1));
    assert_eq!(offset_of(&producer, "third").await, Ok(2));
}

#[tokio::test]
async fn a_refusal_is_surely_not_appended() {
    let (cluster, _settings, producer) = mock();
    cluster.request_errors(RDKafkaApiKey::Produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_INVALID_RECORD]);
    let refused = offset_of(&producer, "refused").await;
    assert!(matches!(refused, Err(LogError::Unavailable(_))), "{refused:?}");
    cluster.request_errors(RDKafkaApiKey::Produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE]);
    let too_large = offset_of(&producer, "large").await;
    assert!(matches!(too_large, Err(LogError::TooLarge { size: 5, .. })), "{too_large:?}");
    assert_eq!(offset_of(&producer, "taken").await, Ok(0));
}

#[tokio::test]
async fn too_few_copies_for_too_long_is_surely_not_appended() {
    let (cluster, _settings, producer) = mock();
    let refusals = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS; 200];
    cluster.request_errors(RDKafkaApiKey::Produce, &refusals);
    let refused = offset_of(&producer, "refused").await;
    assert!(matches!(refused, Err(LogError::Unavailable(_))), "{refused:?}");
    cluster.clear_request_errors(RDKafkaApiKey::Produce);
    assert_eq!(offset_of(&producer, "taken").await, Ok(0));
}

#[tokio::test]
async fn no_answer_in_time_is_unknown() {
    let (cluster, _settings, producer) = mock();
    assert_eq!(offset_of(&producer, "first").await, Ok(0));
    cluster.broker_round_trip_time(-1, DELIVERY * 4).unwrap();
    let unknown = offset_of(&producer, "slow").await;
    assert!(matches!(unknown, Err(LogError::Unknown(_))), "{unknown:?}");
}

#[tokio::test]
async fn without_a_broker_calls_are_refused_and_later_taken_again() {
    let (cluster, settings, producer) = mock();
    assert_eq!(offset_of(&producer, "before").await, Ok(0));
    let from = [(Partition(0), Offset(1))];
    let mut reader = Reader::new(&settings, Query::new(&settings).unwrap(), &from).unwrap();
    cluster.broker_down(-1).unwrap();
    // What was handed to a connection that broke unnoticed may have arrived: only the first call may not know.
    let first = offset_of(&producer, "away").await;
    assert!(matches!(first, Err(LogError::Unavailable(_) | LogError::Unknown(_))), "{first:?}");
    for _ in 0..2 {
        let refused = offset_of(&producer, "away").await;
        assert!(matches!(refused, Err(LogError::Unavailable(_))), "{refused:?}");
    }
    let unread = reader.next(10, PATIENCE).await;
    assert!(matches!(unread, Err(LogError::Unavailable(_))), "{unread:?}");

    cluster.broker_up(-1).unwrap();
    let back = tokio::time::timeout(PATIENCE, async {
        loop {
            match offset_of(&producer, "back").await {
                Err(LogError::Unavailable(_)) => tokio::task::yield_now().await,
                outcome => return outcome,
            }
        }
    });
    assert_eq!(back.await.unwrap(), Ok(1));
}

#[tokio::test]
async fn a_place_that_is_gone_is_damage_for_good() {
    let (_cluster, settings, producer) = mock();
    assert_eq!(offset_of(&producer, "only").await, Ok(0));
    let from = [(Partition(0), Offset(5))];
    let mut reader = Reader::new(&settings, Query::new(&settings).unwrap(), &from).unwrap();
    for _ in 0..2 {
        let damage = reader.next(10, PATIENCE).await;
        assert!(matches!(damage, Err(LogError::Corrupt(_))), "{damage:?}");
    }
}

#[tokio::test]
async fn an_offset_given_twice_means_another_topic() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 1, 1).unwrap();
    cluster.create_topic("other", 1, 1).unwrap();
    let settings = KafkaSettings::new(cluster.bootstrap_servers(), TOPIC);
    let mut producer = Producer::start(&settings, TOPIC, 1).unwrap();
    assert_eq!(offset_of(&producer, "a").await, Ok(0));
    // As if the topic had been made anew under the same name.
    producer.redirect("other");
    assert!(matches!(offset_of(&producer, "b").await, Err(LogError::Unknown(_))));
    assert!(matches!(offset_of(&producer, "c").await, Err(LogError::Corrupt(_))));
}
