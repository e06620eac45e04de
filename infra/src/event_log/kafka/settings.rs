//! How the clients and the topic of the log are configured, and why.

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use stash_domain::limits::RECORD_BYTES_MAX;
use std::collections::BTreeMap;
use std::time::Duration;

/// Bytes of one message or batch, on the client and on the topic: the largest record, its key, headers and the batch's own
/// frame, with room for what zstd adds to bytes that do not compress.
pub(super) const MESSAGE_BYTES_MAX: usize = RECORD_BYTES_MAX + 64 * 1024;

/// Bytes of records that wait or are in flight, over all callers. Callers wait for room here, so librdkafka's own queue, which
/// has twice as much, never refuses.
pub(super) const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Counted for each record beside its key and value. It also bounds their number, to 64 Ki: well below
/// `queue.buffering.max.messages`.
pub(super) const RECORD_OVERHEAD_BYTES: usize = 1024;

/// Kilobytes that a reader holds fetched and not yet read.
const FETCHED_KBYTES_MAX: usize = 16 * 1024;

/// Longest wait for an answer to a question (metadata, tails, configuration).
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Milliseconds that a record waits for others of its partition. Each batch is a request of its own to the broker: with 64
/// clients, 1 ms halves the requests and gives up to twice the records per second on a busy machine; a lone client waits the
/// millisecond.
const LINGER_MS: &str = "1";

/// Where the log is in Kafka.
#[derive(Clone, Debug)]
pub struct KafkaSettings {
    /// Addresses of some brokers, `host:port,…`.
    pub bootstrap: String,
    /// The topic. Beside it there is `<topic>-meta`, which holds the log's identity.
    pub topic: String,
    /// Copies of each partition when the topic is made; -1 for the cluster's default.
    pub replication: i32,
    /// Copies that must have a record before it is acknowledged, when the topic is made; none for the cluster's default. With
    /// three copies, 2: a single broker that acknowledges alone does not wait for its disk, and a power cut may lose records.
    pub min_insync_replicas: Option<u16>,
    /// After this long, a record that could not be delivered fails; less than twice the longest wait of a caller.
    pub delivery_timeout: Duration,
    /// Further client properties of librdkafka, such as those of security. They cannot override those that the log relies on.
    pub properties: BTreeMap<String, String>,
}

impl KafkaSettings {
    /// The topic on these brokers, everything else as by default.
    pub fn new(bootstrap: impl Into<String>, topic: impl Into<String>) -> Self {
        Self {
            bootstrap: bootstrap.into(),
            topic: topic.into(),
            replication: -1,
            min_insync_replicas: None,
            delivery_timeout: Duration::from_secs(10),
            properties: BTreeMap::new(),
        }
    }

    /// The topic of the log's identity.
    pub(super) fn meta_topic(&self) -> String {
        format!("{}-meta", self.topic)
    }

    /// What every client has.
    pub(super) fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        for (name, value) in &self.properties {
            config.set(name, value);
        }
        config
            .set_log_level(RDKafkaLogLevel::Warning)
            .set("bootstrap.servers", &self.bootstrap)
            .set("client.id", "stash")
            .set("socket.keepalive.enable", "true")
            .set("socket.timeout.ms", QUERY_TIMEOUT.as_millis().to_string())
            .set("socket.connection.setup.timeout.ms", "5000")
            // A broker that comes back is found within a second, and is not beset while it is away.
            .set("reconnect.backoff.ms", "50")
            .set("reconnect.backoff.max.ms", "1000");
        config
    }

    /// A client that appends. librdkafka's own defaults are not safe: it neither waits for all copies' order nor removes the
    /// duplicates of its retries.
    pub(super) fn producer(&self) -> ClientConfig {
        let mut config = self.client();
        config
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("compression.codec", "zstd")
            .set("message.max.bytes", MESSAGE_BYTES_MAX.to_string())
            .set("message.timeout.ms", self.delivery_timeout.as_millis().to_string())
            .set("request.timeout.ms", self.delivery_timeout.as_millis().to_string())
            .set("queue.buffering.max.messages", "100000")
            .set("queue.buffering.max.kbytes", (2 * QUEUE_BYTES_MAX / 1024).to_string())
            .set("linger.ms", LINGER_MS);
        config
    }

    /// A client that reads partitions that it assigns itself. It needs a group's name but joins none and commits nothing.
    pub(super) fn reader(&self) -> ClientConfig {
        let mut config = self.client();
        config
            .set("group.id", "stash-log-reader")
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            // A place that is not there is an error, never a silent jump to the end.
            .set("auto.offset.reset", "error")
            .set("check.crcs", "true")
            .set("allow.auto.create.topics", "false")
            .set("fetch.max.bytes", (FETCHED_KBYTES_MAX * 1024).to_string())
            .set("queued.max.messages.kbytes", FETCHED_KBYTES_MAX.to_string())
            // Once the reader has caught up with what was fetched, or after an error, ask again soon.
            .set("fetch.queue.backoff.ms", "20")
            .set("fetch.error.backoff.ms", "100");
        config
    }

    /// A client that asks for metadata, tails and times.
    pub(super) fn query(&self) -> ClientConfig {
        let mut config = self.client();
        config.set("allow.auto.create.topics", "false");
        config
    }

    /// The configuration of a topic of ours: nothing in it ever expires or is compacted away, and the log gives the time.
    pub(super) fn topic_config(&self) -> Vec<(&'static str, String)> {
        let mut config = vec![
            ("cleanup.policy", "delete".to_owned()),
            ("retention.ms", "-1".to_owned()),
            ("retention.bytes", "-1".to_owned()),
            ("message.timestamp.type", "LogAppendTime".to_owned()),
            ("max.message.bytes", MESSAGE_BYTES_MAX.to_string()),
            ("compression.type", "producer".to_owned()),
            ("unclean.leader.election.enable", "false".to_owned()),
        ];
        if let Some(copies) = self.min_insync_replicas {
            config.push(("min.insync.replicas", copies.to_string()));
        }
        config
    }
}
