//! Personal content as it stands in an event: ciphertext, or a pointer to ciphertext.
//!
//! The domain never opens it. The shell seals before a record is appended and opens before a fold; where the subject's key has
//! been shredded the content is [`Opened::Redacted`], never an error.

use crate::ids::Digest;
use serde::{Deserialize, Serialize};

/// Encrypted bytes of one subject: nonce, ciphertext and tag, as the subject-key code writes them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Sealed(pub Vec<u8>);

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

impl Serialize for Sealed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Sealed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Sealed;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Sealed, E> {
                Ok(Sealed(bytes.to_vec()))
            }
            fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Sealed, E> {
                Ok(Sealed(bytes))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Sealed, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(Sealed(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

/// Content after opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened<T> {
    /// The content.
    Clear(T),
    /// Its subject's key is gone: the content was erased.
    Redacted,
}

impl<T> Opened<T> {
    /// The content, if it was not erased.
    pub fn clear(self) -> Option<T> {
        match self {
            Self::Clear(content) => Some(content),
            Self::Redacted => None,
        }
    }
}

/// A blob of the artifact store, addressed by the digest of its stored (encrypted) bytes within the owner's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// SHA-256 of the stored bytes.
    pub digest: Digest,
    /// Length of the stored bytes.
    pub size: i64,
}

/// A sequence of frames, each sealed under its own subject's key: the one carrier of everything too large or too mixed for a
/// single sealed field (steps of traces, texts of pairs, scores). Small bundles stand in the record, larger ones in blobs of
/// whole frames.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bundle {
    /// The frames themselves, when the whole bundle is at most [`crate::limits::INLINE_PAYLOAD_BYTES_MAX`] bytes.
    pub inline: Option<Sealed>,
    /// Otherwise the blobs that hold them, in order.
    pub blobs: Vec<BlobRef>,
    /// Number of frames, over all blobs.
    pub frames: i64,
}
