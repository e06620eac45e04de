//! The two things that librdkafka knows and its Rust binding does not tell. Both only read.

#![allow(unsafe_code, reason = "the binding has no safe way to ask for them")]

use rdkafka::ClientContext;
use rdkafka::bindings::{self, rd_kafka_msg_status_t, rd_kafka_resp_err_t};
use rdkafka::client::Client;
use rdkafka::message::BorrowedMessage;
use std::ffi::{CString, c_char};
use std::time::Duration;
use uuid::Uuid;

/// Whether a message that failed was surely not written: never sent, or refused by the broker.
pub(super) fn surely_not_written(message: &BorrowedMessage<'_>) -> bool {
    // SAFETY: the pointer is that of a live message, and the call only reads a field of it.
    let status = unsafe { bindings::rd_kafka_message_status(message.ptr()) };
    status == rd_kafka_msg_status_t::RD_KAFKA_MSG_STATUS_NOT_PERSISTED
}

/// The identity that the cluster gave this topic when it was made (KIP-516), or none if there is no such topic. Blocks.
///
/// # Errors
/// The code of the failure.
pub(super) fn topic_id<C: ClientContext>(
    client: &Client<C>,
    topic: &str,
    timeout: Duration,
) -> Result<Option<Uuid>, rd_kafka_resp_err_t> {
    use rd_kafka_resp_err_t::{RD_KAFKA_RESP_ERR__INVALID_ARG, RD_KAFKA_RESP_ERR__TIMED_OUT};
    let name = CString::new(topic).map_err(|_| RD_KAFKA_RESP_ERR__INVALID_ARG)?;
    let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    let mut names: [*const c_char; 1] = [name.as_ptr()];
    let mut error_text: [c_char; 256] = [0; 256];
    // SAFETY: the client outlives the call; every object made here is destroyed here, once, in the reverse order; the names
    // are copied by the collection; what is read from the event is copied before the event is destroyed.
    unsafe {
        let client = client.native_ptr();
        let topics = bindings::rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len());
        let options = bindings::rd_kafka_AdminOptions_new(
            client,
            bindings::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
        );
        bindings::rd_kafka_AdminOptions_set_request_timeout(
            options,
            timeout_ms,
            error_text.as_mut_ptr(),
            error_text.len(),
        );
        let queue = bindings::rd_kafka_queue_new(client);
        bindings::rd_kafka_DescribeTopics(client, topics, options, queue);
        let event = bindings::rd_kafka_queue_poll(queue, timeout_ms);
        let answer = if event.is_null() { Err(RD_KAFKA_RESP_ERR__TIMED_OUT) } else { described_id(event) };
        if !event.is_null() {
            bindings::rd_kafka_event_destroy(event);
        }
        bindings::rd_kafka_queue_destroy(queue);
        bindings::rd_kafka_AdminOptions_destroy(options);
        bindings::rd_kafka_TopicCollection_destroy(topics);
        answer
    }
}

/// The id of the one topic that the event describes.
///
/// # Safety
/// The event must be live.
unsafe fn described_id(event: *mut bindings::rd_kafka_event_t) -> Result<Option<Uuid>, rd_kafka_resp_err_t> {
    use rd_kafka_resp_err_t::{
        RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
    };
    // SAFETY: all pointers come from the live event and are used before it is destroyed; each is tested for null, or comes
    // with a count of at least one.
    unsafe {
        let code = bindings::rd_kafka_event_error(event);
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            return Err(code);
        }
        let result = bindings::rd_kafka_event_DescribeTopics_result(event);
        if result.is_null() {
            return Err(RD_KAFKA_RESP_ERR__BAD_MSG);
        }
        let mut count = 0;
        let topics = bindings::rd_kafka_DescribeTopics_result_topics(result, &raw mut count);
        if topics.is_null() || count == 0 {
            return Err(RD_KAFKA_RESP_ERR__BAD_MSG);
        }
        let topic = *topics;
        match bindings::rd_kafka_error_code(bindings::rd_kafka_TopicDescription_error(topic)) {
            RD_KAFKA_RESP_ERR_NO_ERROR => {}
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART => return Ok(None),
            code => return Err(code),
        }
        let id = bindings::rd_kafka_TopicDescription_topic_id(topic);
        if id.is_null() {
            return Err(RD_KAFKA_RESP_ERR__BAD_MSG);
        }
        let high = bindings::rd_kafka_Uuid_most_significant_bits(id);
        let low = bindings::rd_kafka_Uuid_least_significant_bits(id);
        Ok(Some(Uuid::from_u64_pair(high.cast_unsigned(), low.cast_unsigned())))
    }
}
