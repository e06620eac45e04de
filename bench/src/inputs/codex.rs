//! A rollout file: a session of one conversation after another.

use super::File;
use super::conversation::{Conversation, Message};
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let first = out.lines == 0;
    let mut put = |kind: &str, payload: Value| {
        out.line(&json!({"timestamp": conversation.time(out.lines), "type": kind, "payload": payload}));
    };
    if first {
        put(
            "session_meta",
            json!({"id": conversation.id(1, 0), "timestamp": conversation.time(0), "cwd": "/srv/shop",
        "originator": "codex_cli_rs", "cli_version": "0.58.0", "base_instructions": {"text": conversation.system}}),
        );
        put("turn_context", json!({"cwd": "/srv/shop", "model": "bench-1", "approval_policy": "on-request"}));
    }
    for message in conversation.messages() {
        match message {
            Message::System(_) => {}
            Message::User(text) => {
                put("response_item", said("user", "input_text", text));
                put("event_msg", json!({"type": "user_message", "message": text, "kind": "plain"}));
            }
            Message::Calls(calls) => {
                for call in calls {
                    put(
                        "response_item",
                        json!({"type": "function_call", "name": call.name, "call_id": call.id,
                        "arguments": call.arguments.to_string()}),
                    );
                }
            }
            Message::Result(call) => put(
                "response_item",
                json!({"type": "function_call_output", "call_id": call.id,
                "output": call.result}),
            ),
            Message::Answer(text) => {
                put("event_msg", json!({"type": "agent_message", "message": text}));
                put("response_item", said("assistant", "output_text", text));
                put(
                    "event_msg",
                    json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 600,
                    "cached_input_tokens": 500, "output_tokens": 20}}}),
                );
            }
        }
    }
}

fn said(role: &str, part: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]})
}
