//! What a server says when it refuses, and of itself, made fit to be shown.

use crate::llm::call::Call;
use serde_json::Value;

/// Characters of it that are kept.
const CHARS_MAX: usize = 300;

/// Characters of a model's name that are kept.
const NAME_CHARS_MAX: usize = 200;

/// Shorter keys are no secrets ("none", "x"), and words of every text.
const KEY_BYTES_MIN: usize = 8;

/// A piece of the request this long in a message is a quote of it.
const QUOTE_CHARS: usize = 24;

/// The message of an error response: shortened, without control characters, and without the key. A message that quotes the call
/// (some servers send back the field they did not like) is dropped whole.
pub(in crate::llm) fn message(bytes: &[u8], key: Option<&str>, call: &Call) -> String {
    let said = serde_json::from_slice::<Value>(bytes).ok().and_then(|body| find(&body)).unwrap_or_default();
    let said = on_one_line(&without_key(said, key), CHARS_MAX);
    if quotes(&said, call) { String::new() } else { said }
}

/// A text without the key.
pub(in crate::llm) fn without_key(text: String, key: Option<&str>) -> String {
    match key {
        Some(key) if key.len() >= KEY_BYTES_MIN && text.contains(key) => text.replace(key, "(key)"),
        _ => text,
    }
}

/// The name that a server gives its model, as it is kept.
pub(in crate::llm) fn name(name: String, key: Option<&str>) -> String {
    on_one_line(&without_key(name, key), NAME_CHARS_MAX)
}

fn on_one_line(text: &str, chars_max: usize) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(chars_max).collect()
}

fn find(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    text(error)
        .or_else(|| text(error.get("message")?))
        .or_else(|| text(error.get("detail")?))
        // FastAPI names each wrong field.
        .or_else(|| text(error.get("detail")?.get(0)?.get("msg")?))
        .or_else(|| text(body.get("message")?))
}

/// Whether a piece of the call stands in the message. Pieces are looked for at every character, so that none is missed.
fn quotes(said: &str, call: &Call) -> bool {
    let ends: Vec<usize> = said.char_indices().map(|(at, _)| at).chain([said.len()]).collect();
    ends.windows(QUOTE_CHARS + 1).any(|window| {
        let piece =
            window.first().zip(window.last()).and_then(|(begin, end)| said.get(*begin..*end)).unwrap_or_default();
        !piece.trim().is_empty()
            && call.turns.iter().map(|turn| &turn.text).chain([&call.context]).any(|text| text.contains(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> String {
        let call = Call::new("", "The patient's name is John Q. Public and he lives here.", 1);
        message(body.as_bytes(), Some("sk-secret"), &call)
    }

    #[test]
    fn messages_are_found_where_servers_put_them() {
        assert_eq!(said(r#"{"type":"error","error":{"type":"x","message":"too long"}}"#), "too long");
        assert_eq!(said(r#"{"error":{"message":"no model","code":1}}"#), "no model");
        assert_eq!(said(r#"{"error":"no model"}"#), "no model");
        assert_eq!(said(r#"{"detail":[{"loc":["body"],"msg":"unknown field"}]}"#), "unknown field");
        assert_eq!(said(r#"{"object":"error","message":"m"}"#), "m");
        assert_eq!(said("<html>"), "");
    }

    #[test]
    fn neither_the_key_nor_the_call_is_in_them() {
        assert_eq!(said(r#"{"error":"wrong key sk-secret!"}"#), "wrong key (key)!");
        assert_eq!(said(r#"{"error":"bad input: name is John Q. Public and he"}"#), "");
        assert_eq!(said(&format!(r#"{{"error":"{}"}}"#, "é\\n".repeat(1000))).chars().count(), 300);
    }
}
