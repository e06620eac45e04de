//! Requests to the Messages API.

use super::File;
use super::conversation::{Conversation, Message};
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let mut messages: Vec<Value> = Vec::new();
    for turn in &conversation.turns {
        messages.push(json!({"role": "user", "content": turn.question}));
        messages.push(json!({"role": "assistant", "content": blocks(&Message::Calls(&turn.calls))}));
        let results: Vec<Value> = turn.calls.iter().flat_map(|call| blocks(&Message::Result(call))).collect();
        messages.push(json!({"role": "user", "content": results}));
        messages.push(json!({"role": "assistant", "content": blocks(&Message::Answer(&turn.answer))}));
    }
    out.line(&json!({"model": "bench-1", "max_tokens": 4096, "system": conversation.system, "messages": messages}));
}

/// The content blocks of a message.
pub(super) fn blocks(message: &Message<'_>) -> Vec<Value> {
    match message {
        Message::System(text) | Message::User(text) | Message::Answer(text) => {
            vec![json!({"type": "text", "text": text})]
        }
        Message::Calls(calls) => calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}))
            .collect(),
        Message::Result(call) => vec![json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result})],
    }
}
