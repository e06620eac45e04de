//! Older versions reach the newest step by step. The schemas here are made up, since the real ones have one version as yet.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use apache_avro::types::Value;
use serde::{Deserialize, Serialize};
use stash_schemas::CodecError;
use stash_schemas::registry::{ParsedSchema, Registry, parse};
use stash_schemas::sources::Source;
use stash_schemas::upcast::{Step, field};

const V1: Source = Source {
    family: "parcel",
    version: 1,
    text: r#"{"type": "record", "name": "Parcel", "fields": [
        {"name": "label", "type": "string"}, {"name": "weight_kg", "type": "int"}, {"name": "note", "type": ["null", "string"]}
    ]}"#,
};
const V2: Source = Source {
    family: "parcel",
    version: 2,
    text: r#"{"type": "record", "name": "Parcel", "fields": [
        {"name": "label", "type": "string"}, {"name": "weight_kg", "type": "int"}, {"name": "note", "type": ["null", "string"]},
        {"name": "weight_g", "type": "long", "default": 0}
    ]}"#,
};
const V3: Source = Source {
    family: "parcel",
    version: 3,
    text: r#"{"type": "record", "name": "Parcel", "fields": [
        {"name": "label", "type": "string"}, {"name": "weight_kg", "type": "int"}, {"name": "note", "type": ["null", "string"]},
        {"name": "weight_g", "type": "long", "default": 0}, {"name": "carrier", "type": "string", "default": "post"}
    ]}"#,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Parcel {
    label: String,
    weight_kg: i32,
    note: Option<String>,
    weight_g: i64,
    carrier: String,
}

#[derive(Serialize)]
#[serde(rename = "Parcel")]
struct ParcelV1 {
    label: &'static str,
    weight_kg: i32,
    note: Option<&'static str>,
}

fn grams(mut parcel: Value) -> Result<Value, &'static str> {
    let Value::Int(kilograms) = *field(&mut parcel, "weight_kg")? else { return Err("weight_kg is no int") };
    if kilograms < 0 {
        return Err("a negative weight");
    }
    *field(&mut parcel, "weight_g")? = Value::Long(i64::from(kilograms) * 1000);
    Ok(parcel)
}

const GRAMS: Step = Step { family: "parcel", to: 2, apply: grams };

fn written_as_v1(weight_kg: i32) -> Vec<u8> {
    let schemas = parse(&[V1]).unwrap();
    let mut bytes = Vec::new();
    let parcel = ParcelV1 { label: "a", weight_kg, note: Some("fragile") };
    Registry::new(&schemas, &[]).unwrap().write("parcel", &parcel, &mut bytes).unwrap();
    bytes
}

fn refusal(sources: &[Source], steps: &[Step]) -> CodecError {
    let schemas: Vec<ParsedSchema> = parse(sources).unwrap();
    Registry::new(&schemas, steps).err().unwrap()
}

#[test]
fn a_default_and_a_step_bring_version_1_to_3() {
    let schemas = parse(&[V1, V2, V3]).unwrap();
    let registry = Registry::new(&schemas, &[GRAMS]).unwrap();
    let bytes = written_as_v1(3);
    let object = registry.open(&bytes).unwrap();
    assert_eq!((object.family(), object.version()), ("parcel", 1));
    let expected = Parcel {
        label: "a".into(),
        weight_kg: 3,
        note: Some("fragile".into()),
        weight_g: 3000,
        carrier: "post".into(),
    };
    assert_eq!(object.read::<Parcel>().unwrap(), expected);

    // And what is written is the newest version, read without any step.
    let mut newest = Vec::new();
    registry.write("parcel", &expected, &mut newest).unwrap();
    let object = registry.open(&newest).unwrap();
    assert_eq!(object.version(), 3);
    assert_eq!(object.read::<Parcel>().unwrap(), expected);
}

#[test]
fn a_step_that_refuses_says_for_which_version() {
    let schemas = parse(&[V1, V2, V3]).unwrap();
    let registry = Registry::new(&schemas, &[GRAMS]).unwrap();
    let error = registry.open(&written_as_v1(-1)).unwrap().read::<Parcel>().unwrap_err();
    assert_eq!(error, CodecError::UpcastFailed { schema: "parcel", version: 2, reason: "a negative weight" });
}

#[test]
fn a_step_that_breaks_the_shape_is_found() {
    let breaks = Step { family: "parcel", to: 2, apply: |_| Ok(Value::Null) };
    let schemas = parse(&[V1, V2]).unwrap();
    let registry = Registry::new(&schemas, &[breaks]).unwrap();
    assert_eq!(registry.open(&written_as_v1(1)).unwrap().read::<Parcel>().unwrap_err().code(), "upcast_failed");
}

#[test]
fn a_cut_in_an_older_version_is_no_null() {
    // The library's generic reader takes the end of input for a null or an absent optional.
    let schemas = parse(&[V1, V2, V3]).unwrap();
    let registry = Registry::new(&schemas, &[GRAMS]).unwrap();
    let bytes = written_as_v1(3);
    for end in 10..bytes.len() {
        let error = registry.open(&bytes[..end]).unwrap().read::<Parcel>().unwrap_err();
        assert_eq!(error, CodecError::Truncated { schema: "parcel" }, "cut at {end}");
    }
}

#[test]
fn a_registry_refuses_gaps_twins_and_idle_steps() {
    let gap = CodecError::SchemaDefect("parcel/v3: versions must count up from 1".into());
    assert_eq!(refusal(&[V1, V3], &[]), gap);
    let twin = Source { family: "box", version: 1, ..V1 };
    assert_eq!(
        refusal(&[V1, twin], &[]),
        CodecError::SchemaDefect("box/v1: another schema has the same fingerprint".into())
    );
    let idle = CodecError::SchemaDefect("upcast step parcel to v2 has no schema".into());
    assert_eq!(refusal(&[V1], &[GRAMS]), idle);
    let broken = Source { text: "{", ..V1 };
    assert_eq!(parse(&[broken]).unwrap_err().code(), "schema_defect");
}
