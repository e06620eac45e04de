//! Bytes of any origin: never a panic, always a precise error.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use apache_avro::types::Value;
use proptest::prelude::*;
use stash_domain::annotation::AnnotationText;
use stash_domain::ids::Digest;
use stash_domain::limits::{APPENDS_PER_RECORD_MAX, RECORD_BYTES_MAX};
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::{Bundle, Sealed};
use stash_domain::time::Timestamp;
use stash_schemas::gates::sample;
use stash_schemas::registry::{MARKER, parse};
use stash_schemas::sources::SOURCES;
use stash_schemas::{CodecError, decode_record, decode_text, encode_record, encode_text, testing};
use uuid::Uuid;

fn small_record() -> Record {
    let id = Uuid::from_u128(7);
    Record {
        command_id: id.into(),
        owner_id: id.into(),
        request_digest: Digest::of(b""),
        actor: Actor::System,
        causation_id: None,
        correlation_id: id,
        recorded_at: Timestamp(0),
        appends: vec![append(1)],
    }
}

fn append(events: usize) -> Append {
    let event = stash_domain::events::TraceDeleted { trace_id: Uuid::from_u128(7).into() };
    Append {
        stream: StreamId::Trace(Uuid::from_u128(7).into()),
        expected: Expected::Any,
        events: vec![event.into(); events],
    }
}

/// A record under its schema that holds the given value at a path, and what the domain knows everywhere else.
fn record_with(path: &str, value: Value) -> Vec<u8> {
    let schemas = parse(SOURCES).unwrap();
    let schema = schemas.iter().find(|schema| schema.source.family == "record").unwrap();
    let event = include_bytes!("../golden/annotation_created/v1.avro");
    let replace = |at: &str| {
        let text = |text: &str| Some(Value::String(text.to_owned()));
        match at {
            at if at == path => Some(value.clone()),
            "actor.kind" => text("api_key"),
            "appends.stream.kind" => text("annotation"),
            "appends.events" => Some(Value::Array(vec![Value::Bytes(event.to_vec())])),
            _ => None,
        }
    };
    sample::object(&schema.schema, schema.fingerprint, &sample::sample(&schema.schema, &replace).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(decode_record(&bytes).is_err());
        prop_assert!(decode_text(&bytes).is_err());
    }

    #[test]
    fn arbitrary_bytes_under_a_real_fingerprint_do_not_panic(
        which in 0..SOURCES.len(),
        tail in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let fingerprint = parse(SOURCES).unwrap()[which].fingerprint;
        let bytes = [&MARKER[..], &fingerprint.to_le_bytes(), &tail].concat();
        let _ = decode_record(&bytes);
        let _ = decode_text(&bytes);
    }

    #[test]
    fn a_flipped_bit_gives_an_error_or_another_sound_record(record in testing::record(), at in any::<prop::sample::Index>()) {
        let mut bytes = encode_record(&record).unwrap();
        let bit = at.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(other) = decode_record(&bytes) {
            prop_assert_eq!(decode_record(&encode_record(&other).unwrap()).unwrap(), other);
        }
    }

    #[test]
    fn every_cut_is_called_truncated(record in testing::record(), at in any::<prop::sample::Index>()) {
        let bytes = encode_record(&record).unwrap();
        let error = decode_record(&bytes[..at.index(bytes.len())]).unwrap_err();
        prop_assert_eq!(error.code(), "truncated");
    }

    #[test]
    fn bytes_left_over_are_counted(text in testing::annotation_text(), extra in 1_usize..9) {
        let mut bytes = encode_text(&text).unwrap();
        bytes.resize(bytes.len() + extra, 0);
        let expected = CodecError::TrailingBytes { schema: "annotation_text", bytes: extra };
        prop_assert_eq!(decode_text(&bytes).unwrap_err(), expected);
    }
}

#[test]
fn a_foreign_format_is_no_single_object() {
    assert_eq!(decode_record(b"{\"command_id\":1}"), Err(CodecError::NotSingleObject));
}

#[test]
fn a_newer_writers_schema_is_named_by_its_fingerprint() {
    let bytes = [&MARKER[..], &0xfeed_u64.to_le_bytes(), b"datum"].concat();
    assert_eq!(decode_record(&bytes), Err(CodecError::UnknownFingerprint(0xfeed)));
}

#[test]
fn a_text_is_no_record_and_a_record_is_no_event() {
    let text = encode_text(&AnnotationText::default()).unwrap();
    assert_eq!(decode_record(&text), Err(CodecError::WrongType { expected: "record", found: "annotation_text" }));
    let nested = record_with("appends.events", Value::Array(vec![Value::Bytes(text)]));
    assert_eq!(decode_record(&nested), Err(CodecError::WrongType { expected: "an event", found: "annotation_text" }));
}

#[test]
fn values_the_domain_does_not_know_are_refused() {
    let text = |text: &str| Value::String(text.to_owned());
    let none = || Value::Union(0, Box::new(Value::Null));
    decode_record(&record_with("nowhere", Value::Null)).unwrap();
    for (path, value, field) in [
        ("actor.kind", text("somebody"), "actor"),
        ("actor.kind", text("system"), "actor"),
        ("actor.id", none(), "actor"),
        ("appends.stream.kind", text("planet"), "stream"),
        ("appends.expected", Value::Union(1, Box::new(Value::Long(-1))), "expected"),
        ("appends.events", Value::Array(vec![]), "events"),
    ] {
        match decode_record(&record_with(path, value)) {
            Err(CodecError::InvalidValue { field: found, .. }) => assert_eq!(found, field, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn lists_longer_than_their_bound_are_refused_both_ways() {
    let mut record = small_record();
    record.appends = vec![append(1); APPENDS_PER_RECORD_MAX];
    assert_eq!(decode_record(&encode_record(&record).unwrap()).unwrap(), record);
    record.appends.push(append(1));
    assert_eq!(encode_record(&record).unwrap_err().code(), "invalid_value");
    for events in [0, 257] {
        record.appends = vec![append(events)];
        assert_eq!(encode_record(&record).unwrap_err().code(), "invalid_value");
    }
    let event = include_bytes!("../golden/annotation_created/v1.avro").to_vec();
    let many = record_with("appends.events", Value::Array(vec![Value::Bytes(event); 257]));
    assert_eq!(decode_record(&many).unwrap_err().code(), "malformed");
}

#[test]
fn a_version_beyond_the_wire_is_refused() {
    let mut record = small_record();
    record.appends[0].expected = Expected::Version(u64::MAX);
    assert_eq!(encode_record(&record).unwrap_err().code(), "invalid_value");
}

#[test]
fn more_than_a_log_record_is_refused_both_ways() {
    let mut record = small_record();
    record.appends[0].events = vec![
        stash_domain::events::TracesImported {
            import_id: Uuid::nil().into(),
            source_format: String::new(),
            trace_count: 0,
            step_count: 0,
            bundle: Bundle { inline: Some(Sealed(vec![0; RECORD_BYTES_MAX])), blobs: vec![], frames: 0 },
        }
        .into(),
    ];
    assert_eq!(encode_record(&record).unwrap_err().code(), "record_too_large");
    assert_eq!(decode_record(&vec![0; RECORD_BYTES_MAX + 1]).unwrap_err().code(), "record_too_large");
    let text = AnnotationText { comment: Some("x".repeat(RECORD_BYTES_MAX)), ..AnnotationText::default() };
    assert_eq!(encode_text(&text).unwrap_err().code(), "record_too_large");
}

#[test]
fn an_error_never_quotes_content() {
    let text = AnnotationText { comment: Some("the secret".into()), ..AnnotationText::default() };
    let bytes = encode_text(&text).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = decode_text(&damaged) {
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }
}
