//! What can be searched for: agent, model, session, user, tags and environment of a trace, usage and status of a call.
//!
//! They are gathered span by span, in any order, to the same result: of several values the one of the better attribute stands,
//! then that of the earlier span; of names beyond a bound the first in the alphabet are kept, with exact counts.

use super::unmapped::Unmapped;
use super::warned::Warned;
use crate::formats::common::clean::drop_nul;
use crate::json::parse::whole_value;
use crate::json::{Json, Object, Value};
use crate::otel::{Attributes, OtelSpan, OtelSpanId, OtelTraceId, StatusCode};
use crate::trace::TraceHead;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a fact; what is longer is cut.
const FACT_CHARS_MAX: usize = 256;

/// Models told apart in a trace, and tags kept of one.
const NAMES_MAX: usize = 64;

pub(super) const AGENT: [&str; 3] = ["gen_ai.agent.name", "agent.name", "service.name"];
pub(super) const SESSION: [&str; 7] = [
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "langsmith.trace.session_id",
    "traceloop.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "thread.id",
];
pub(super) const USER: [&str; 5] = [
    "user.id",
    "enduser.id",
    "langfuse.user.id",
    "traceloop.association.properties.user_id",
    "ai.telemetry.metadata.userId",
];
pub(super) const ENVIRONMENT: [&str; 3] =
    ["deployment.environment.name", "deployment.environment", "langfuse.environment"];
pub(super) const TAGS: [&str; 4] = ["tag.tags", "langfuse.trace.tags", "langsmith.span.tags", "tags"];
pub(super) const MODEL: [&str; 6] = [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "llm.request.model",
];
pub(super) const INPUT_TOKENS: [&str; 6] = [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
];
pub(super) const OUTPUT_TOKENS: [&str; 6] = [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
];
pub(super) const CACHED_TOKENS: [&str; 6] = [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "llm.usage.cache_read_input_tokens",
    "ai.usage.cachedInputTokens",
];

/// A value, and what decides between it and others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Ranked {
    rank: usize,
    start_ns: u64,
    span: OtelSpanId,
    value: String,
}

/// The facts of a trace so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    agent: Option<Ranked>,
    session: Option<Ranked>,
    user: Option<Ranked>,
    environment: Option<Ranked>,
    models: BTreeMap<String, u64>,
    tags: BTreeSet<String>,
    unmapped: Unmapped,
    #[serde(default, skip_serializing_if = "Warned::is_empty")]
    warned: Warned,
}

impl Facts {
    /// Takes in a span: whether it is a call of a model, and what was changed or left out of it.
    pub(super) fn see(&mut self, span: &OtelSpan, is_call: bool, warnings: &[String]) {
        self.warned.see(span, warnings);
        better(&mut self.agent, span, &AGENT);
        better(&mut self.session, span, &SESSION);
        better(&mut self.user, span, &USER);
        better(&mut self.environment, span, &ENVIRONMENT);
        if is_call && let Some(model) = model(span) {
            *self.models.entry(model).or_insert(0) += 1;
            if self.models.len() > NAMES_MAX {
                self.models.pop_last();
            }
        }
        for name in TAGS {
            let Some(value) = span.attributes.value(name).or_else(|| span.context.value(name)) else { continue };
            let listed = match value {
                Json::Text(text) => match whole_value(&text) {
                    Some(Json::List(items)) => items,
                    _ => text.split(',').map(|tag| Json::Text(tag.trim().to_owned())).collect(),
                },
                Json::List(items) => items,
                _ => Vec::new(),
            };
            self.tags.extend(listed.iter().filter_map(Json::as_text).filter(|tag| !tag.is_empty()).map(cut));
            while self.tags.len() > NAMES_MAX {
                self.tags.pop_last();
            }
        }
        self.unmapped.see(span);
    }

    /// The head of the trace.
    pub(super) fn head(&self, trace_id: OtelTraceId) -> TraceHead {
        let mut metadata = Object::new();
        let single = [
            ("agent", &self.agent),
            ("session", &self.session),
            ("user", &self.user),
            ("environment", &self.environment),
        ];
        for (name, ranked) in single {
            if let Some(ranked) = ranked {
                metadata.insert(name, ranked.value.as_str());
            }
        }
        // Of the most frequent models the first in the alphabet.
        let model = self.models.iter().max_by(|(a, m), (b, n)| m.cmp(n).then_with(|| b.cmp(a)));
        if let Some((model, _)) = model {
            metadata.insert("model", model.as_str());
        }
        if !self.tags.is_empty() {
            metadata.insert("tags", self.tags.iter().map(|tag| tag.as_str().into()).collect::<Value>());
        }
        let lists = [("unmapped", self.unmapped.shown()), ("warnings", self.warned.shown())];
        let lists: Object = lists.into_iter().filter_map(|(name, list)| Some((name.to_owned(), list?))).collect();
        if !lists.is_empty() {
            metadata.insert("otel", lists);
        }
        TraceHead { external_id: Some(trace_id.to_string()), title: None, metadata }
    }
}

fn better(held: &mut Option<Ranked>, span: &OtelSpan, names: &[&str]) {
    let found = names.iter().enumerate().find_map(|(rank, name)| {
        let value = fact(&span.attributes, name).or_else(|| fact(&span.context, name))?;
        Some(Ranked { rank, start_ns: span.start_ns, span: span.span_id, value })
    });
    if let Some(found) = found
        && held.as_ref().is_none_or(|held| found < *held)
    {
        *held = Some(found);
    }
}

/// The text of an attribute, or the digits of a number. The name that SDKs give to a service without one is no fact.
fn fact(attributes: &Attributes, name: &str) -> Option<String> {
    let text = match attributes.get(name)? {
        Json::Text(text) => text.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && !text.starts_with("unknown_service")).then(|| cut(&text))
}

fn cut(text: &str) -> String {
    let mut text: String = text.chars().take(FACT_CHARS_MAX).collect();
    drop_nul(&mut text);
    text
}

fn model(span: &OtelSpan) -> Option<String> {
    MODEL.iter().find_map(|name| fact(&span.attributes, name))
}

/// Metadata of a call's answer: its usage, its status, its model.
pub(super) fn of_call(span: &OtelSpan) -> Object {
    let mut facts = Object::new();
    let mut usage = Object::new();
    for (name, attributes) in
        [("input_tokens", INPUT_TOKENS), ("output_tokens", OUTPUT_TOKENS), ("cached_tokens", CACHED_TOKENS)]
    {
        if let Some(count) = attributes.iter().find_map(|attribute| count(span, attribute)) {
            usage.insert(name, count);
        }
    }
    if !usage.is_empty() {
        facts.insert("usage", usage);
    }
    if let Some(model) = model(span) {
        facts.insert("model", model);
    }
    match span.status.code {
        StatusCode::Unset => {}
        StatusCode::Ok => facts.insert("status", "ok"),
        StatusCode::Error => {
            facts.insert("status", "error");
            if !span.status.message.is_empty() {
                facts.insert("status_message", span.status.message.as_str());
            }
        }
    }
    facts
}

fn count(span: &OtelSpan, attribute: &str) -> Option<u64> {
    match span.attributes.get(attribute)? {
        Json::Number(number) => number.as_str().split('.').next()?.parse().ok(),
        Json::Text(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}
