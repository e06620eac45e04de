//! The product's own export.

use super::File;
use super::conversation::{Conversation, Message};
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let mut steps: Vec<Value> = Vec::new();
    for message in conversation.messages() {
        match message {
            Message::System(text) => steps.push(json!({"role": "system", "content": text})),
            Message::User(text) => steps.push(json!({"role": "user", "content": text})),
            Message::Calls(calls) => steps.extend(
                calls
                    .iter()
                    .map(|call| {
                        json!({"role": "assistant", "content": "", "tool_name": call.name, "tool_input": call.arguments,
                    "tool_call_id": call.id, "metadata": {"timestamp": conversation.time(steps.len())}})
                    })
                    .collect::<Vec<_>>(),
            ),
            Message::Result(call) => steps.push(json!({"role": "tool", "content": call.result,
                "tool_name": call.name, "tool_call_id": call.id})),
            Message::Answer(text) => steps.push(json!({"role": "assistant", "content": text,
                "metadata": {"timestamp": conversation.time(steps.len())}})),
        }
    }
    out.line(&json!({"id": format!("c{}", conversation.number), "metadata": {"model": "bench-1"}, "steps": steps}));
}
