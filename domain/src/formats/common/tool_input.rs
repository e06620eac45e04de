//! Arguments of tool calls: always an object in a canonical trace.

use super::decode::decoded;
use super::record::Bad;
use crate::json::{Json, Object, Value};

/// The object of arguments that were recorded in any form. An object stands as it is; a string that holds an object gives
/// that object; nothing gives an empty one; everything else is kept under `_raw`.
pub(crate) fn tool_input(recorded: Option<Json>) -> Result<Object, Bad> {
    match recorded {
        None | Some(Json::Null) => Ok(Object::new()),
        Some(Json::Text(text)) if text.is_empty() => Ok(Object::new()),
        Some(Json::Text(text)) => Ok(match parse_object(&text) {
            Some(object) => object,
            None => raw(Value::Text(text)),
        }),
        Some(json) if json.is_too_deep() => Err(too_deep()),
        Some(Json::Object(fields)) => Ok(Object::from(fields)),
        Some(other) => Ok(raw(other.into_value())),
    }
}

/// The refusal of a value that nests too deep.
pub(crate) fn too_deep() -> Bad {
    Bad::new("", format!("nests deeper than {} levels", crate::limits::JSON_VALUE_DEPTH_MAX))
}

/// The object that a text holds; none for anything else, or one that nests too deep.
fn parse_object(text: &str) -> Option<Object> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    match decoded(text)? {
        json if json.is_too_deep() => None,
        Json::Object(fields) => Some(Object::from(fields)),
        _ => None,
    }
}

fn raw(value: Value) -> Object {
    Object::of("_raw", value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(recorded: &str) -> String {
        serde_json::to_string(&tool_input(Some(serde_json::from_str(recorded).unwrap())).unwrap()).unwrap()
    }

    #[test]
    fn every_form_becomes_an_object() {
        assert_eq!(input(r#"{"city":"Bergen"}"#), r#"{"city":"Bergen"}"#);
        assert_eq!(input(r#""{\"city\": \"Bergen\"}""#), r#"{"city":"Bergen"}"#);
        assert_eq!(input(r#""""#), "{}");
        assert_eq!(input("null"), "{}");
        assert_eq!(input(r#""{\"city\":""#), r#"{"_raw":"{\"city\":"}"#);
        assert_eq!(input(r#""[1]""#), r#"{"_raw":"[1]"}"#);
        assert_eq!(input(r#""null""#), r#"{"_raw":"null"}"#);
        assert_eq!(input("[1, 2.50]"), r#"{"_raw":[1,2.50]}"#);
        assert_eq!(input("7"), r#"{"_raw":7}"#);
        assert_eq!(tool_input(None).unwrap(), Object::new());
    }

    #[test]
    fn a_lone_surrogate_within_the_string_is_replaced() {
        assert_eq!(input(r#""{\"a\":\"\\ud83d\"}""#), "{\"a\":\"\u{FFFD}\"}");
    }

    #[test]
    fn text_that_nests_too_deep_stays_text() {
        let text = format!("{}1{}", "{\"a\":".repeat(110), "}".repeat(110));
        let json = Json::Text(text.clone());
        assert_eq!(tool_input(Some(json)).unwrap(), raw(Value::Text(text)));
    }
}
