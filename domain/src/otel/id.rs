//! Ids of traces and spans, from all the forms that exporters write them in.

use crate::json::Json;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// An id of so many bytes, not all of them zero. Shown, and in JSON, as lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtelId<const N: usize>([u8; N]);

/// Id of a trace.
pub type OtelTraceId = OtelId<16>;

/// Id of a span, unique within its trace.
pub type OtelSpanId = OtelId<8>;

impl<const N: usize> OtelId<N> {
    /// The id of these bytes; none if there are not exactly `N`, or all are zero.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; N] = bytes.try_into().ok()?;
        bytes.iter().any(|byte| *byte != 0).then_some(Self(bytes))
    }

    /// The id that a text is: hexadecimal in any case (also in groups with dashes), base64 of the bytes, or base64 of the
    /// hexadecimal text. None for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(&bytes_of_text::<N>(text)?)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> fmt::Display for OtelId<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for OtelId<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for OtelId<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for OtelId<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("no id of an OpenTelemetry trace or span"))
    }
}

/// What stands in the place of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded<const N: usize> {
    /// Nothing, or zeros.
    Absent,
    /// An id.
    Id(OtelId<N>),
    /// Something else.
    Invalid,
}

impl<const N: usize> Recorded<N> {
    /// Reads text, an array of bytes, or an object that holds such an array (`{"data": […]}`).
    pub(super) fn read(recorded: &Json) -> Self {
        let bytes = match recorded {
            Json::Null => return Self::Absent,
            Json::Text(text) if text.is_empty() => return Self::Absent,
            Json::Text(text) => bytes_of_text::<N>(text),
            Json::List(items) if items.is_empty() => return Self::Absent,
            Json::List(items) => bytes_of_list(items, N),
            Json::Object(_) => match recorded.get("data").or_else(|| recorded.get("Data")) {
                Some(Json::List(items)) if items.is_empty() => return Self::Absent,
                Some(Json::List(items)) => bytes_of_list(items, N),
                _ => None,
            },
            _ => None,
        };
        match bytes {
            Some(bytes) if bytes.iter().all(|byte| *byte == 0) => Self::Absent,
            Some(bytes) => OtelId::from_bytes(&bytes).map_or(Self::Invalid, Self::Id),
            None => Self::Invalid,
        }
    }
}

fn bytes_of_list(items: &[Json], length: usize) -> Option<Vec<u8>> {
    if items.len() != length {
        return None;
    }
    items.iter().map(|item| if let Json::Number(number) = item { number.as_str().parse().ok() } else { None }).collect()
}

fn bytes_of_text<const N: usize>(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    // The longest form is base64 of hexadecimal text; groups of a UUID add dashes.
    if text.len() > N * 4 {
        return None;
    }
    let digits: String =
        text.strip_prefix("0x").unwrap_or(text).chars().filter(|character| *character != '-').collect();
    if digits.len() == N * 2
        && let Ok(bytes) = hex::decode(&digits)
    {
        return Some(bytes);
    }
    let bytes = base64(text)?;
    if bytes.len() == N {
        return Some(bytes);
    }
    hex::decode(&bytes).ok().filter(|bytes| bytes.len() == N)
}

/// Decodes base64 of either alphabet, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const N: usize>(recorded: &str) -> Recorded<N> {
        Recorded::read(&serde_json::from_str(recorded).unwrap())
    }

    #[test]
    fn every_form_gives_the_same_id() {
        let expected = OtelTraceId::parse("5b8efff798038103d269b633813fc60c").unwrap();
        for form in [
            r#""5B8EFFF798038103D269B633813FC60C""#,
            r#""5b8efff7-9803-8103-d269-b633813fc60c""#,
            r#""W47/95gDgQPSabYzgT/GDA==""#,
            r#""W47_95gDgQPSabYzgT_GDA""#,
            r#""NWI4ZWZmZjc5ODAzODEwM2QyNjliNjMzODEzZmM2MGM=""#,
            "[91,142,255,247,152,3,129,3,210,105,182,51,129,63,198,12]",
            r#"{"type":"Buffer","data":[91,142,255,247,152,3,129,3,210,105,182,51,129,63,198,12]}"#,
        ] {
            assert_eq!(read(form), Recorded::Id(expected), "{form}");
        }
        assert_eq!(expected.to_string(), "5b8efff798038103d269b633813fc60c");
        assert_eq!(read("\"AAAAAAAAAAI=\""), Recorded::Id(OtelSpanId::parse("0000000000000002").unwrap()));
        assert_eq!(read("\"ZWVlMTliN2VjM2MxYjE3NA==\""), Recorded::Id(OtelSpanId::parse("eee19b7ec3c1b174").unwrap()));
    }

    #[test]
    fn zeros_are_no_id_and_other_things_are_invalid() {
        for absent in ["null", "\"\"", "\"0000000000000000\"", "[]", "[0,0,0,0,0,0,0,0]", "\"AAAAAAAAAAA=\""] {
            assert_eq!(read::<8>(absent), Recorded::Absent, "{absent}");
        }
        for invalid in ["7", "\"xyz\"", "[1,2]", "[1,2,3,4,5,6,7,256]", "{}", "\"5b8efff798038103\u{e9}\"", "true"] {
            assert_eq!(read::<8>(invalid), Recorded::Invalid, "{invalid}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived_and_any_id_reads_back(text: String, bytes: [u8; 16]) {
            let _ = OtelTraceId::parse(&text);
            if let Some(id) = OtelTraceId::from_bytes(&bytes) {
                proptest::prop_assert_eq!(OtelTraceId::parse(&id.to_string()), Some(id));
            }
        }
    }
}
