//! What a span is: a call of a model, an agent's run, a tool's run, or something else.

use super::carriers::Carried;
use crate::formats::merge::SourceKind;
use crate::otel::OtelSpan;

/// The kind that a span's attributes say, in lower case; none if they do not.
pub(super) fn kind_of(span: &OtelSpan) -> Option<String> {
    let text = |name| span.attributes.text(name).map(str::to_lowercase);
    // LangSmith's exporter calls every run a chat in `gen_ai.operation.name`; its own attribute is right.
    text("langsmith.span.kind")
        .or_else(|| text("gen_ai.operation.name").and_then(|name| of_operation(&name)))
        .or_else(|| text("openinference.span.kind"))
        .or_else(|| text("traceloop.span.kind"))
        .or_else(|| text("llm.request.type").map(|_| "llm".to_owned()))
        .or_else(|| {
            let id = span.attributes.text("ai.operationId")?;
            let kind = if id.starts_with("ai.toolCall") {
                "tool"
            } else if id.contains("embed") {
                "embedding"
            } else {
                "llm"
            };
            Some(kind.to_owned())
        })
}

fn of_operation(name: &str) -> Option<String> {
    let kind = match name {
        "chat" | "text_completion" | "generate_content" | "completion" | "generate" => "llm",
        "execute_tool" => "tool",
        "invoke_agent" | "create_agent" => "agent",
        "embeddings" => "embedding",
        // Anything else may be told better by another attribute.
        _ => return None,
    };
    Some(kind.to_owned())
}

/// Kinds whose inputs and outputs are no conversation, whatever attributes they have.
const SILENT: [&str; 6] = ["embedding", "retriever", "reranker", "guardrail", "evaluator", "retrieval"];

/// Whether a span may hold messages at all.
pub(super) fn may_speak(kind: Option<&str>) -> bool {
    !kind.is_some_and(|kind| kind == "tool" || SILENT.contains(&kind))
}

/// Whether a span is a call or an agent by its kind alone.
pub(super) fn speaks(kind: Option<&str>) -> bool {
    matches!(kind, Some("llm" | "agent"))
}

/// What a span is to the merging. A span of no kind that holds messages is a call.
pub(super) fn source_kind(kind: Option<&str>, carried: Option<&Carried>) -> SourceKind {
    match kind {
        Some("agent") => SourceKind::Agent,
        Some("tool") => SourceKind::Tool,
        _ if carried.is_some() => SourceKind::Llm,
        Some("llm") => SourceKind::Llm,
        _ => SourceKind::Other,
    }
}
