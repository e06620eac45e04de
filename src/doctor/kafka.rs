//! The brokers of the event log can be reached. Nothing is asked of them, since a question about a topic may make it.

use super::Finding;
use stash_infra::config::{LogBackend, Settings};
use std::time::Duration;
use tokio::net::TcpStream;

const CHECK: &str = "event log";

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// Looks at the brokers; none if the log is not in Kafka.
pub(super) async fn check(settings: &Settings) -> Option<Finding> {
    if settings.log.backend != LogBackend::Kafka {
        return None;
    }
    let brokers = settings.log.kafka.as_ref()?.brokers.as_str();
    let mut away = Vec::new();
    let mut reached = 0;
    for broker in brokers.split(',').map(str::trim) {
        match tokio::time::timeout(CONNECT_MAX, TcpStream::connect(broker)).await {
            Ok(Ok(_)) => reached += 1,
            Ok(Err(error)) => away.push(format!("{broker}: {error}")),
            Err(_) => away.push(format!("{broker}: no answer")),
        }
    }
    let cure = "start the brokers, or mend STASH_KAFKA_BROKERS";
    Some(match (reached, away.is_empty()) {
        (0, _) => Finding::broken(CHECK, format!("no broker of Kafka is reached: {}", away.join("; ")), cure),
        (_, true) => Finding::ok(CHECK, format!("in Kafka at {brokers}")),
        (_, false) => Finding::warning(CHECK, format!("some brokers of Kafka are away: {}", away.join("; ")), cure),
    })
}
