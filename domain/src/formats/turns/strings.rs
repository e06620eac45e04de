//! Values within strings: JSON, encoded up to three times, or a Python literal.

use super::python;
use crate::formats::common::decode::{self, NoContainer};
use crate::json::Json;

/// The object or array that a whole string holds.
pub(super) fn container(text: &str) -> Option<Json> {
    let first = text.trim_start().chars().next()?;
    if !matches!(first, '{' | '[' | '"' | '(') {
        return None;
    }
    match decode::container(text) {
        // What has too many parts as JSON has too many as a literal.
        Err(NoContainer::TooDense) => None,
        Err(NoContainer::Other) => python::literal(text).filter(|json| matches!(json, Json::List(_) | Json::Object(_))),
        Ok(json) => Some(json),
    }
}

/// The object or array that a value holds as a string, if it is one.
pub(crate) fn taken_out(value: &Json) -> Option<Json> {
    value.as_text().and_then(container)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_dense_stays_text() {
        let list = |items: usize| format!("[{}]", vec!["[0]"; items].join(","));
        assert!(container(&list(10_000)).is_some());
        assert!(container(&list(200_000)).is_none());
    }
}
