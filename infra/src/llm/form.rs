//! How an answer of a schema is asked for: from the form that binds the model most to the one that any server takes.
//!
//! A client begins at the first form and goes down only when the server refuses the request for its form. The form that worked is
//! remembered per host and model, so each is refused once in the life of a process. It is remembered only once it *has* worked:
//! a request refused for another reason (too long, no credit) teaches nothing.

use super::providers::Wire;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How an answer of a schema is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The server is given the schema and holds the model to it.
    Schema,
    /// The answer is a call of a tool, which the model must make (Anthropic).
    ForcedTool,
    /// The answer is a call of a tool, which the model is asked to make (Anthropic).
    OfferedTool,
    /// The server holds the model to JSON, and the schema stands in the instructions (OpenAI).
    JsonObject,
    /// The schema stands in the instructions.
    Text,
}

impl Form {
    /// The forms of a wire format, most binding first.
    pub fn ladder(wire: Wire) -> &'static [Self] {
        match wire {
            Wire::Anthropic => &[Self::Schema, Self::ForcedTool, Self::OfferedTool, Self::Text],
            Wire::OpenAi => &[Self::Schema, Self::JsonObject, Self::Text],
        }
    }

    /// Its name, as metrics have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::ForcedTool => "forced_tool",
            Self::OfferedTool => "offered_tool",
            Self::JsonObject => "json_object",
            Self::Text => "text",
        }
    }

    /// Whether a refusal (400 or 422) may be about the form. Servers word it freely: what they name is the field they do not know
    /// or the feature they lack. A refusal without words may be about anything, so it counts.
    pub(super) fn may_be_why(self, status: u16, message: &str) -> bool {
        const WORDS: [&str; 12] = [
            "output_config",
            "output_format",
            "response_format",
            "schema",
            "structured",
            "tool",
            "strict",
            "grammar",
            "extra inputs",
            "unrecognized",
            "unknown",
            "json",
        ];
        let message = message.to_lowercase();
        self != Self::Text
            && matches!(status, 400 | 404 | 415 | 422 | 501)
            && (message.is_empty() || WORDS.iter().any(|word| message.contains(word)))
    }
}

/// Hosts and models remembered. A deployment has a handful; a run of someone's own server adds one.
const REMEMBERED_MAX: usize = 256;

/// Which form worked, by host and model.
#[derive(Debug, Default)]
pub struct Forms {
    known: Mutex<HashMap<(String, String), Form>>,
}

impl Forms {
    /// The forms to try in turn.
    pub(super) fn to_try(&self, host: &str, model: &str, wire: Wire) -> &'static [Form] {
        let ladder = Form::ladder(wire);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = known
            .get(&(host.to_owned(), model.to_owned()))
            .and_then(|known| ladder.iter().position(|form| form == known))
            .unwrap_or(0);
        ladder.get(begin..).unwrap_or(ladder)
    }

    /// Remembers what worked.
    pub(super) fn worked(&self, host: &str, model: &str, form: Form) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), model.to_owned());
        if known.len() >= REMEMBERED_MAX && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, form);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_worked_is_where_the_next_call_begins() {
        let forms = Forms::default();
        assert_eq!(forms.to_try("h", "m", Wire::OpenAi), Form::ladder(Wire::OpenAi));
        forms.worked("h", "m", Form::JsonObject);
        assert_eq!(forms.to_try("h", "m", Wire::OpenAi), [Form::JsonObject, Form::Text]);
        assert_eq!(forms.to_try("h", "n", Wire::OpenAi)[0], Form::Schema, "another model");
        assert_eq!(forms.to_try("i", "m", Wire::OpenAi)[0], Form::Schema, "another host");
    }

    #[test]
    fn other_refusals_are_not_taken_for_one_of_the_form() {
        assert!(Form::Schema.may_be_why(400, "output_config: Extra inputs are not permitted"));
        assert!(Form::ForcedTool.may_be_why(400, "tool_choice: this model only supports auto"));
        assert!(Form::Schema.may_be_why(400, ""));
        assert!(!Form::Schema.may_be_why(400, "prompt is too long: 300000 tokens > 200000 maximum"));
        assert!(!Form::Schema.may_be_why(400, "Your credit balance is too low"));
        assert!(!Form::Schema.may_be_why(401, "response_format"));
        assert!(!Form::Text.may_be_why(400, "json"), "there is no form below");
    }
}
