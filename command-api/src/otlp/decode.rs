//! From a request's bytes to spans and log records, the same whether they came as protobuf or as JSON.

use super::respond::{Encoding, Signal};
use bytes::Bytes;
use stash_domain::otel::json::{self, Decoded};
use stash_domain::otel::{check_log_messages, check_messages, protobuf};

/// Decodes a request and checks the messages in it.
///
/// # Errors
/// What is wrong, in words: the request cannot be read, or messages of a model's call in it cannot.
pub(super) fn decode(bytes: Bytes, encoding: Encoding, signal: Signal) -> Result<Decoded, String> {
    let mut decoded = match encoding {
        // What has no field set is no byte in protobuf, and may be an empty object in JSON.
        Encoding::Json if is_empty_object(&bytes) => Decoded::default(),
        Encoding::Json => json::decode(&bytes).map_err(|error| error.to_string())?,
        Encoding::Protobuf => match signal {
            Signal::Traces => protobuf::decode_traces(bytes),
            Signal::Logs => protobuf::decode_logs(bytes),
        }
        .map_err(|error| error.to_string())?,
    };
    // Each signal has a path of its own; what came on the other one's is not taken.
    match signal {
        Signal::Traces => decoded.logs.clear(),
        Signal::Logs => decoded.spans.clear(),
    }
    decoded.spans.iter().try_for_each(check_messages).map_err(|fault| fault.to_string())?;
    decoded.logs.iter().try_for_each(check_log_messages).map_err(|fault| fault.to_string())?;
    Ok(decoded)
}

fn is_empty_object(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    rest.next() == Some(&b'{') && rest.next() == Some(&b'}') && rest.next().is_none()
}
