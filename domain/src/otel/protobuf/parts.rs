//! Counts what the messages of a request will take in memory, on its bytes.
//!
//! A message takes two bytes in protobuf if it is empty, and some hundred in memory. So the fields that hold messages are walked
//! before anything is decoded. What is malformed ends the count: decoding will say what is wrong.

/// A message whose fields may hold messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    TracesRequest,
    LogsRequest,
    ResourceSpans,
    ResourceLogs,
    ScopeSpans,
    ScopeLogs,
    Span,
    LogRecord,
    Event,
    Link,
    Status,
    /// A resource, or what holds values as it does.
    Resource,
    Scope,
    KeyValue,
    AnyValue,
    ArrayValue,
    KeyValueList,
}

/// Levels that are walked; the decoder refuses more than 100 below the request.
const DEPTH_MAX: usize = 128;

impl Message {
    /// The message that a field holds.
    fn of_field(self, number: u64) -> Option<Self> {
        Some(match (self, number) {
            (Self::TracesRequest, 1) => Self::ResourceSpans,
            (Self::LogsRequest, 1) => Self::ResourceLogs,
            (Self::ResourceSpans | Self::ResourceLogs, 1) => Self::Resource,
            (Self::ResourceSpans, 2 | 1000) => Self::ScopeSpans,
            (Self::ResourceLogs, 2) => Self::ScopeLogs,
            (Self::ScopeSpans | Self::ScopeLogs, 1) => Self::Scope,
            (Self::ScopeSpans, 2) => Self::Span,
            (Self::ScopeLogs, 2) => Self::LogRecord,
            (Self::Span, 9) | (Self::LogRecord, 6) | (Self::Event | Self::Scope, 3) => Self::KeyValue,
            (Self::Span, 11) => Self::Event,
            (Self::Span, 13) => Self::Link,
            (Self::Span, 15) => Self::Status,
            (Self::LogRecord, 5) | (Self::KeyValue, 2) | (Self::ArrayValue, 1) => Self::AnyValue,
            (Self::Resource | Self::KeyValueList, 1) => Self::KeyValue,
            (Self::AnyValue, 5) => Self::ArrayValue,
            (Self::AnyValue, 6) => Self::KeyValueList,
            _ => return None,
        })
    }

    /// What it takes, decoded and as it is kept, in parts of 64 bytes; lists of messages grow by doubling.
    fn parts(self) -> usize {
        match self {
            Self::TracesRequest | Self::LogsRequest => 0,
            Self::Span => 16,
            Self::LogRecord => 12,
            Self::ResourceSpans | Self::ResourceLogs | Self::ScopeSpans | Self::ScopeLogs | Self::KeyValue => 4,
            Self::Event => 5,
            Self::Link | Self::AnyValue => 2,
            Self::Status | Self::Resource | Self::Scope | Self::ArrayValue | Self::KeyValueList => 1,
        }
    }
}

/// Counts the parts of a message, its own included; it stops soon after `parts_max`.
pub(super) fn count(bytes: &[u8], message: Message, parts_max: usize) -> usize {
    let mut counting = Counting { parts: message.parts(), parts_max };
    counting.fields(bytes, message, DEPTH_MAX);
    counting.parts
}

struct Counting {
    parts: usize,
    parts_max: usize,
}

impl Counting {
    /// Walks the fields of a message. None where it is malformed, or enough was counted.
    fn fields(&mut self, mut rest: &[u8], message: Message, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        // Groups are of no use here; what stands in one is passed over, as the decoder does.
        let mut groups = 0_usize;
        while !rest.is_empty() {
            let key = varint(&mut rest)?;
            match key & 7 {
                0 => {
                    varint(&mut rest)?;
                }
                1 => take(&mut rest, 8).map(drop)?,
                2 => {
                    let length = usize::try_from(varint(&mut rest)?).ok()?;
                    let field = take(&mut rest, length)?;
                    if let Some(inner) = message.of_field(key >> 3).filter(|_| groups == 0) {
                        self.parts = self.parts.saturating_add(inner.parts());
                        if self.parts > self.parts_max {
                            return None;
                        }
                        self.fields(field, inner, depth)?;
                    }
                }
                3 => groups += 1,
                4 => groups = groups.checked_sub(1)?,
                5 => take(&mut rest, 4).map(drop)?,
                _ => return None,
            }
        }
        Some(())
    }
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in 0..10 {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        value |= u64::from(byte & 0x7F).checked_shl(7 * shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otel::protobuf::messages as proto;
    use prost::Message as _;

    fn value(text: &str) -> Option<proto::AnyValue> {
        Some(proto::AnyValue { value: Some(proto::Value::Text(text.to_owned().into())) })
    }

    #[test]
    fn messages_are_counted_wherever_they_stand() {
        let inner = vec![proto::KeyValue { key: "k".into(), value: value("v") }; 3];
        let map = proto::AnyValue { value: Some(proto::Value::Map(proto::KeyValueList { values: inner.clone() })) };
        let array = proto::ArrayValue { values: vec![map, proto::AnyValue::default()] };
        let attribute = proto::KeyValue {
            key: "a".into(),
            value: Some(proto::AnyValue { value: Some(proto::Value::Array(array)) }),
        };
        let span = proto::Span {
            name: "x".repeat(300).into(),
            start_time_unix_nano: 7,
            kind: 3,
            attributes: vec![attribute],
            events: vec![proto::Event { attributes: inner, ..proto::Event::default() }],
            ..proto::Span::default()
        };
        let scope_spans = vec![proto::ScopeSpans { scope: None, spans: vec![span.clone(), span] }];
        let old = vec![proto::ScopeSpans::default()];
        let resource_spans =
            vec![proto::ResourceSpans { resource: None, scope_spans, instrumentation_library_spans: old }];
        let bytes = proto::TracesRequest { resource_spans }.encode_to_vec();
        let entries = 3 * (4 + 2);
        let span = 16 + (4 + 2 + 1 + 2 + 1 + entries + 2) + (5 + entries);
        assert_eq!(count(&bytes, Message::TracesRequest, usize::MAX), 4 + 4 + 4 + 2 * span);
        assert!(count(&bytes, Message::TracesRequest, 30) > 30);
    }

    #[test]
    fn what_stands_in_a_group_or_is_malformed_counts_nothing() {
        // A group in field 9 around a resource, then a resource.
        let resource = [0x0A, 0x00];
        let group = [&[0x4B][..], &resource, &[0x4C], &resource].concat();
        assert_eq!(count(&group, Message::TracesRequest, usize::MAX), 4);
        for malformed in [&[0x0A][..], &[0x0A, 0x05, 0x00], &[0x4C], &[0xFF; 12], &[0x0F]] {
            assert_eq!(count(malformed, Message::TracesRequest, usize::MAX), 0, "{malformed:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            count(&bytes, Message::TracesRequest, usize::MAX);
            count(&bytes, Message::LogsRequest, usize::MAX);
        }
    }
}
