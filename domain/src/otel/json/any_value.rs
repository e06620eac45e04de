//! Typed values (`{"stringValue": "x"}`) as plain JSON, and lists of them by name.

use super::folded;
use crate::json::Json;
use crate::otel::{Attributes, BYTES};

/// The plain value. What is no typed value stands as it is.
///
/// Bytes are not kept: `[file]` stands for them.
pub(super) fn plain(recorded: Json) -> Json {
    let Json::Object(fields) = recorded else { return recorded };
    if fields.is_empty() {
        return Json::Null;
    }
    let typed = fields.iter().position(|(name, value)| *value != Json::Null && Type::of(name).is_some());
    let Some(at) = typed else {
        let only_types = fields.iter().all(|(name, _)| Type::of(name).is_some());
        return if only_types { Json::Null } else { Json::Object(fields) };
    };
    let Some((name, value)) = fields.into_iter().nth(at) else { return Json::Null };
    match (Type::of(&name), value) {
        // A Go struct has the one that is set under `Value`.
        (Some(Type::Wrapper), value) => plain(value),
        (Some(Type::Int), Json::Text(digits)) => integer(digits),
        (Some(Type::Double), Json::Text(digits)) => double(digits),
        (Some(Type::Bool), Json::Text(text)) => match text.as_str() {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            _ => Json::Text(text),
        },
        (Some(Type::Bytes), _) => Json::Text(BYTES.to_owned()),
        (Some(Type::Array), value) => match value {
            Json::List(items) => Json::List(items.into_iter().map(plain).collect()),
            Json::Object(fields) => {
                let items = fields.into_iter().find(|(name, _)| folded(name) == "values").map(|(_, items)| items);
                let items = if let Some(Json::List(items)) = items { items } else { Vec::new() };
                Json::List(items.into_iter().map(plain).collect())
            }
            other => other,
        },
        (Some(Type::Map), value) => match value {
            Json::Object(fields) => {
                let entries = fields.iter().position(|(name, _)| folded(name) == "values");
                match entries.and_then(|at| fields.into_iter().nth(at)) {
                    Some((_, entries)) => Json::Object(named(entries).0),
                    None => Json::Object(Vec::new()),
                }
            }
            entries => Json::Object(named(entries).0),
        },
        (_, value) => value,
    }
}

/// Values by name, from a list of `{key, value}` or from an object.
pub(super) fn named(recorded: Json) -> Attributes {
    let entries = match recorded {
        Json::List(items) => items.into_iter().filter_map(entry).collect(),
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        _ => Vec::new(),
    };
    Attributes(entries)
}

fn entry(item: Json) -> Option<(String, Json)> {
    let Json::Object(fields) = item else { return None };
    let (mut key, mut value) = (None, Json::Null);
    for (name, field) in fields {
        match (folded(&name).as_str(), field) {
            ("key", Json::Text(text)) => key = Some(text),
            ("value", field) => value = plain(field),
            _ => {}
        }
    }
    Some((key?, value))
}

enum Type {
    Text,
    Bool,
    Int,
    Double,
    Bytes,
    Array,
    Map,
    Wrapper,
}

impl Type {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "stringValue" => Self::Text,
            "intValue" => Self::Int,
            _ => match folded(name).as_str() {
                "stringvalue" => Self::Text,
                "boolvalue" => Self::Bool,
                "intvalue" => Self::Int,
                "doublevalue" => Self::Double,
                "bytesvalue" => Self::Bytes,
                "arrayvalue" => Self::Array,
                "kvlistvalue" => Self::Map,
                "value" if name == "Value" => Self::Wrapper,
                _ => return None,
            },
        })
    }
}

fn integer(digits: String) -> Json {
    match digits.parse::<i64>() {
        Ok(number) => Json::Number(number.into()),
        Err(_) => Json::Text(digits),
    }
}

fn double(digits: String) -> Json {
    match digits.parse() {
        Ok(number) => crate::otel::double(number),
        Err(_) => Json::Text(digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(recorded: &str) -> String {
        plain(serde_json::from_str(recorded).unwrap()).compact()
    }

    #[test]
    fn every_type_is_read() {
        for (recorded, expected) in [
            (r#"{"stringValue":"x"}"#, r#""x""#),
            (r#"{"string_value":""}"#, r#""""#),
            (r#"{"boolValue":true}"#, "true"),
            (r#"{"boolValue":"false"}"#, "false"),
            (r#"{"intValue":"-9223372036854775808"}"#, "-9223372036854775808"),
            (r#"{"intValue":7}"#, "7"),
            (r#"{"intValue":"99999999999999999999"}"#, r#""99999999999999999999""#),
            (r#"{"doubleValue":1.50}"#, "1.50"),
            (r#"{"doubleValue":"NaN"}"#, r#""NaN""#),
            (r#"{"doubleValue":"0.5"}"#, "0.5"),
            (r#"{"bytesValue":"AAAA"}"#, r#""[file]""#),
            (r#"{"arrayValue":{"values":[{"intValue":"1"},{}]}}"#, "[1,null]"),
            (r#"{"arrayValue":{}}"#, "[]"),
            (
                r#"{"kvlistValue":{"values":[{"key":"a","value":{"stringValue":"b"}},{"key":"n"}]}}"#,
                r#"{"a":"b","n":null}"#,
            ),
            (r#"{"kvlistValue":{}}"#, "{}"),
            (r#"{"Value":{"StringValue":"x"}}"#, r#""x""#),
            (r#"{"Value":{"ArrayValue":{"values":[{"Value":{"IntValue":3}}]}}}"#, "[3]"),
            (
                r#"{"Value":{"KvlistValue":{"values":[{"Key":"a","Value":{"Value":{"BoolValue":true}}}]}}}"#,
                r#"{"a":true}"#,
            ),
            (r#"{"stringValue":null}"#, "null"),
            (r#"{"stringValue":null,"intValue":"4"}"#, "4"),
            ("{}", "null"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#""bare""#, r#""bare""#),
        ] {
            assert_eq!(of(recorded), expected, "{recorded}");
        }
    }

    #[test]
    fn names_come_from_lists_and_objects() {
        let from = |text: &str| named(serde_json::from_str(text).unwrap()).0;
        let expected = vec![("a".to_owned(), Json::Text("x".to_owned()))];
        assert_eq!(from(r#"[{"key":"a","value":{"stringValue":"x"}},{"value":{}},7]"#), expected);
        assert_eq!(from(r#"{"a":"x"}"#), expected);
        assert_eq!(from("null"), []);
    }
}
