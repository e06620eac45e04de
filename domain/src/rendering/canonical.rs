//! JSON text with one form for each value: keys sorted by code point, `", "` and `": "` between, non-ASCII kept, numbers as
//! recorded (but for exponents, which serde_json spells `e+n` or `e-n`). Models read it, and step ids are derived from it, so
//! that its form may never change.

use crate::json::{Object, Value};
use std::fmt::Write as _;

/// Canonical text of an object.
pub fn canonical_json(object: &Object) -> String {
    let mut out = String::with_capacity(object_bytes(object));
    push_object(&mut out, object);
    out
}

/// About how many bytes the text of an object has.
fn object_bytes(object: &Object) -> usize {
    2 + object.iter().map(|(name, value)| name.len() + 6 + value_bytes(value)).sum::<usize>()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.as_str().len(),
        Value::Text(text) => text.len() + 2,
        Value::List(items) => 2 + items.iter().map(|item| value_bytes(item) + 2).sum::<usize>(),
        Value::Object(object) => object_bytes(object),
    }
}

/// Appends an object.
pub(super) fn push_object(out: &mut String, object: &Object) {
    out.push('{');
    for (n, (key, value)) in object.iter().enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        push_string(out, key);
        out.push_str(": ");
        push_value(out, value);
    }
    out.push('}');
}

fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Text(text) => push_string(out, text),
        Value::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Object(object) => push_object(out, object),
    }
}

/// Appends a JSON string: quotation mark, backslash and control characters escaped, everything else verbatim.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                let _ = write!(out, "\\u{control:04x}");
            }
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_fixed() {
        let object: Object =
            serde_json::from_str(r#"{"b":[1,2.50,-0,1E400],"a":{"é":"\u0001\n\"\\","B":null},"c":true,"d":[],"e":{}}"#)
                .unwrap();
        assert_eq!(
            canonical_json(&object),
            r#"{"a": {"B": null, "é": "\u0001\n\"\\"}, "b": [1, 2.50, -0, 1e+400], "c": true, "d": [], "e": {}}"#
        );
    }

    proptest::proptest! {
        #[test]
        fn strings_read_back_as_they_were(text: String) {
            let mut out = String::new();
            push_string(&mut out, &text);
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
