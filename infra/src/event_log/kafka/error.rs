//! Which error of Kafka means what for the log. Whether a record that failed may be in the log all the same is not read from
//! the code but from what librdkafka knows of the message (`native::surely_not_written`).

use super::super::LogError;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::time::Duration;

/// The meaning of the failure of a record that was surely not written.
pub(super) fn not_written(error: &KafkaError, size: usize) -> LogError {
    match error.rdkafka_error_code() {
        // The disk of the broker that leads the partition refuses.
        Some(RDKafkaErrorCode::KafkaStorageError) => LogError::Full(error.to_string()),
        Some(RDKafkaErrorCode::MessageSizeTooLarge) => {
            LogError::TooLarge { size, limit: stash_domain::limits::RECORD_BYTES_MAX }
        }
        _ => LogError::Unavailable(error.to_string()),
    }
}

/// The meaning of a failure of anything that does not append.
pub(super) fn asking(error: &KafkaError) -> LogError {
    match error.rdkafka_error_code() {
        Some(
            // A place that the partition does not have (any more), and bytes that do not match their checksum.
            RDKafkaErrorCode::AutoOffsetReset
            | RDKafkaErrorCode::OffsetOutOfRange
            | RDKafkaErrorCode::BadMessage
            | RDKafkaErrorCode::InvalidMessage,
        ) => LogError::Corrupt(error.to_string()),
        _ => LogError::Unavailable(error.to_string()),
    }
}

/// Runs a blocking call of librdkafka where blocking is allowed.
pub(super) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, LogError> {
    match tokio::task::spawn_blocking(call).await {
        Ok(outcome) => outcome,
        Err(error) => Err(LogError::Unavailable(format!("a call of the Kafka client was lost: {error}"))),
    }
}

/// Drops a client where blocking is allowed: it waits for its threads and connections.
pub(super) fn drop_elsewhere<T: Send + 'static>(client: T) {
    // Without a thread to spare, the client is dropped here after all.
    let _ = std::thread::Builder::new().name("kafka-close".into()).spawn(move || drop(client));
}

/// What a question that got no answer in time becomes.
pub(super) fn no_answer(what: &str, after: Duration) -> LogError {
    LogError::Unavailable(format!("no answer from Kafka about {what} within {after:?}"))
}
