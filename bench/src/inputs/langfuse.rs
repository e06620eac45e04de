//! Traces with their observations, as the API gives them.

use super::File;
use super::conversation::Conversation;
use super::openai_chat::message;
use serde_json::{Value, json};

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let (trace, root) = (conversation.id(1, 0), conversation.id(2, 0));
    let mut observations = vec![json!({"id": root, "traceId": trace, "type": "AGENT", "name": "bench",
        "startTime": conversation.time(0), "endTime": conversation.time(50), "parentObservationId": null})];
    for (index, (given, made)) in conversation.model_calls().into_iter().enumerate() {
        observations.push(
            json!({"id": conversation.id(2, index + 1), "traceId": trace, "type": "GENERATION", "name": "chat",
            "startTime": conversation.time(index * 3 + 1), "endTime": conversation.time(index * 3 + 3),
            "parentObservationId": root, "model": "bench-1", "usageDetails": {"input": 1200, "output": 80},
            "input": given.iter().map(message).collect::<Vec<Value>>(), "output": message(&made)}),
        );
    }
    out.line(&json!({"id": trace, "name": "bench", "timestamp": conversation.time(0), "userId": "u1",
        "sessionId": "s1", "tags": ["a", "b"], "environment": "production", "observations": observations}));
}
