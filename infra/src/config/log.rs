//! The event log.

use super::environment::{Environment, SettingError};
use super::kinds::{Choice, Count, Setting, Text};
use stash_domain::position::PARTITIONS_DEFAULT;

/// Where the event log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogBackend {
    /// In a table of the database.
    Postgres,
    /// In a Kafka topic.
    Kafka,
}

const LOG: Choice<LogBackend> = Choice {
    name: "STASH_LOG",
    default: "`postgres`",
    choices: &[("postgres", LogBackend::Postgres), ("kafka", LogBackend::Kafka)],
    doc: "Where the event log is kept. Changing it does not move an existing log.",
};

const BROKERS: Text = Text {
    name: "STASH_KAFKA_BROKERS",
    default: "not set; needed with `STASH_LOG=kafka`",
    allowed: "a list such as `kafka-1:9092,kafka-2:9092`",
    secret: false,
    is_valid: |text| text.split(',').all(is_broker),
    doc: "Kafka brokers to begin with; the others are found through them.",
};

const TOPIC: Text = Text {
    name: "STASH_KAFKA_TOPIC",
    default: TOPIC_DEFAULT,
    allowed: "1 to 249 characters of `A`-`Z`, `a`-`z`, `0`-`9`, `.`, `_` and `-`",
    secret: false,
    is_valid: |text| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        (1..=249).contains(&text.len()) && text.bytes().all(allowed) && text != "." && text != ".."
    },
    doc: "The topic that holds the event log.",
};

const TOPIC_DEFAULT: &str = "stash-log";

const PARTITIONS: Count = Count {
    name: "STASH_LOG_PARTITIONS",
    default: PARTITIONS_DEFAULT as u64,
    min: 1,
    max: 1024,
    unit: "partitions",
    doc: "Partitions of a log that is made now; an existing log keeps its own. All of an owner's events are in one.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&LOG, &BROKERS, &TOPIC, &PARTITIONS];

/// The event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Where it is kept.
    pub backend: LogBackend,
    /// How Kafka is reached; there if the log is kept in it, or brokers are named.
    pub kafka: Option<KafkaSettings>,
    /// Partitions of a log that is made now.
    pub partitions: u16,
}

/// How Kafka is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaSettings {
    /// Brokers to begin with, separated by commas.
    pub brokers: String,
    /// The topic.
    pub topic: String,
}

impl LogSettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`]; among others when the log is kept in Kafka and no broker is named.
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        let backend = LOG.read(environment)?.unwrap_or(LogBackend::Postgres);
        let topic = TOPIC.read(environment)?.unwrap_or_else(|| TOPIC_DEFAULT.to_owned());
        let kafka = BROKERS.read(environment)?.map(|brokers| KafkaSettings { brokers, topic });
        if backend == LogBackend::Kafka && kafka.is_none() {
            let value = "no value, with STASH_LOG=kafka,".to_owned();
            return Err(SettingError { name: BROKERS.name, value, allowed: BROKERS.allowed.to_owned() });
        }
        let partitions = u16::try_from(PARTITIONS.read(environment)?).unwrap_or(PARTITIONS_DEFAULT);
        Ok(Self { backend, kafka, partitions })
    }
}

/// Whether a text is `host:port`.
fn is_broker(text: &str) -> bool {
    text.trim().rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains(char::is_whitespace) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}
