//! JSON that was stored as a string.

use super::clean::clean;
use crate::json::Json;
use crate::json::parse::{value_of_bytes, value_of_text};

/// How often JSON is taken out of strings: two writers in a row have been seen to encode what they got.
const DECODINGS_MAX: usize = 3;

/// Why a text holds no object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoContainer {
    /// It is other text.
    Other,
    /// It has too many parts for its size, and is better kept as the text it is.
    TooDense,
}

/// The object or array that a text holds, also within strings within it; none for any other text, or one with too many parts for its
/// size, which is better kept as the text it is.
pub(crate) fn decoded(text: &str) -> Option<Json> {
    container(text).ok()
}

/// The object or array that a text holds, also within strings within it.
///
/// # Errors
/// Why it holds none.
pub(crate) fn container(text: &str) -> Result<Json, NoContainer> {
    let mut json = parsed(text)?;
    for _ in 1..DECODINGS_MAX {
        match &json {
            Json::Text(inner) => json = parsed(inner)?,
            _ => break,
        }
    }
    if matches!(json, Json::List(_) | Json::Object(_)) { Ok(json) } else { Err(NoContainer::Other) }
}

fn parsed(text: &str) -> Result<Json, NoContainer> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return Err(NoContainer::Other);
    }
    value_of_text(text).or_else(|unparsed| {
        if unparsed.too_many_parts {
            return Err(NoContainer::TooDense);
        }
        // Escapes of lone surrogates inside the string were out of reach when the line was cleaned.
        let mut bytes = text.as_bytes().to_vec();
        if !clean(&mut bytes).surrogates {
            return Err(NoContainer::Other);
        }
        value_of_bytes(&bytes)
            .map_err(|unparsed| if unparsed.too_many_parts { NoContainer::TooDense } else { NoContainer::Other })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_and_arrays_are_taken_out_and_no_more_than_three_times() {
        let mut text = "[1]".to_owned();
        for _ in 0..DECODINGS_MAX {
            assert_eq!(decoded(&text).map(|json| json.compact()), Some("[1]".to_owned()), "{text}");
            text = serde_json::to_string(&text).unwrap();
        }
        assert_eq!(decoded(&text), None);
        for text in ["", "7", "null", "\"a\"", "{oops", "words"] {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(decoded(r#"["\ud83d"]"#).map(|json| json.compact()), Some("[\"\u{FFFD}\"]".to_owned()));
    }
}
