//! Spans as an agent's tracing library sends them: calls of a model that repeat the history they were given, in protobuf.

use bytes::Bytes;
use prost::Message as _;
use serde_json::{Value, json};
use stash_command_api::otlp::proto;

/// Characters of each message, so that ten calls with full histories have about 3.5 kB each.
const MESSAGE_CHARS: u64 = 215;

/// Messages of a window that a call repeats, in traces of many calls: about as many bytes as above.
const WINDOW: u64 = 11;

/// What a call repeats of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// All of it.
    Full,
    /// The newest messages.
    Newest,
}

/// The calls of a trace, without ids.
#[derive(Debug)]
pub(crate) struct Calls(Vec<proto::Span>);

impl Calls {
    /// So many calls.
    pub(crate) fn new(calls: u64, history: History) -> Self {
        Self((0..calls).map(|number| call(number, history)).collect())
    }

    /// The request of some of them, each of a trace and by its number in it.
    pub(crate) fn request(&self, spans: impl Iterator<Item = (u64, u64)>) -> Vec<u8> {
        let spans = spans.filter_map(|(trace, number)| self.span(trace, number)).collect();
        let resource = proto::Resource { attributes: vec![attribute("service.name", "bench".to_owned())] };
        let scope = proto::Scope { name: "bench".into(), ..proto::Scope::default() };
        let scope_spans = vec![proto::ScopeSpans { scope: Some(scope), spans }];
        let resource = Some(resource);
        let resource_spans = vec![proto::ResourceSpans { resource, scope_spans, ..proto::ResourceSpans::default() }];
        proto::TracesRequest { resource_spans }.encode_to_vec()
    }

    fn span(&self, trace: u64, number: u64) -> Option<proto::Span> {
        let mut span = self.0.get(usize::try_from(number).ok()?)?.clone();
        span.trace_id = Bytes::copy_from_slice(&trace_id(trace).to_be_bytes());
        span.span_id = Bytes::copy_from_slice(&(trace << 20 | (number + 1)).to_be_bytes());
        Some(span)
    }
}

/// The id of the trace with this number.
fn trace_id(trace: u64) -> u128 {
    0x5b8e_fff7_9803_8103_0000_0000_0000_0000 | u128::from(trace)
}

/// The same as text.
pub(crate) fn external_id(trace: u64) -> String {
    format!("{:032x}", trace_id(trace))
}

/// Steps of a trace of so many calls.
pub(crate) fn steps_of(calls: u64) -> u64 {
    2 * calls
}

fn call(number: u64, history: History) -> proto::Span {
    let newest = 2 * number + 1;
    let first = match history {
        History::Full => 0,
        History::Newest => newest.saturating_sub(WINDOW),
    };
    let input: Vec<Value> = (first..newest).map(message).collect();
    let start_ns = 1_790_000_000_000_000_000 + number * 1_000_000_000;
    proto::Span {
        name: "chat bench".into(),
        kind: 3,
        start_time_unix_nano: start_ns,
        end_time_unix_nano: start_ns + 500_000_000,
        attributes: vec![
            attribute("gen_ai.operation.name", "chat".to_owned()),
            attribute("gen_ai.request.model", "bench-1".to_owned()),
            attribute("gen_ai.input.messages", Value::from(input).to_string()),
            attribute("gen_ai.output.messages", Value::from(vec![message(newest)]).to_string()),
            proto::KeyValue {
                key: "gen_ai.usage.input_tokens".into(),
                value: Some(proto::AnyValue { value: Some(proto::Value::Int(800)) }),
            },
        ],
        status: Some(proto::Status { message: Bytes::new(), code: 1 }),
        ..proto::Span::default()
    }
}

/// The message with this number: the person's and the agent's take turns.
fn message(number: u64) -> Value {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let mut text = format!("Message {number} of the case:");
    let mut word = number;
    while (text.len() as u64) < MESSAGE_CHARS {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!(" {:x}", word >> 40));
    }
    json!({"role": role, "parts": [{"type": "text", "content": text}]})
}

fn attribute(key: &'static str, value: String) -> proto::KeyValue {
    let value = proto::AnyValue { value: Some(proto::Value::Text(value.into())) };
    proto::KeyValue { key: key.into(), value: Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_the_size_that_the_figures_speak_of() {
        for (history, calls) in [(History::Full, 10), (History::Newest, 200)] {
            let bytes = Calls::new(calls, history).request((0..calls).map(|number| (1, number))).len() as u64 / calls;
            assert!((3_000..4_000).contains(&bytes), "{history:?}: {bytes}");
        }
    }
}
