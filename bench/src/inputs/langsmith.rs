//! Runs, a line each.

use super::File;
use super::conversation::Conversation;
use super::openai_chat::message;
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let root = conversation.id(1, 0);
    out.line(
        &json!({"id": root, "trace_id": root, "run_type": "chain", "name": "bench", "start_time": conversation.time(0),
        "end_time": conversation.time(50), "inputs": {}, "outputs": {}, "dotted_order": dotted(conversation, 0),
        "extra": {"metadata": {"thread_id": "t1", "user_id": "u1"}}, "tags": ["a"]}),
    );
    for (index, (given, made)) in conversation.model_calls().into_iter().enumerate() {
        out.line(
            &json!({"id": conversation.id(1, index + 1), "trace_id": root, "parent_run_id": root, "run_type": "llm",
            "name": "ChatBench", "start_time": conversation.time(index * 3 + 1),
            "end_time": conversation.time(index * 3 + 3), "dotted_order": dotted(conversation, index + 1),
            "inputs": {"messages": given.iter().map(message).collect::<Vec<Value>>()},
            "outputs": {"choices": [{"message": message(&made), "finish_reason": "stop"}]},
            "extra": {"invocation_params": {"model": "bench-1"}}, "status": "success", "error": null}),
        );
    }
}

fn dotted(conversation: &Conversation, index: usize) -> String {
    let part = |index: usize| format!("20260302T{:06}Z{}", index, conversation.id(1, index));
    if index == 0 { part(0) } else { format!("{}.{}", part(0), part(index)) }
}
