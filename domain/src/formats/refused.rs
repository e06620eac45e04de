//! Shapes that are known and not read. Whoever brings one is told what it is and what to bring instead.

use crate::json::Json;

/// The events of `codex exec --json`.
const CODEX_EXEC_EVENTS: [&str; 9] = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "thread.error",
    "thread.completed",
];

/// Why a record of this sketch is refused, if its shape is one of those known.
pub(super) fn refused(record: &Json) -> Option<&'static str> {
    match record {
        Json::Object(_) => refused_object(record),
        Json::List(elements) => match elements.as_slice() {
            [Json::Text(_), Json::Object(_), ..] => Some(
                "these are [method, event] lines, a stream of notifications and no trace; import the transcript that the \
                 tool keeps, or export its traces by OpenTelemetry",
            ),
            [first, ..] => refused_object(first),
            [] => None,
        },
        _ => None,
    }
}

fn refused_object(record: &Json) -> Option<&'static str> {
    let has = |key| record.get(key).is_some();
    let first = |key| match record.get(key) {
        Some(Json::List(items)) => items.iter().find(|item| matches!(item, Json::Object(_))),
        _ => None,
    };
    let kind = record.get("type").and_then(Json::as_text).unwrap_or("");
    if first("steps").is_some_and(|step| step.get("source").is_some() && step.get("role").is_none()) {
        return Some("this is an ATIF trajectory, which is not read; import the agent's own transcript of the session");
    }
    if first("conversations").is_some_and(is_sharegpt) || is_sharegpt(record) {
        return Some(
            "this is ShareGPT (conversations of {from, value}), which is not read; write each line as {\"messages\": \
             [{\"role\", \"content\"}]} and import it as openai_chat",
        );
    }
    let request = record.get("request").unwrap_or(&Json::Null);
    let contents = [record, request].into_iter().any(|holder| match holder.get("contents") {
        Some(Json::List(contents)) => contents.iter().any(|content| content.get("parts").is_some()),
        Some(contents) => contents.get("parts").is_some(),
        None => false,
    });
    if contents || has("role") && has("parts") && !has("content") {
        return Some(
            "these are Gemini contents, which are not read; write each line as {\"messages\": [{\"role\", \"content\"}]} and \
             import it as openai_chat, or export the traces by OpenTelemetry",
        );
    }
    if CODEX_EXEC_EVENTS.contains(&kind) {
        return Some(
            "this is the output of `codex exec --json`, which leaves out what was sent to the model; import the rollout file \
             of the session, ~/.codex/sessions/**/rollout-*.jsonl",
        );
    }
    if has("session_id") && has("ts") && has("text") {
        return Some(
            "this is Codex's history.jsonl, a list of prompts without answers; import the rollout files, \
             ~/.codex/sessions/**/rollout-*.jsonl",
        );
    }
    if has("resourceMetrics") || has("resource_metrics") {
        return Some(
            "these are OpenTelemetry metrics; traces stand in resourceSpans, or in resourceLogs as GenAI events",
        );
    }
    let streamed = matches!(kind, "system" | "assistant" | "user" | "result" | "stream_event");
    if streamed && has("session_id") && !has("sessionId") {
        return Some(
            "this is the output of `claude --output-format stream-json`, which lacks the order of the session; import its \
             transcript, ~/.claude/projects/**/*.jsonl",
        );
    }
    None
}

fn is_sharegpt(message: &Json) -> bool {
    message.get("from").is_some() && message.get("value").is_some()
}
