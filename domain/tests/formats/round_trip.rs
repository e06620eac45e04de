//! What is exported reads back as it was.

use crate::support::{export, good};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};
use stash_domain::trace::{Role, Span, Step, Trace, TraceHead};

fn text() -> impl Strategy<Value = String> {
    "[^\\x00]{0,40}"
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?".prop_map(|digits| Value::Number(digits.parse::<Number>().unwrap())),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(text(), value(), 0..4).prop_map(|map| map.into_iter().collect())
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool])
}

fn step() -> impl Strategy<Value = Step> {
    let optional = || prop::option::of(text());
    let fields = (role(), text(), optional(), prop::option::of(object()), optional(), prop::option::of(object()));
    fields.prop_map(|(role, content, tool_name, tool_input, tool_call_id, metadata)| Step {
        role,
        content,
        tool_name,
        tool_input: tool_input.map(Into::into),
        tool_call_id,
        metadata: metadata.map(Into::into),
    })
}

fn spans(steps: u32) -> impl Strategy<Value = Vec<Span>> {
    let one = (text(), prop::option::of("[a-z]{1,6}"), 1..u64::MAX, 1..u64::MAX, text(), prop::option::of(0..steps));
    prop::collection::vec(one, 0..5).prop_map(|parts| {
        let spans = parts.into_iter().enumerate().map(|(n, (name, kind, one, two, input, index))| Span {
            id: format!("s{n}"),
            parent_id: n.checked_sub(1).map(|n| format!("s{n}")),
            name,
            kind,
            start_ns: one.min(two),
            end_ns: one.max(two),
            output: (!input.is_empty()).then(|| input.clone()),
            input: Some(input),
            step_indices: index.into_iter().collect(),
        });
        spans.collect()
    })
}

fn trace() -> impl Strategy<Value = Trace> {
    let steps = prop::collection::vec(step(), 1..8)
        .prop_filter("only system steps", |steps| steps.iter().any(|step| step.role != Role::System));
    let named = || prop::option::of("[^\\x00]{1,40}");
    let head = (named(), named(), object()).prop_map(|(external_id, title, metadata)| TraceHead {
        external_id,
        title,
        metadata: metadata.into(),
    });
    (head, steps).prop_flat_map(|(head, steps)| {
        let spans = spans(u32::try_from(steps.len()).unwrap());
        (Just(head), Just(steps), spans).prop_map(|(head, steps, spans)| Trace { head, steps, spans })
    })
}

/// The trace as it may be compared with one that was read: calls and results without an id may have been given one.
fn without_made_ids(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    for step in &mut trace.steps {
        let made = step.tool_call_id.as_ref().is_some_and(|id| id.starts_with("stash-call-"));
        step.tool_call_id = step.tool_call_id.take().filter(|_| !made);
    }
    trace
}

proptest! {
    #[test]
    fn export_and_import_are_the_identity(traces in prop::collection::vec(trace(), 1..4)) {
        // A call without an id is given one when it is read first; from then on nothing changes.
        let first = good("stash", &export(&traces));
        for (read, made) in first.iter().zip(&traces) {
            prop_assert_eq!(without_made_ids(read), without_made_ids(made));
        }
        prop_assert_eq!(good("stash", &export(&first)), first);
    }
}

#[test]
fn an_untitled_trace_stays_untitled() {
    let traces = good("stash", br#"{"steps":[{"role":"user","content":"Where is my parcel?"}]}"#);
    let line = export(&traces);
    assert!(!String::from_utf8(line).unwrap().contains("title"));
}
