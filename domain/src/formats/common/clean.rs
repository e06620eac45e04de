//! Makes bytes readable that other writers leave in JSON: NUL is dropped from text, a lone surrogate becomes U+FFFD. Neither
//! fails an import.
//!
//! A surrogate is replaced by text of the same length, so that byte offsets in later errors stay right. An escaped NUL has no
//! such replacement: it is only noted here, and [`drop_nul`] takes it out of what was parsed.

use crate::json::{Object, Value};
use crate::trace::Step;
use memchr::{memchr, memchr2, memmem};

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// Lone surrogates, replaced.
    pub(crate) surrogates: bool,
    /// NUL, dropped if it stood there raw; escaped ones are still to be dropped after parsing, also from JSON inside strings.
    pub(crate) nul: bool,
}

/// Cleans the bytes of a JSON text.
pub(crate) fn clean(bytes: &mut Vec<u8>) -> Cleaned {
    let mut found = Cleaned::default();
    // First of all, so that everything else is read as if it had never been there: in an escape, say.
    if memchr(0, bytes).is_some() {
        bytes.retain(|byte| *byte != 0);
        found.nul = true;
    }
    let mut at = 0;
    while let Some(next) = memchr2(b'\\', 0xED, &bytes[at..]) {
        at += next;
        match bytes[at] {
            // UTF-8 bytes of a surrogate, which is no UTF-8: ED A0..BF 80..BF.
            0xED => {
                if matches!(bytes[at..], [_, 0xA0..=0xBF, 0x80..=0xBF, ..]) {
                    bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
                    found.surrogates = true;
                }
                at += 1;
            }
            _ if bytes.get(at + 1) != Some(&b'u') => at += 2,
            _ => match escape(&bytes[at..]) {
                Some(0xD800..=0xDBFF)
                    if matches!(escape(bytes.get(at + 6..).unwrap_or(&[])), Some(0xDC00..=0xDFFF)) =>
                {
                    at += 12;
                }
                Some(0xD800..=0xDFFF) => {
                    bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                    found.surrogates = true;
                    at += 6;
                }
                Some(_) => at += 6,
                None => at += 2,
            },
        }
        if at >= bytes.len() {
            break;
        }
    }
    found.nul |= has_escaped_nul(bytes);
    found
}

/// Whether the text holds an escaped NUL at any depth of escaping.
pub(crate) fn has_escaped_nul(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"u0000").is_some()
}

/// The number of a `\uXXXX` escape at the start of the bytes.
fn escape(bytes: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
}

/// Takes NUL out of a text; whether there was any.
pub(crate) fn drop_nul(text: &mut String) -> bool {
    let any = memchr(0, text.as_bytes()).is_some();
    if any {
        text.retain(|character| character != '\0');
    }
    any
}

/// Takes NUL out of all text of a step; whether there was any.
pub(crate) fn drop_nul_in_step(step: &mut Step) -> bool {
    let mut dropped = drop_nul(&mut step.content);
    for text in step.tool_name.iter_mut().chain(&mut step.tool_call_id) {
        dropped |= drop_nul(text);
    }
    for object in step.tool_input.iter_mut().chain(&mut step.metadata) {
        dropped |= drop_nul_in_object(object);
    }
    dropped
}

/// The same for an object, its names included.
pub(crate) fn drop_nul_in_object(object: &mut Object) -> bool {
    let mut any = object.iter().any(|(name, _)| name.contains('\0'));
    if any {
        let without = |(mut name, value): (String, Value)| {
            drop_nul(&mut name);
            (name, value)
        };
        *object = std::mem::take(object).into_iter().map(without).collect();
    }
    for value in object.values_mut() {
        any |= drop_nul_in_value(value);
    }
    any
}

/// Whether a text holds the mark of what was no Unicode: a lone surrogate, or bytes that are no UTF-8.
pub(crate) fn has_replacement(text: &str) -> bool {
    text.contains(char::REPLACEMENT_CHARACTER)
}

fn drop_nul_in_value(value: &mut Value) -> bool {
    match value {
        Value::Text(text) => drop_nul(text),
        Value::List(items) => items.iter_mut().map(drop_nul_in_value).filter(|any| *any).count() > 0,
        Value::Object(object) => drop_nul_in_object(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &[u8]) -> (Vec<u8>, Cleaned) {
        let mut bytes = text.to_vec();
        let found = clean(&mut bytes);
        (bytes, found)
    }

    #[test]
    fn only_lone_surrogates_are_replaced() {
        let same = |text: &[u8]| cleaned(text).0 == text && !cleaned(text).1.surrogates;
        assert!(same(br#""\ud83d\ude00""#));
        assert!(same(br#""\\ud83d""#), "an escaped backslash begins no escape");
        assert!(same("\u{D7FF}\u{E000}".as_bytes()));
        assert_eq!(cleaned(br#""\ud83dx\udE00\uD83D\uD83D\ude00""#).0, br#""\ufffdx\ufffd\ufffd\uD83D\ude00""#);
        assert_eq!(cleaned(b"\"\xED\xA0\x80\"").0, "\"\u{FFFD}\"".as_bytes());
    }

    #[test]
    fn nul_is_noted_and_raw_ones_go() {
        assert_eq!(cleaned(b"\"a\0b\""), (b"\"ab\"".to_vec(), Cleaned { surrogates: false, nul: true }));
        assert_eq!(cleaned(b"\"\\\0\"\"").0, b"\"\\\"\"", "what a backslash escapes comes behind the NUL");
        assert_eq!(cleaned(b"\"\\\0ud83d\"").0, br#""\ufffd""#);
        assert!(cleaned(br#""\u0000""#).1.nul);
        assert!(cleaned(br#""{\"a\":\"\\u0000\"}""#).1.nul, "also within JSON inside a string");
        assert!(!cleaned(br#""\u0001""#).1.nul);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes: Vec<u8>) {
            clean(&mut bytes);
        }

        #[test]
        fn any_string_written_in_escapes_of_utf_16_reads_back(units: Vec<u16>) {
            let mut bytes = b"\"".to_vec();
            for unit in &units {
                bytes.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
            bytes.push(b'"');
            clean(&mut bytes);
            let read: String = serde_json::from_slice(&bytes).unwrap();
            proptest::prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }
    }
}
