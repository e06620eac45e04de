//! A JSON value as it was written: keys in their order, numbers in their digits.

use super::Value;
use crate::limits::JSON_VALUE_DEPTH_MAX;
use serde::ser::{Serialize, Serializer};
use serde_json::Number;
use std::fmt;

/// A parsed value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number, in its digits.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object; a key may stand twice.
    Object(Vec<(String, Json)>),
}

/// The key under which serde_json hands over numbers whose digits it keeps.
pub(crate) const NUMBER_KEY: &str = "$serde_json::private::Number";

/// What keys begin with that mean something to serde_json itself.
pub(crate) const PRIVATE_KEYS: &str = "$serde_json::private::";

impl Json {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// The string, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The field of an object; the last one, if it stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(fields) => fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        match self {
            Self::Object(fields) => fields.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Takes a field of an object out; the last one, if it stands twice.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        match self {
            Self::Object(fields) => take_field(fields, key),
            _ => None,
        }
    }

    /// About how many bytes its text has.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 4,
            Self::Number(number) => number.as_str().len(),
            Self::Text(text) => text.len() + 2,
            Self::List(items) => items.iter().map(|item| item.text_bytes() + 1).sum::<usize>() + 1,
            Self::Object(fields) => {
                fields.iter().map(|(key, value)| key.len() + 4 + value.text_bytes()).sum::<usize>() + 1
            }
        }
    }

    /// Drops the fields of an object whose keys do not fit, and the memory that they took.
    pub(crate) fn keep_fields(&mut self, fits: impl Fn(&str) -> bool) {
        if let Self::Object(fields) = self {
            fields.retain(|(key, _)| fits(key));
            fields.shrink_to_fit();
        }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn bytes_held(&self) -> usize {
        const VALUE: usize = std::mem::size_of::<Json>();
        VALUE
            + match self {
                Self::Null | Self::Bool(_) => 0,
                Self::Number(number) => number.as_str().len(),
                Self::Text(text) => text.len(),
                Self::List(items) => items.iter().map(Self::bytes_held).sum(),
                Self::Object(fields) => fields.iter().map(|(key, value)| 24 + key.len() + value.bytes_held()).sum(),
            }
    }

    /// JSON text without white space, keys in their order.
    pub(crate) fn compact(&self) -> String {
        let mut out = String::with_capacity(self.text_bytes());
        self.push_compact(&mut out);
        // It is mostly kept, and what is escaped may have doubled the room.
        out.shrink_to_fit();
        out
    }

    /// The same of a list of these items.
    pub(crate) fn compact_list<'j>(items: impl IntoIterator<Item = &'j Self> + Clone) -> String {
        let mut out =
            String::with_capacity(items.clone().into_iter().map(|item| item.text_bytes() + 1).sum::<usize>() + 1);
        push_list(items, &mut out);
        out
    }

    fn push_compact(&self, out: &mut String) {
        use fmt::Write as _;
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Text(text) => crate::rendering::push_string(out, text),
            Self::List(items) => push_list(items, out),
            Self::Object(fields) => {
                out.push('{');
                for (n, (key, value)) in fields.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    crate::rendering::push_string(out, key);
                    out.push(':');
                    value.push_compact(out);
                }
                out.push('}');
            }
        }
    }

    /// The canonical value.
    pub(crate) fn into_value(self) -> Value {
        self.into()
    }

    /// Whether it nests deeper than a value inside a trace may.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.deeper_than(JSON_VALUE_DEPTH_MAX)
    }

    fn deeper_than(&self, levels: usize) -> bool {
        let Some(levels_below) = levels.checked_sub(1) else {
            return matches!(self, Self::List(_) | Self::Object(_));
        };
        match self {
            Self::List(items) => items.iter().any(|item| item.deeper_than(levels_below)),
            Self::Object(fields) => fields.iter().any(|(_, value)| value.deeper_than(levels_below)),
            _ => false,
        }
    }
}

fn push_list<'j>(items: impl IntoIterator<Item = &'j Json>, out: &mut String) {
    out.push('[');
    for (n, item) in items.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        item.push_compact(out);
    }
    out.push(']');
}

/// Takes a field out of an object's; the last one, if it stands twice.
pub(crate) fn take_field(fields: &mut Vec<(String, Json)>, key: &str) -> Option<Json> {
    let at = fields.iter().rposition(|(name, _)| name == key)?;
    Some(fields.remove(at).1)
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_digits_are_kept() {
        let text = r#"{"b":1.50,"a":[true,null,-0,123456789012345678901234567890,"é\n"],"b2":{}}"#;
        assert_eq!(serde_json::from_str::<Json>(text).unwrap().compact(), text);
    }

    #[test]
    fn keys_private_to_serde_json_do_no_harm() {
        for text in [r#"{"$serde_json::private::Number":"no number"}"#, r#"{"$serde_json::private::RawValue":"{"}"#] {
            let json: Json = serde_json::from_str(text).unwrap();
            assert!(matches!(json, Json::Object(_)));
            let again: serde_json::Value = serde_json::from_str(&json.compact()).unwrap();
            assert_eq!(again, serde_json::to_value(Value::from(json)).unwrap());
        }
    }

    #[test]
    fn depth_is_counted_in_containers() {
        let nested = |levels: usize| -> Json {
            serde_json::from_str(&format!("{}{}", "[".repeat(levels), "]".repeat(levels))).unwrap()
        };
        assert!(!nested(JSON_VALUE_DEPTH_MAX).is_too_deep());
        assert!(nested(JSON_VALUE_DEPTH_MAX + 1).is_too_deep());
    }
}
