//! The envelope of a record as its schema `record` has it. Events are bytes here: each is a single object of its own, so that an
//! event gets a new version without one of the envelope.

use serde::de::{self, DeserializeOwned, SeqAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stash_domain::ids::{CommandId, Digest, OwnerId};
use stash_domain::limits::APPENDS_PER_RECORD_MAX;
use stash_domain::time::Timestamp;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use uuid::Uuid;

/// Events of one append. With the bound on appends, a record of the tiniest events takes at most some 5 MiB once decoded
/// (64 × 256 events of about 200 bytes, and their bytes).
pub const EVENTS_PER_APPEND_MAX: usize = 256;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "Record")]
pub(crate) struct Envelope {
    pub(crate) command_id: CommandId,
    pub(crate) owner_id: OwnerId,
    pub(crate) request_digest: Digest,
    pub(crate) actor: WireActor,
    pub(crate) causation_id: Option<CommandId>,
    pub(crate) correlation_id: Uuid,
    pub(crate) recorded_at: Timestamp,
    #[serde(deserialize_with = "at_most::<APPENDS_PER_RECORD_MAX, _, _>")]
    pub(crate) appends: Vec<WireAppend>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "Actor")]
pub(crate) struct WireActor {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) id: Option<Uuid>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "Append")]
pub(crate) struct WireAppend {
    pub(crate) stream: WireStream,
    pub(crate) expected: Option<i64>,
    #[serde(deserialize_with = "at_most::<EVENTS_PER_APPEND_MAX, _, _>")]
    pub(crate) events: Vec<EventBytes>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename = "Stream")]
pub(crate) struct WireStream {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) id: Uuid,
}

/// One event as a single object.
#[derive(Debug)]
pub(crate) struct EventBytes(pub(crate) Vec<u8>);

impl Serialize for EventBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for EventBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = EventBytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<EventBytes, E> {
                Ok(EventBytes(bytes.to_vec()))
            }
            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<EventBytes, E> {
                Ok(EventBytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

/// Reads a list that stops at a bound, before memory is spent on more.
fn at_most<'de, const MAX: usize, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Visitor<const MAX: usize, T>(PhantomData<T>);
    impl<'de, const MAX: usize, T: DeserializeOwned> de::Visitor<'de> for Visitor<MAX, T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX} items")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(MAX));
            while let Some(item) = items.next_element()? {
                if list.len() == MAX {
                    return Err(de::Error::invalid_length(MAX, &self));
                }
                list.push(item);
            }
            Ok(list)
        }
    }
    deserializer.deserialize_seq(Visitor::<MAX, T>(PhantomData))
}
