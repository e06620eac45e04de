//! A batch of spans in OTLP/JSON, as an exporter writes a line for each: a root and the calls of the model with messages in the
//! semantic conventions' attributes.

use super::File;
use super::conversation::{Conversation, Message};
use serde_json::{Value, json};

/// When the first conversation began, in nanoseconds since 1970.
const BEGIN_NS: u64 = 1_770_000_000_000_000_000;

pub(super) fn write(conversation: &Conversation, out: &mut File) {
    let trace = conversation.id(1, 0);
    let start = BEGIN_NS + conversation.number * 3_600_000_000_000;
    let span = |index: usize, name: &str, attributes: Vec<Value>| {
        let begin = start + index as u64 * 2_000_000_000;
        let mut span = json!({"traceId": trace, "spanId": format!("{:016x}", conversation.number * 1000 + index as u64 + 1),
            "name": name, "kind": 3, "startTimeUnixNano": begin.to_string(),
            "endTimeUnixNano": (begin + 1_500_000_000).to_string(), "attributes": attributes, "status": {"code": 1}});
        if index > 0 {
            span["parentSpanId"] = json!(format!("{:016x}", conversation.number * 1000 + 1));
        }
        span
    };
    let mut spans = vec![span(
        0,
        "invoke_agent bench",
        vec![text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "bench")],
    )];
    for (index, (given, made)) in conversation.model_calls().into_iter().enumerate() {
        let given: Vec<Value> = given.iter().map(|given| message(given, false)).collect();
        spans.push(span(
            index + 1,
            "chat bench-1",
            vec![
                text("gen_ai.operation.name", "chat"),
                text("gen_ai.provider.name", "bench"),
                text("gen_ai.request.model", "bench-1"),
                json!({"key": "gen_ai.usage.input_tokens", "value": {"intValue": "1200"}}),
                json!({"key": "gen_ai.usage.output_tokens", "value": {"intValue": "80"}}),
                text("gen_ai.input.messages", &Value::Array(given).to_string()),
                text("gen_ai.output.messages", &Value::Array(vec![message(&made, true)]).to_string()),
            ],
        ));
    }
    out.line(&json!({"resourceSpans": [{"resource": {"attributes": [text("service.name", "bench")]},
        "scopeSpans": [{"scope": {"name": "bench.instrumentation", "version": "1"}, "spans": spans}]}]}));
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn message(message: &Message<'_>, output: bool) -> Value {
    let (role, parts) = match message {
        Message::System(text) => ("system", vec![json!({"type": "text", "content": text})]),
        Message::User(text) => ("user", vec![json!({"type": "text", "content": text})]),
        Message::Answer(text) => ("assistant", vec![json!({"type": "text", "content": text})]),
        Message::Calls(calls) => (
            "assistant",
            calls
                .iter()
                .map(|call| json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}))
                .collect(),
        ),
        Message::Result(call) => {
            ("tool", vec![json!({"type": "tool_call_response", "id": call.id, "response": call.result})])
        }
    };
    let mut message = json!({"role": role, "parts": parts});
    if output {
        message["finish_reason"] = json!("stop");
    }
    message
}
