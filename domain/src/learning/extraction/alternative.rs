//! Whether what a judge offers as an alternative to an action is one.

use crate::json::Object;
use crate::rendering::{Revision, canonical_json};
use crate::trace::{ActionType, Step};
use serde::Deserialize;

/// Bytes of an alternative. Ten times what a model reads of a text.
pub const ALTERNATIVE_BYTES_MAX: usize = 64 * 1024;

/// Why an alternative is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAlternative {
    /// It is blank.
    Missing,
    /// It cannot stand in the action's place: a call that is no call, or a response where a call is needed.
    Invalid,
    /// It says or does the same.
    Same,
}

/// A call as a judge writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallText {
    tool_name: String,
    tool_input: Object,
    #[serde(default)]
    content: Option<String>,
}

/// The alternative to an action that a judge's text stands for.
///
/// In a response's place it is another text. In a call's place it is a JSON object of tool, arguments and text, and tool or
/// arguments must differ: the same call with other words beside it is the same action. What the original call brought back is no
/// part of either; a result belongs to the call that was made.
///
/// # Errors
/// [`NoAlternative`].
pub fn alternative(original: &Step, text: &str) -> Result<Revision, NoAlternative> {
    if text.trim().is_empty() {
        return Err(NoAlternative::Missing);
    }
    if text.len() > ALTERNATIVE_BYTES_MAX {
        return Err(NoAlternative::Invalid);
    }
    match original.action_type() {
        Some(ActionType::ToolCall) => call(original, text),
        Some(ActionType::Response) => response(original, text),
        None => Err(NoAlternative::Invalid),
    }
}

fn call(original: &Step, text: &str) -> Result<Revision, NoAlternative> {
    let CallText { tool_name, tool_input, content } =
        serde_json::from_str(text.trim()).map_err(|_| NoAlternative::Invalid)?;
    if tool_name.trim().is_empty() {
        return Err(NoAlternative::Invalid);
    }
    let arguments = canonical_json(original.arguments());
    if original.tool_name.as_deref() == Some(tool_name.as_str()) && arguments == canonical_json(&tool_input) {
        return Err(NoAlternative::Same);
    }
    Ok(Revision::ToolCall { tool_name, tool_input, content: content.unwrap_or_default() })
}

fn response(original: &Step, text: &str) -> Result<Revision, NoAlternative> {
    if serde_json::from_str::<CallText>(text.trim()).is_ok() {
        return Err(NoAlternative::Invalid);
    }
    if text.split_whitespace().eq(original.content.split_whitespace()) {
        return Err(NoAlternative::Same);
    }
    Ok(Revision::Response { content: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Role;
    use serde_json::{Value, json};

    fn step(content: &str, tool: Option<(&str, Value)>) -> Step {
        let (tool_name, tool_input) = match tool {
            Some((name, input)) => (Some(name.to_owned()), input.as_object().cloned().map(Into::into)),
            None => (None, None),
        };
        Step {
            role: Role::Assistant,
            content: content.to_owned(),
            tool_name,
            tool_input,
            tool_call_id: None,
            metadata: None,
        }
    }

    #[test]
    fn a_call_must_change_its_tool_or_its_arguments() {
        let original = step("", Some(("search", json!({"q": "fjord", "n": 1}))));
        let offer = |value: Value| alternative(&original, &value.to_string());
        let same = json!({"tool_name": "search", "tool_input": {"n": 1, "q": "fjord"}, "content": "Let me look."});
        assert_eq!(offer(same), Err(NoAlternative::Same));
        let arguments = json!({"tool_name": "search", "tool_input": {"n": 2, "q": "fjord"}, "content": ""});
        assert!(matches!(offer(arguments), Ok(Revision::ToolCall { .. })));
        let tool = json!({"tool_name": "open", "tool_input": {"n": 1, "q": "fjord"}});
        assert!(matches!(offer(tool), Ok(Revision::ToolCall { .. })));
    }

    #[test]
    fn in_a_calls_place_only_a_call_can_stand() {
        let original = step("", Some(("search", json!({}))));
        for text in [
            "I would rather ask.",
            r#"{"tool_name": "", "tool_input": {}}"#,
            r#"{"tool_name": "open", "tool_input": "x"}"#,
            r#"{"tool_name": "open", "tool_input": {}, "result": "found"}"#,
            r#"{"tool_name": "open"}"#,
            "[]",
        ] {
            assert_eq!(alternative(&original, text), Err(NoAlternative::Invalid), "{text}");
        }
        assert_eq!(alternative(&original, " \n"), Err(NoAlternative::Missing));
    }

    #[test]
    fn a_response_must_differ_in_more_than_white_space() {
        let original = step("It is\ndone.", None);
        assert_eq!(alternative(&original, " It is done. "), Err(NoAlternative::Same));
        assert_eq!(alternative(&original, r#"{"tool_name": "a", "tool_input": {}}"#), Err(NoAlternative::Invalid));
        let other = Revision::Response { content: "It is not done yet.".to_owned() };
        assert_eq!(alternative(&original, "It is not done yet."), Ok(other));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_judged_and_none_is_the_original(text: String, call: bool) {
            let original = step("It is done.", call.then(|| ("search", json!({"q": 1}))));
            if let Ok(revision) = alternative(&original, &text) {
                proptest::prop_assert_ne!(revision.to_step(), original);
            }
        }
    }
}
