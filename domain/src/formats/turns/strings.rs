//! Values within strings: JSON, encoded up to three times, or a Python literal.

use super::python;
use crate::formats::common::decode::decoded;
use crate::formats::common::json::Json;

/// The object or array that a whole string holds.
pub(super) fn container(text: &str) -> Option<Json> {
    let first = text.trim_start().chars().next()?;
    if !matches!(first, '{' | '[' | '"' | '(') {
        return None;
    }
    decoded(text).or_else(|| python::literal(text)).filter(|json| matches!(json, Json::List(_) | Json::Object(_)))
}

/// The object or array that a value holds as a string, if it is one.
pub(crate) fn taken_out(value: &Json) -> Option<Json> {
    value.as_text().and_then(container)
}
