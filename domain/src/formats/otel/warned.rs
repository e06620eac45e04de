//! What was changed or left out while a trace was put together: each message once, with the number of spans that it concerns and
//! the earliest of them, so that a trace that is sent live says what an import's answer says.

use crate::formats::common::clean::drop_nul;
use crate::json::{Object, Value};
use crate::otel::{OtelSpan, OtelSpanId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Messages kept of a trace; beyond, the last in the alphabet are left out, so that any order of spans keeps the same.
const MESSAGES_MAX: usize = 50;

/// Characters of a message.
const CHARS_MAX: usize = 200;

/// The spans of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Concerned {
    spans: u64,
    /// Start and id of the earliest.
    first: (u64, OtelSpanId),
}

/// The messages so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Warned(BTreeMap<String, Concerned>);

impl Warned {
    /// Takes in what is to be said of a span. A message counts once for it.
    pub(super) fn see(&mut self, span: &OtelSpan, warnings: &[String]) {
        let place = (span.start_ns, span.span_id);
        let messages: BTreeSet<String> = warnings.iter().map(|message| cut(message)).collect();
        for message in messages {
            if let Some(concerned) = self.0.get_mut(&message) {
                concerned.spans += 1;
                concerned.first = concerned.first.min(place);
                continue;
            }
            self.0.insert(message, Concerned { spans: 1, first: place });
            if self.0.len() > MESSAGES_MAX {
                self.0.pop_last();
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the trace's metadata; none if there is nothing to say.
    pub(super) fn shown(&self) -> Option<Value> {
        let shown = |concerned: &Concerned| {
            let mut shown = Object::of("spans", concerned.spans);
            shown.insert("first", concerned.first.1.to_string());
            Value::Object(shown)
        };
        (!self.is_empty())
            .then(|| Value::Object(self.0.iter().map(|(message, of)| (message.clone(), shown(of))).collect()))
    }
}

fn cut(message: &str) -> String {
    let mut message: String = message.chars().take(CHARS_MAX).collect();
    drop_nul(&mut message);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otel::OtelTraceId;

    fn span(number: u8) -> OtelSpan {
        let id = |bytes: &[u8]| OtelSpanId::from_bytes(bytes).unwrap();
        let mut span = OtelSpan::new(OtelTraceId::from_bytes(&[1; 16]).unwrap(), id(&[number; 8]));
        span.start_ns = u64::from(number);
        span
    }

    #[test]
    fn a_message_counts_once_for_a_span_and_names_the_earliest() {
        let mut warned = Warned::default();
        warned.see(&span(2), &["a".to_owned(), "a".to_owned()]);
        warned.see(&span(1), &["a".to_owned()]);
        let said = serde_json::json!({"a": {"spans": 2, "first": "0101010101010101"}});
        assert_eq!(warned.shown(), Some(said.into()));
    }

    #[test]
    fn any_order_keeps_the_same_messages() {
        let messages: Vec<(u8, String)> =
            (1..=120).map(|number| (number, format!("message {}", number % 90))).collect();
        let of = |messages: &mut dyn Iterator<Item = &(u8, String)>| {
            let mut warned = Warned::default();
            messages.for_each(|(number, message)| warned.see(&span(*number), std::slice::from_ref(message)));
            warned
        };
        let forth = of(&mut messages.iter());
        assert_eq!(forth.0.len(), MESSAGES_MAX);
        assert_eq!(forth, of(&mut messages.iter().rev()));
    }
}
