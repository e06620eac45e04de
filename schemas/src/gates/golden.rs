//! Gate 4: bytes written when a version landed still mean what they meant.
//!
//! Beside each schema version stand `golden/<family>/v<N>.avro`, one single object, and `v<N>.json`, the value in it as written.
//! Both are made when the version lands and never touched again. A version that is not the newest also has
//! `v<N>.upcast.json`: the same value as it reads today, which is what its upcast steps are judged by.

use super::Fault;
use crate::error::CodecError;
use crate::events::{read_event, write_event};
use crate::registry::Registry;
use crate::{decode_record, decode_text, encode_record, encode_text};
use apache_avro::types::Value;
use serde_json::{Value as Json, json};

/// The golden files of one version; none for a missing one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Golden<'a> {
    /// `v<N>.avro`.
    pub avro: Option<&'a [u8]>,
    /// `v<N>.json`.
    pub json: Option<&'a str>,
    /// `v<N>.upcast.json`.
    pub upcast: Option<&'a str>,
}

/// Checks one version's golden files against a registry. `newest` is the family's newest version.
pub fn check(registry: &Registry<'_>, family: &str, version: u32, newest: u32, golden: Golden<'_>) -> Vec<Fault> {
    let path = |suffix: &str| format!("golden/{family}/v{version}.{suffix}");
    let (Some(avro), Some(json)) = (golden.avro, golden.json) else {
        return vec![Fault::new(
            path("avro"),
            "is missing, or its .json: run `cargo run -p stash-schemas --example lock`",
        )];
    };
    let object = match registry.open(avro) {
        Ok(object) => object,
        Err(error) => return vec![Fault::new(path("avro"), error.to_string())],
    };
    if (object.family(), object.version()) != (family, version) {
        let what = format!("has the fingerprint of {}/v{}", object.family(), object.version());
        return vec![Fault::new(path("avro"), what)];
    }
    let mut faults = Vec::new();
    faults.extend(compare(path("json"), object.read_as_written(), json));
    match (golden.upcast, version < newest) {
        (Some(upcast), true) => faults.extend(compare(path("upcast.json"), object.read_newest(), upcast)),
        (None, true) => faults.push(Fault::new(path("upcast.json"), "is missing, and a newer version exists")),
        (Some(_), false) => faults.push(Fault::new(path("upcast.json"), "says how the newest version reads as itself")),
        (None, false) => {}
    }
    faults
}

fn compare(path: String, read: Result<Value, CodecError>, expected: &str) -> Option<Fault> {
    let value = match read {
        Ok(value) => to_json(&value),
        Err(error) => return Some(Fault::new(path, format!("the bytes no longer decode: {error}"))),
    };
    match serde_json::from_str::<Json>(expected) {
        Err(error) => Some(Fault::new(path, format!("no JSON: {error}"))),
        Ok(expected) if expected != value => Some(Fault::new(path, format!("the bytes decode to {value} now"))),
        Ok(_) => None,
    }
}

/// Takes bytes through the door of the domain's types and out again: what this build writes for the same value.
///
/// # Errors
/// Any [`CodecError`] of the way in.
pub fn through_the_door(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let registry = crate::registry::registry()?;
    let object = registry.open(bytes)?;
    match object.family() {
        "record" => encode_record(&decode_record(bytes)?),
        "annotation_text" => encode_text(&decode_text(bytes)?),
        _ => {
            let mut out = Vec::new();
            write_event(registry, &read_event(&object)?, &mut out)?;
            Ok(out)
        }
    }
}

/// A value as JSON, for people and for comparison: ids as text, bytes in hexadecimal, times as their number, a union as what is
/// in it.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => json!(value),
        Value::Int(value) | Value::Date(value) | Value::TimeMillis(value) => json!(value),
        Value::Long(value)
        | Value::TimeMicros(value)
        | Value::TimestampMillis(value)
        | Value::TimestampMicros(value)
        | Value::TimestampNanos(value)
        | Value::LocalTimestampMillis(value)
        | Value::LocalTimestampMicros(value)
        | Value::LocalTimestampNanos(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Double(value) => json!(value),
        Value::Bytes(bytes) | Value::Fixed(_, bytes) => json!(hex::encode(bytes)),
        Value::String(text) | Value::Enum(_, text) => json!(text),
        Value::Uuid(id) => json!(id.to_string()),
        Value::Union(_, value) => to_json(value),
        Value::Array(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect(),
        Value::Record(fields) => fields.iter().map(|(name, value)| (name.clone(), to_json(value))).collect(),
        Value::Decimal(_) | Value::BigDecimal(_) | Value::Duration(_) => json!(format!("{value:?}")),
    }
}
