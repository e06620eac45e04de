//! Identifiers. Each kind of thing has a type of its own, so that a trace id can never be passed for a step id.
//!
//! All are UUIDs. Fresh ones are made by the caller (`domain` has no clock and no randomness); derived ones come from
//! [`derive`], which is a pure function, so that the same cause always gives the same id.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
    };
}

id!(
    /// An account. It owns traces and everything made from them; its id picks the partition of the log.
    OwnerId
);
id!(
    /// One command, and so one record of the log. A repeat of it changes nothing.
    CommandId
);
id!(
    /// One import request: the stream of its record.
    ImportId
);
id!(
    /// A trace of one agent run.
    TraceId
);
id!(
    /// A step of a trace; see [`crate::trace::step_id`] for how it is derived.
    StepId
);
id!(
    /// A rating or a comment on a trace or a step.
    AnnotationId
);
id!(
    /// A personal reward model.
    RewardModelId
);
id!(
    /// A scoring of one trace by one model.
    ScoringRunId
);
id!(
    /// A unit of background work.
    JobId
);
id!(
    /// An API key (its public half; the secret is never an id).
    ApiKeyId
);
id!(
    /// What an encryption key belongs to: a trace with all that is derived from it, or another thing that a person wrote.
    SubjectId
);

impl From<TraceId> for SubjectId {
    /// The trace's *identity subject*: its key makes the step ids, the same for every import of the trace. Content is sealed
    /// under [`content_subject`] instead.
    fn from(id: TraceId) -> Self {
        Self(id.0)
    }
}

impl From<RewardModelId> for SubjectId {
    fn from(id: RewardModelId) -> Self {
        Self(id.0)
    }
}

impl From<OwnerId> for SubjectId {
    fn from(id: OwnerId) -> Self {
        Self(id.0)
    }
}

/// Derives an id from a purpose and the parts that cause it: the first 16 bytes of SHA-256 over the length-prefixed parts,
/// marked as a version-8 (custom) UUID of RFC 9562.
pub fn derive(purpose: &str, parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The id of the trace with this external id: the same for every import by this owner, so that a re-import is an update.
pub fn trace_id_of(owner: OwnerId, external_id: &str) -> TraceId {
    TraceId(derive("trace", &[owner.0.as_bytes(), external_id.as_bytes()]))
}

/// The id of the `ordinal`-th trace, among those without an external id, of a source that the importer names: a re-import of the
/// source is an update.
pub fn trace_id_in(owner: OwnerId, source: &str, ordinal: u64) -> TraceId {
    TraceId(derive("trace-of-source", &[owner.0.as_bytes(), source.as_bytes(), &ordinal.to_be_bytes()]))
}

/// The id of the annotation that a judgment made elsewhere becomes: the same at each import of its trace.
pub fn annotation_of_judgment(owner: OwnerId, trace: TraceId, source: &str, key: &str) -> AnnotationId {
    AnnotationId(derive("judgment", &[owner.0.as_bytes(), trace.0.as_bytes(), source.as_bytes(), key.as_bytes()]))
}

/// The id of the `ordinal`-th thing of a kind that a command makes. A retried command makes the same things.
pub fn made_by(command: CommandId, kind: &str, ordinal: u64) -> Uuid {
    derive(kind, &[command.0.as_bytes(), &ordinal.to_be_bytes()])
}

/// The subject that seals what this import brings of a trace, and all that is derived from it afterwards.
pub fn content_subject(import: ImportId, trace: TraceId) -> SubjectId {
    SubjectId(derive("trace-content", &[import.0.as_bytes(), trace.0.as_bytes()]))
}

/// The command id of a request that came with an idempotency key, per owner and route (architecture: write path).
pub fn idempotent_command(owner: OwnerId, route: &str, key: &str) -> CommandId {
    CommandId(derive("idempotency-key", &[owner.0.as_bytes(), route.as_bytes(), key.as_bytes()]))
}

/// A SHA-256 digest; hexadecimal wherever it is text, 32 bytes in binary formats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl std::str::FromStr for Digest {
    type Err = hex::FromHexError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0_u8; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Digest;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a SHA-256 digest: 64 hexadecimal digits, or 32 bytes in a binary format")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Digest, E> {
                bytes.try_into().map(Digest).map_err(E::custom)
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Visitor)
        } else {
            deserializer.deserialize_bytes(Visitor)
        }
    }
}
