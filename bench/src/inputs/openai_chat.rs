//! Requests to a chat API, as data sets keep them.

use super::File;
use super::conversation::{Call, Conversation, Message};
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let messages: Vec<Value> = conversation.messages().iter().map(message).collect();
    out.line(&json!({"id": format!("c{}", conversation.number), "model": "bench-1", "messages": messages}));
}

/// A message as chat APIs have it; tracing tools keep it so too.
pub(super) fn message(message: &Message<'_>) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Calls(calls) => {
            json!({"role": "assistant", "content": null, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::Result(call) => json!({"role": "tool", "tool_call_id": call.id, "content": call.result}),
        Message::Answer(text) => json!({"role": "assistant", "content": text}),
    }
}

fn call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.to_string()}})
}
