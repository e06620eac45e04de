//! From each version of an event to the next, as pure functions.
//!
//! Reading an older version goes step by step: Avro resolution brings the value from version n to n + 1, which fills new fields
//! with their defaults, and then the step registered here, if there is one, adjusts what a default cannot say. A step is a file
//! `upcast/<event>.rs`, listed in [`STEPS`]. A version whose defaults say all needs none.

use apache_avro::types::Value;

/// A record value of a step's version in, one of the same version out. The error is a fixed text, so that it cannot hold content.
pub type Apply = fn(Value) -> Result<Value, &'static str>;

/// What one step does, for one event and one version.
#[derive(Clone, Copy)]
pub struct Step {
    /// The event, as its folder is named.
    pub family: &'static str,
    /// The version the value has been resolved to; it was written in the one before.
    pub to: u32,
    /// The adjustment.
    pub apply: Apply,
}

/// All steps: none as yet, since the defaults of every later version say all.
pub const STEPS: &[Step] = &[];

/// A field of a record value, for a step to read or to set.
///
/// # Errors
/// A fixed text when there is none of this name, which the schemas exclude.
pub fn field<'v>(record: &'v mut Value, name: &str) -> Result<&'v mut Value, &'static str> {
    match record {
        Value::Record(fields) => fields.iter_mut().find(|(field, _)| field == name).map(|(_, value)| value),
        _ => None,
    }
    .ok_or("the value has no such field")
}
