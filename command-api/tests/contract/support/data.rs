//! Traces to import.

use serde_json::{Value, json};

/// A trace with a step of every kind: system, user, an answer, a call and its result.
pub(crate) fn sample(id: &str) -> Value {
    json!({
        "id": id,
        "title": "Refund",
        "metadata": {"model": "m-1"},
        "steps": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Refund, please 👍🏽\r\nplease!"},
            {"role": "assistant", "content": "Sure! I've issued a full refund to your card."},
            {"role": "assistant", "content": "", "tool_name": "refund", "tool_input": {"order": 7}, "tool_call_id": "c1"},
            {"role": "tool", "content": "done", "tool_name": "refund", "tool_call_id": "c1"}
        ]
    })
}

/// A trace of one user message and one answer.
pub(crate) fn short(id: &str, answer: &str) -> Value {
    json!({"id": id, "steps": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]})
}

/// One value per line.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
