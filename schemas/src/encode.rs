//! The way out: domain values to bytes.

use crate::envelope::{EVENTS_PER_APPEND_MAX, Envelope, EventBytes, WireActor, WireAppend, WireStream};
use crate::error::CodecError;
use crate::events::write_event;
use crate::registry::registry;
use stash_domain::annotation::AnnotationText;
use stash_domain::limits::{APPENDS_PER_RECORD_MAX, RECORD_BYTES_MAX};
use stash_domain::record::{Actor, Append, Expected, Record};

/// Room for the small event of a command and the header; larger ones grow.
const EVENT_BYTES_USUAL: usize = 128;

/// Room for the envelope and the event of a small command.
const RECORD_BYTES_USUAL: usize = 512;

/// The bytes of one log record.
///
/// # Errors
/// - [`CodecError::TooLarge`]: more than [`RECORD_BYTES_MAX`] bytes; large payloads belong in blobs.
/// - [`CodecError::InvalidValue`]: more than [`APPENDS_PER_RECORD_MAX`] appends, an append with no events or more than
///   [`EVENTS_PER_APPEND_MAX`], a version beyond what the wire can hold.
pub fn encode_record(record: &Record) -> Result<Vec<u8>, CodecError> {
    if record.appends.len() > APPENDS_PER_RECORD_MAX {
        return Err(CodecError::InvalidValue { field: "appends", reason: "more streams than a record may append to" });
    }
    let (actor, actor_id) = match record.actor {
        Actor::ApiKey(id) => ("api_key", Some(id.0)),
        Actor::System => ("system", None),
    };
    let envelope = Envelope {
        command_id: record.command_id,
        owner_id: record.owner_id,
        request_digest: record.request_digest,
        actor: WireActor { kind: actor.into(), id: actor_id },
        causation_id: record.causation_id,
        correlation_id: record.correlation_id,
        recorded_at: record.recorded_at,
        appends: record.appends.iter().map(wire_append).collect::<Result<_, _>>()?,
    };
    let mut bytes = Vec::with_capacity(RECORD_BYTES_USUAL);
    registry()?.write("record", &envelope, &mut bytes)?;
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(CodecError::TooLarge { bytes: bytes.len(), limit: RECORD_BYTES_MAX });
    }
    Ok(bytes)
}

fn wire_append(append: &Append) -> Result<WireAppend, CodecError> {
    if append.events.is_empty() || append.events.len() > EVENTS_PER_APPEND_MAX {
        return Err(CodecError::InvalidValue { field: "events", reason: "none, or more than an append may hold" });
    }
    let expected = match append.expected {
        Expected::Any => None,
        Expected::Version(version) => Some(
            i64::try_from(version)
                .map_err(|_| CodecError::InvalidValue { field: "expected", reason: "a version is at most 2^63 - 1" })?,
        ),
    };
    let registry = registry()?;
    let events = append
        .events
        .iter()
        .map(|event| {
            let mut bytes = Vec::with_capacity(EVENT_BYTES_USUAL);
            write_event(registry, event, &mut bytes).map(|()| EventBytes(bytes))
        })
        .collect::<Result<_, _>>()?;
    let (kind, id) = append.stream.parts();
    Ok(WireAppend { stream: WireStream { kind: kind.into(), id }, expected, events })
}

/// The bytes of an annotation's text, to be sealed.
///
/// # Errors
/// [`CodecError::TooLarge`] beyond what a record may hold.
pub fn encode_text(text: &AnnotationText) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    registry()?.write("annotation_text", text, &mut bytes)?;
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(CodecError::TooLarge { bytes: bytes.len(), limit: RECORD_BYTES_MAX });
    }
    Ok(bytes)
}
