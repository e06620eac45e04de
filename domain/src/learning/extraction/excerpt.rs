//! The part of an action that stands as evidence beside an AI judgment. Code chooses it, so that no judge can make it up.

use crate::rendering::canonical_json;
use crate::trace::{ActionType, Step};

/// Characters of an excerpt.
pub const EXCERPT_CHARS_MAX: usize = 400;

/// The excerpt of an action: of a response its beginning, to the end of a sentence where one ends in the second half of the room;
/// of a call the name of its tool and its arguments.
pub fn excerpt(step: &Step) -> String {
    if step.action_type() == Some(ActionType::ToolCall) {
        let arguments = canonical_json(step.arguments());
        let call = format!("{} {arguments}", step.tool_name.as_deref().unwrap_or_default());
        return call.chars().take(EXCERPT_CHARS_MAX).collect();
    }
    let text = step.content.trim();
    let cut: String = text.chars().take(EXCERPT_CHARS_MAX).collect();
    if cut.len() == text.len() {
        return cut;
    }
    let half = cut.char_indices().nth(EXCERPT_CHARS_MAX / 2).map_or(0, |(at, _)| at);
    let mut ends = cut.char_indices().filter(|(at, char)| *at >= half && matches!(char, '.' | '!' | '?' | '\n'));
    match ends.next_back() {
        Some((at, char)) => cut.get(..at + char.len_utf8()).unwrap_or(&cut).trim_end().to_owned(),
        None => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Role;
    use serde_json::json;

    fn response(content: &str) -> Step {
        Step {
            role: Role::Assistant,
            content: content.to_owned(),
            tool_name: None,
            tool_input: None,
            tool_call_id: None,
            metadata: None,
        }
    }

    #[test]
    fn a_response_is_quoted_from_its_beginning_to_the_end_of_a_sentence() {
        assert_eq!(excerpt(&response(" Short. ")), "Short.");
        let long = format!("{}. {}", "a".repeat(300), "b".repeat(300));
        assert_eq!(excerpt(&response(&long)), format!("{}.", "a".repeat(300)));
        assert_eq!(excerpt(&response(&"æ".repeat(900))).chars().count(), EXCERPT_CHARS_MAX);
    }

    #[test]
    fn a_call_is_shown_with_its_tool_and_arguments_even_without_text() {
        let Some(input) = json!({"to": "Oslo", "days": 2}).as_object().cloned() else { return };
        let step = Step { tool_name: Some("book".to_owned()), tool_input: Some(input.into()), ..response("") };
        assert_eq!(excerpt(&step), r#"book {"days": 2, "to": "Oslo"}"#);
    }

    proptest::proptest! {
        #[test]
        fn an_excerpt_of_a_response_is_part_of_it(text: String) {
            proptest::prop_assert!(text.contains(&excerpt(&response(&text))));
        }
    }
}
