//! Attributes that no rule reads: kept by name, each with the number of spans that have it and one of its values, so that they
//! can be listed and looked for.

use super::carriers::NAMES;
use super::facts;
use super::tool;
use crate::formats::common::clean::drop_nul;
use crate::json::{Json, Object, Value};
use crate::otel::{OtelSpan, OtelSpanId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Names kept of a trace; beyond, the last in the alphabet are left out.
pub(super) const NAMES_MAX: usize = 200;

/// Characters of a name, and of a value as text.
const CHARS_MAX: usize = 200;

/// Names that are read beside those of the carriers, the tools and the facts.
const OTHERS: [&str; 8] = [
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
    "langsmith.span.kind",
    "ai.operationId",
    "llm.request.type",
    "gen_ai.request.choice.count",
    "gen_ai.request.n",
];

/// An attribute by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Named {
    spans: u64,
    start_ns: u64,
    span: OtelSpanId,
    example: Value,
}

/// The attributes so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Unmapped(BTreeMap<String, Named>);

impl Unmapped {
    /// Takes in a span. An attribute counts once for it, however many indices it has.
    pub(super) fn see(&mut self, span: &OtelSpan) {
        let mut met = BTreeSet::new();
        for (name, value) in span.attributes.0.iter().chain(&span.context.0) {
            if *value == Json::Null || is_mapped(name) {
                continue;
            }
            let name = without_indices(name);
            if self.0.len() >= NAMES_MAX && self.0.last_key_value().is_some_and(|(last, _)| name > *last) {
                continue;
            }
            if !met.insert(name.clone()) {
                continue;
            }
            let fresh = (span.start_ns, span.span_id);
            match self.0.get_mut(&name) {
                Some(named) => {
                    named.spans += 1;
                    if fresh < (named.start_ns, named.span) {
                        (named.start_ns, named.span, named.example) = (fresh.0, fresh.1, clipped(value));
                    }
                }
                None => {
                    let named = Named { spans: 1, start_ns: fresh.0, span: fresh.1, example: clipped(value) };
                    self.0.insert(name, named);
                    if self.0.len() > NAMES_MAX {
                        self.0.pop_last();
                    }
                }
            }
        }
    }

    /// For the trace's metadata; none if there are none.
    pub(super) fn shown(&self) -> Option<Value> {
        let shown = |named: &Named| {
            let mut shown = Object::of("spans", named.spans);
            shown.insert("example", named.example.clone());
            Value::Object(shown)
        };
        (!self.0.is_empty())
            .then(|| Value::Object(self.0.iter().map(|(name, named)| (name.clone(), shown(named))).collect()))
    }
}

fn is_mapped(name: &str) -> bool {
    let below = |known: &str| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let lists: [&[&str]; 9] = [
        NAMES,
        &OTHERS,
        &facts::AGENT,
        &facts::SESSION,
        &facts::USER,
        &facts::ENVIRONMENT,
        &facts::TAGS,
        &facts::MODEL,
        &facts::INPUT_TOKENS,
    ];
    let more: [&[&str]; 2] = [&facts::OUTPUT_TOKENS, &facts::CACHED_TOKENS];
    let tools = tool::READ.iter().map(|names| names.as_slice());
    lists.into_iter().chain(more).chain(tools).any(|names| names.iter().any(|known| below(known)))
}

/// The name with `*` for each index.
fn without_indices(name: &str) -> String {
    let mut path: String = name.chars().take(CHARS_MAX).collect();
    drop_nul(&mut path);
    if !path.bytes().any(|byte| byte.is_ascii_digit()) {
        return path;
    }
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps: Vec<&str> = path.split('.').map(|step| if is_index(step) { "*" } else { step }).collect();
    steps.join(".")
}

/// A value: what is small as it is, everything else as text that is cut.
fn clipped(value: &Json) -> Value {
    match value {
        Json::Bool(_) | Json::Number(_) => value.clone().into_value(),
        Json::Text(text) => Value::Text(cut(text)),
        other => Value::Text(cut(&other.compact())),
    }
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    drop_nul(&mut cut);
    cut
}
