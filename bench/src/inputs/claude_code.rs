//! Lines of a session, one conversation after another.

use super::File;
use super::anthropic_messages::blocks;
use super::conversation::{Conversation, Message};
use serde_json::json;

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    for message in conversation.messages() {
        let kind = match message {
            // The transcript does not have it.
            Message::System(_) => continue,
            Message::User(_) | Message::Result(_) => "user",
            Message::Calls(_) | Message::Answer(_) => "assistant",
        };
        let uuid = |line: usize| format!("{line:032x}");
        let parent = out.lines.checked_sub(1).map(uuid);
        let uuid = uuid(out.lines);
        let mut body = json!({"role": kind, "content": blocks(&message)});
        if kind == "assistant" {
            body["id"] = json!(format!("msg_{uuid}"));
            body["model"] = json!("bench-1");
            body["usage"] = json!({"input_tokens": 4, "output_tokens": 80, "cache_read_input_tokens": 1200});
        }
        out.line(&json!({"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "cwd": "/srv/shop",
            "sessionId": "5e55-1", "version": "2.0.0", "gitBranch": "main", "userType": "external",
            "timestamp": conversation.time(out.lines), "message": body}));
    }
}
