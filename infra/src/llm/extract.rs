//! JSON out of a reply that may hold more than that: thinking, a fence, words around it.

use serde_json::Value;

/// Places at which an object is looked for. A text that opens more braces than that before its answer has none.
const PLACES_MAX: usize = 64;

/// The answer in a text: the text itself, or else the last object in it that passes `is_good`, or else the last object. Models
/// that think aloud write drafts first.
pub(super) fn answer(text: &str, is_good: impl Fn(&Value) -> bool) -> Option<Value> {
    let text = after_thinking(text).trim();
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        return Some(whole);
    }
    let mut found: Option<(Value, bool)> = None;
    let mut at = 0;
    for _ in 0..PLACES_MAX {
        let Some(rest) = text.get(at..) else { break };
        let Some(open) = rest.find('{') else { break };
        let begin = at + open;
        let mut values = serde_json::Deserializer::from_str(text.get(begin..)?).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = begin + values.byte_offset().max(1);
                let good = is_good(&value);
                if good || found.as_ref().is_none_or(|(_, was_good)| !was_good) {
                    found = Some((value, good));
                }
            }
            _ => at = begin + 1,
        }
    }
    found.map(|(value, _)| value)
}

/// What follows the thinking that some models write into their reply.
fn after_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(thinking) => thinking.split_once("</think>").map_or(text, |(_, rest)| rest),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(text: &str) -> Option<Value> {
        answer(text, |value| value.get("a").is_some())
    }

    #[test]
    fn an_answer_is_found_in_what_surrounds_it() {
        let expected = Some(json!({"a": {"b": "}"}}));
        for text in [
            r#"{"a": {"b": "}"}}"#,
            "```json\n{\"a\": {\"b\": \"}\"}}\n```",
            r#"Sure! {"a": {"b": "}"}} I hope {that} helps."#,
            r#"<think>{"a": 1}</think> {"a": {"b": "}"}}"#,
            r#"Draft: {"a": 0}. Final: {"a": {"b": "}"}} (see {"c": 1})"#,
        ] {
            assert_eq!(find(text), expected, "{text}");
        }
    }

    #[test]
    fn there_may_be_none() {
        assert_eq!(find(""), None);
        assert_eq!(find("no {"), None);
        assert_eq!(find(&"{".repeat(10_000)), None);
        assert_eq!(find(r#"{"c": 1} then {"#), Some(json!({"c": 1})), "the check says what is wrong with it");
    }
}
