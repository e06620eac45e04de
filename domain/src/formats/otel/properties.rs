//! Any order, any split, any repetition of a trace's spans gives one trace.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use super::{AssembleError, GrownSpan, TraceState, grow, rebuild, said};
use crate::json::Json;
use crate::otel::{Attributes, Context, OtelEvent, OtelLog, OtelSpan, OtelSpanId, OtelTraceId, Status, StatusCode};
use crate::trace::{Span, Step, TraceHead};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn trace_id() -> OtelTraceId {
    OtelTraceId::parse("5b8efff798038103d269b633813fc60c").unwrap()
}

fn span_id(number: u8) -> OtelSpanId {
    OtelSpanId::from_bytes(&[0, 0, 0, 0, 0, 0, 1, number]).unwrap()
}

fn text(name: &str, value: impl Into<String>) -> (String, Json) {
    (name.to_owned(), Json::Text(value.into()))
}

/// What an agent does in a trace: how many calls it makes, how they are recorded, and what else is.
#[derive(Clone, Debug)]
struct Script {
    calls: u8,
    /// For each call: whether it makes a tool call, whether it stands in a log record, whether a framework recorded it too.
    shapes: Vec<(bool, bool, bool)>,
    tool_spans: bool,
    root: bool,
    /// Whether calls in log records have one for each message, answers on the root.
    streamed: bool,
}

fn scripts() -> impl Strategy<Value = Script> {
    let shapes = prop::collection::vec((any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 6);
    (1_u8..6, shapes, any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(calls, shapes, tool_spans, root, streamed)| Script { calls, shapes, tool_spans, root, streamed })
}

fn log(span_id: OtelSpanId, time_ns: u64, event_name: &str) -> OtelLog {
    OtelLog {
        trace_id: trace_id(),
        span_id,
        time_ns,
        event_name: event_name.to_owned(),
        attributes: Attributes::default(),
        body: Json::Null,
        sequence: 0,
        context: Context::default(),
    }
}

/// The events of a streamed call: what it was given on its own span, the answer on the one above.
fn streamed(call: &OtelSpan, history: &[String], answer: &str) -> Vec<OtelLog> {
    let body = |message: &str| serde_json::from_str::<Json>(message).unwrap();
    let mut logs: Vec<OtelLog> = history
        .iter()
        .map(|message| {
            let body = body(message);
            let name = format!("gen_ai.{}.message", body.get("role").and_then(Json::as_text).unwrap());
            OtelLog { body, ..log(call.span_id, call.start_ns, &name) }
        })
        .collect();
    // In the order in which they were made: their time is the same.
    logs.iter_mut().zip(0..).for_each(|(log, n)| log.sequence = n);
    let body = Json::Object(vec![("message".to_owned(), body(answer))]);
    logs.push(OtelLog { body, ..log(call.parent.unwrap(), call.end_ns - 1, "gen_ai.choice") });
    logs
}

/// The spans and records of a script: each call repeats the whole history.
fn recorded(script: &Script) -> (Vec<OtelSpan>, Vec<OtelLog>) {
    let (mut spans, mut logs) = (Vec::new(), Vec::new());
    let mut history = vec![r#"{"role":"user","parts":[{"type":"text","content":"Begin"}]}"#.to_owned()];
    let root = script.root.then(|| span_id(200));
    let mut now_ns = 1_700_000_000_000_000_000;
    for n in 0..script.calls {
        let (calls_tool, in_log, twice) = script.shapes.get(usize::from(n)).copied().unwrap_or_default();
        let mut span = OtelSpan::new(trace_id(), span_id(n));
        (span.start_ns, span.end_ns, span.parent) = (now_ns, now_ns + 500, root);
        span.name = format!("chat {n}");
        span.status = Status { code: StatusCode::Ok, message: String::new() };
        let answer = if calls_tool {
            format!(
                r#"{{"role":"assistant","parts":[{{"type":"tool_call","id":"c{n}","name":"f","arguments":{{"n":{n}}}}}]}}"#
            )
        } else {
            format!(r#"{{"role":"assistant","parts":[{{"type":"text","content":"Answer {n}"}}]}}"#)
        };
        let messages = Attributes(vec![
            text("gen_ai.input.messages", format!("[{}]", history.join(","))),
            text("gen_ai.output.messages", format!("[{answer}]")),
        ]);
        span.attributes = Attributes(vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", format!("m{}", n % 2)),
            text("custom.note", format!("note {n}")),
        ]);
        if in_log && script.streamed && root.is_some() {
            logs.extend(streamed(&span, &history, &answer));
        } else if in_log {
            let details = "gen_ai.client.inference.operation.details";
            logs.push(OtelLog { attributes: messages, ..log(span.span_id, now_ns + 400, details) });
        } else {
            span.attributes.0.extend(messages.0);
        }
        if twice {
            let mut outer = OtelSpan::new(trace_id(), span_id(100 + n));
            (outer.start_ns, outer.end_ns, outer.parent) = (now_ns - 10, now_ns + 510, root);
            outer.attributes = span.attributes.clone();
            span.parent = Some(outer.span_id);
            spans.push(outer);
        }
        span.events.push(OtelEvent {
            name: "first token".to_owned(),
            time_ns: now_ns,
            attributes: Attributes::default(),
        });
        spans.push(span);
        history.push(answer);
        if calls_tool {
            if script.tool_spans {
                let mut tool = OtelSpan::new(trace_id(), span_id(50 + n));
                (tool.start_ns, tool.end_ns, tool.parent) = (now_ns + 600, now_ns + 700, root);
                tool.attributes = Attributes(vec![
                    text("gen_ai.operation.name", "execute_tool"),
                    text("gen_ai.tool.name", "f"),
                    text("gen_ai.tool.call.id", format!("c{n}")),
                    text("gen_ai.tool.call.result", format!("result {n}")),
                ]);
                spans.push(tool);
            }
            history.push(format!(
                r#"{{"role":"tool","parts":[{{"type":"tool_call_response","id":"c{n}","response":"result {n}"}}]}}"#
            ));
        } else {
            history.push(format!(r#"{{"role":"user","parts":[{{"type":"text","content":"Go on {n}"}}]}}"#));
        }
        now_ns += 1_000;
    }
    if let Some(root) = root {
        let mut agent = OtelSpan::new(trace_id(), root);
        (agent.start_ns, agent.end_ns) = (1_699_999_999_000_000_000, now_ns);
        agent.attributes = Attributes(vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.agent.name", "helper"),
            text("session.id", "s1"),
        ]);
        spans.push(agent);
    }
    (spans, logs)
}

/// A trace as a server keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kept {
    head: TraceHead,
    steps: Vec<Step>,
    spans: BTreeMap<String, Span>,
}

impl Kept {
    /// `sent`: all spans that were sent, of which inputs and outputs are made when they are read.
    fn take(&mut self, grown: super::Grown, sent: &[OtelSpan]) {
        self.head = grown.head;
        self.steps.truncate(usize::try_from(grown.keep).unwrap());
        self.steps.extend(grown.steps);
        for GrownSpan { mut span, said_bytes } in grown.spans {
            if said_bytes.is_some() {
                assert_eq!((&span.input, &span.output), (&None, &None));
                let recordings = sent.iter().filter(|sent| sent.span_id.to_string() == span.id);
                let stands = recordings.reduce(|held, new| if new.stands_over(held) { new } else { held });
                (span.input, span.output) = said(stands.unwrap());
            }
            assert!(self.spans.insert(span.id.clone(), span).is_none(), "a span is new once");
        }
        for (id, indices) in grown.step_indices {
            if let Some(span) = self.spans.get_mut(&id) {
                span.step_indices = indices;
            }
        }
    }
}

fn whole(spans: &[OtelSpan], logs: &[OtelLog]) -> Kept {
    let mut kept = Kept::default();
    kept.take(rebuild(trace_id(), spans.to_vec(), logs.to_vec()).unwrap().1, spans);
    kept
}

enum Item {
    Span(OtelSpan),
    Log(OtelLog),
}

/// Takes batches in as a server does; how often it had to build the whole again.
fn live(batches: Vec<Vec<Item>>) -> (Kept, TraceState, usize) {
    let (mut stored_spans, mut stored_logs): (Vec<OtelSpan>, Vec<OtelLog>) = (Vec::new(), Vec::new());
    let (mut kept, mut state, mut rebuilds) = (Kept::default(), TraceState::default(), 0);
    for batch in batches {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        for item in batch {
            match item {
                Item::Span(span) => spans.push(span),
                Item::Log(log) => logs.push(log),
            }
        }
        stored_spans.extend(spans.clone());
        stored_logs.extend(logs.clone());
        // The state goes through storage each time.
        let stored = serde_json::to_string(&state).unwrap();
        let mut next: TraceState = serde_json::from_str(&stored).unwrap();
        match grow(&mut next, trace_id(), spans, logs) {
            Ok(grown) => {
                assert!(next.is_shown() || grown.steps.is_empty());
                kept.take(grown, &stored_spans);
                state = next;
            }
            Err(AssembleError::Rebuild) => {
                rebuilds += 1;
                let (built, grown) = rebuild(trace_id(), stored_spans.clone(), stored_logs.clone()).unwrap();
                kept = Kept::default();
                kept.take(grown, &stored_spans);
                state = built;
            }
            Err(error) => panic!("{error}"),
        }
    }
    (kept, state, rebuilds)
}

proptest! {
    #[test]
    fn any_order_and_split_gives_the_same_trace(
        script in scripts(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 40),
        cuts in prop::collection::vec(1_usize..5, 40),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let (spans, logs) = recorded(&script);
        let expected = whole(&spans, &logs);
        let all = || spans.iter().cloned().map(Item::Span).chain(logs.iter().cloned().map(Item::Log));
        let mut rest: Vec<Item> = all().collect();
        let mut items = Vec::new();
        for index in &order {
            if rest.is_empty() {
                break;
            }
            items.push(rest.remove(index.index(rest.len())));
        }
        items.append(&mut rest);
        // Some are sent twice.
        for index in &again {
            items.extend(all().nth(index.index(spans.len() + logs.len())));
        }
        let mut items = items.into_iter();
        let batches = cuts.iter().map(|size| items.by_ref().take(*size).collect::<Vec<_>>()).collect();
        let (kept, state, _) = live(batches);
        prop_assert_eq!(&kept, &expected);
        // Everything sent once more changes nothing.
        let mut next = state.clone();
        let grown = grow(&mut next, trace_id(), spans.clone(), logs.clone()).unwrap();
        prop_assert_eq!(&next, &state);
        let mut same = kept.clone();
        same.take(grown, &spans);
        prop_assert_eq!(same, kept);
    }

    #[test]
    fn a_trace_sent_as_it_happens_is_never_built_again(script in scripts()) {
        let plain = Script { shapes: script.shapes.iter().map(|(tool, _, _)| (*tool, false, false)).collect(), ..script };
        let (spans, logs) = recorded(&plain);
        let expected = whole(&spans, &logs);
        let (kept, _, rebuilds) = live(spans.into_iter().map(|span| vec![Item::Span(span)]).collect());
        prop_assert_eq!(kept, expected);
        prop_assert_eq!(rebuilds, 0);
    }

    #[test]
    fn a_span_reads_back_from_its_stored_form(script in scripts()) {
        let (spans, logs) = recorded(&script);
        for span in spans {
            prop_assert_eq!(&serde_json::from_str::<OtelSpan>(&serde_json::to_string(&span).unwrap()).unwrap(), &span);
        }
        for log in logs {
            prop_assert_eq!(&serde_json::from_str::<OtelLog>(&serde_json::to_string(&log).unwrap()).unwrap(), &log);
        }
    }
}

#[test]
fn a_ring_of_parents_is_cut_the_same_way_whatever_comes_first() {
    let spans: Vec<OtelSpan> = (0..3)
        .map(|n| {
            let mut span = OtelSpan::new(trace_id(), span_id(n));
            (span.parent, span.start_ns, span.end_ns) = (Some(span_id((n + 1) % 3)), 10, 20);
            span.attributes =
                Attributes(vec![text("gen_ai.output.messages", r#"[{"role":"assistant","content":"x"}]"#)]);
            span
        })
        .collect();
    let expected = whole(&spans, &[]);
    assert_eq!(expected.spans.values().filter(|span| span.parent_id.is_none()).count(), 1);
    let (kept, ..) = live(spans.iter().rev().map(|span| vec![Item::Span(span.clone())]).collect());
    assert_eq!(kept, expected);
}
