//! The way in: bytes to domain values, the exact inverse of the way out, for bytes of any origin.

use crate::envelope::{Envelope, WireActor, WireAppend};
use crate::error::CodecError;
use crate::events::read_event;
use crate::registry::{Registry, registry};
use serde::de::DeserializeOwned;
use stash_domain::annotation::AnnotationText;
use stash_domain::ids::ApiKeyId;
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};

/// The record that these bytes of the log hold, its events in their newest versions.
///
/// # Errors
/// Any [`CodecError`]; the bytes are then damaged, foreign or newer than this build.
pub fn decode_record(bytes: &[u8]) -> Result<Record, CodecError> {
    let registry = registry()?;
    let envelope: Envelope = read(registry, "record", bytes)?;
    Ok(Record {
        command_id: envelope.command_id,
        owner_id: envelope.owner_id,
        request_digest: envelope.request_digest,
        actor: actor(&envelope.actor)?,
        causation_id: envelope.causation_id,
        correlation_id: envelope.correlation_id,
        recorded_at: envelope.recorded_at,
        appends: envelope.appends.iter().map(|wire| append(registry, wire)).collect::<Result<_, _>>()?,
    })
}

/// The annotation's text that these opened bytes hold.
///
/// # Errors
/// As [`decode_record`].
pub fn decode_text(bytes: &[u8]) -> Result<AnnotationText, CodecError> {
    read(registry()?, "annotation_text", bytes)
}

fn read<T: DeserializeOwned>(registry: &Registry<'_>, expected: &'static str, bytes: &[u8]) -> Result<T, CodecError> {
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(CodecError::TooLarge { bytes: bytes.len(), limit: RECORD_BYTES_MAX });
    }
    let object = registry.open(bytes)?;
    if object.family() != expected {
        return Err(CodecError::WrongType { expected, found: object.family() });
    }
    object.read()
}

fn actor(wire: &WireActor) -> Result<Actor, CodecError> {
    match (wire.kind.as_ref(), wire.id) {
        ("api_key", Some(id)) => Ok(Actor::ApiKey(ApiKeyId(id))),
        ("system", None) => Ok(Actor::System),
        _ => Err(CodecError::InvalidValue { field: "actor", reason: "expected api_key with an id, or system without" }),
    }
}

fn append(registry: &Registry<'_>, wire: &WireAppend) -> Result<Append, CodecError> {
    let stream = StreamId::from_parts(&wire.stream.kind, wire.stream.id)
        .ok_or(CodecError::InvalidValue { field: "stream", reason: "unknown kind" })?;
    let expected = match wire.expected {
        None => Expected::Any,
        Some(version) => Expected::Version(
            version
                .try_into()
                .map_err(|_| CodecError::InvalidValue { field: "expected", reason: "a version is never negative" })?,
        ),
    };
    if wire.events.is_empty() {
        return Err(CodecError::InvalidValue { field: "events", reason: "an append holds at least one event" });
    }
    let events = wire
        .events
        .iter()
        .map(|event| read_event(&registry.open(&event.0)?))
        .collect::<Result<Vec<_>, CodecError>>()?;
    Ok(Append { stream, expected, events })
}
