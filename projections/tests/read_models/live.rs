//! Requests of spans sent live, as the door makes them.

use crate::build::trace;
use crate::world::World;
use serde_json::{Value, json};
use stash_domain::events::{Event, OtelReceived};
use stash_domain::ids::{Digest, ImportId, OwnerId, content_subject};
use stash_domain::json::Json;
use stash_domain::otel::frame::OtelFrame;
use stash_domain::otel::{Attributes, OtelSpan, OtelSpanId, OtelTraceId};
use stash_domain::record::StreamId;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;

impl World {
    /// Spans, each of a trace by number and with a number of its own that says what it is.
    pub(crate) async fn sent(&self, owner: OwnerId, import: ImportId, spans: &[(u8, u8)]) -> (StreamId, Event) {
        let mut writer = BundleWriter::new(self.store.clone(), owner, Purpose::OTEL_FRAMES);
        for (number, kind) in spans {
            let trace_id = trace(owner, *number);
            let subjects = [content_subject(import, trace_id), trace_id.into()];
            let keys = self.keys.ensure(owner, &subjects).await.unwrap();
            let frame = OtelFrame {
                trace_id,
                otel_id: otel_id(*number),
                step_id_key: Digest(keys[1].step_id_key()),
                spans: vec![span(*number, *kind)],
                logs: Vec::new(),
            };
            writer.push(&keys[0], frame.encode().unwrap()).await.unwrap();
        }
        let event = OtelReceived {
            import_id: import,
            trace_count: spans.len() as i64,
            span_count: spans.len() as i64,
            log_count: 0,
            bundle: writer.finish().await.unwrap(),
        };
        (StreamId::Import(import), event.into())
    }
}

fn otel_id(number: u8) -> OtelTraceId {
    OtelTraceId::from_bytes(&[number + 1; 16]).unwrap()
}

/// Of each eight numbers: five calls that repeat the history, a tool's run, the root, and the root as recorded again.
fn span(trace: u8, number: u8) -> OtelSpan {
    let id = |number: u8| OtelSpanId::from_bytes(&[0, 0, 0, 0, 0, 0, 1, number]).unwrap();
    let text = |name: &str, value: &str| (name.to_owned(), Json::Text(value.to_owned()));
    let kind = number % 8;
    let mut span = OtelSpan::new(otel_id(trace), id(kind.min(6)));
    span.parent = (kind < 6).then(|| id(6));
    (span.name, span.start_ns) = (format!("span {kind}"), 1_700_000_000_000_000_000 + u64::from(kind) * 1000);
    span.end_ns = span.start_ns + 500;
    span.attributes = Attributes(match kind {
        0..=4 => {
            let said = |n: u8| {
                json!({"role": if n.is_multiple_of(2) { "user" } else { "assistant" },
                "parts": [{"type": "text", "content": format!("message {n}\0")}]})
            };
            let history: Vec<Value> = (0..=2 * kind).map(said).collect();
            vec![
                text("gen_ai.operation.name", "chat"),
                text("gen_ai.input.messages", &Value::from(history).to_string()),
                text("gen_ai.output.messages", &json!([said(2 * kind + 1)]).to_string()),
            ]
        }
        5 => vec![text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.call.result", "a result")],
        6 => vec![text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "clerk")],
        _ => vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", "clerk"),
            text("user.id", "ada"),
        ],
    });
    span
}
