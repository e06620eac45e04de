//! Facts about calls, under the names they have in metadata: tokens, status, model.

use crate::json::{Json, Object, Value};
use std::collections::BTreeMap;

/// Names of the tokens a call was given.
const INPUT: [&str; 6] =
    ["input_tokens", "prompt_tokens", "input", "promptTokens", "inputTokens", "prompt_token_count"];
/// Names of the tokens it answered with.
const OUTPUT: [&str; 6] =
    ["output_tokens", "completion_tokens", "output", "completionTokens", "outputTokens", "candidates_token_count"];
/// Names of the tokens it was given from a cache.
const CACHED: [&str; 5] =
    ["cached_tokens", "cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "input_cached"];
/// Objects within which the cached tokens may stand.
const DETAILS: [&str; 3] = ["input_token_details", "prompt_tokens_details", "input_tokens_details"];

/// Tokens of a call from the first of several places that tells any.
pub(crate) fn usage(places: &[Option<&Json>]) -> Option<Value> {
    places.iter().flatten().find_map(|place| usage_at(place))
}

fn usage_at(place: &Json) -> Option<Value> {
    let number = |holder: &Json, keys: &[&str]| {
        keys.iter().find_map(|key| match holder.get(key)? {
            Json::Number(number) => number.as_str().parse::<u64>().ok(),
            _ => None,
        })
    };
    let cached = number(place, &CACHED).or_else(|| {
        let details = DETAILS.iter().find_map(|key| place.get(key))?;
        number(details, &["cached_tokens", "cache_read"])
    });
    let found =
        [("input_tokens", number(place, &INPUT)), ("output_tokens", number(place, &OUTPUT)), ("cached_tokens", cached)];
    let usage: Object =
        found.into_iter().filter_map(|(name, tokens)| Some((name.to_owned(), Value::from(tokens?)))).collect();
    (!usage.is_empty()).then_some(Value::Object(usage))
}

/// Facts of one call.
pub(crate) fn facts(usage: Option<Value>, model: Option<&str>, error: Option<&str>, status_known: bool) -> Object {
    let mut facts = Object::new();
    if let Some(usage) = usage {
        facts.insert("usage", usage);
    }
    if let Some(model) = model {
        facts.insert("model", model);
    }
    match error {
        Some(message) => {
            facts.insert("status", "error");
            if !message.is_empty() {
                facts.insert("status_message", message);
            }
        }
        None if status_known => facts.insert("status", "ok"),
        None => {}
    }
    facts
}

/// The most frequent of several; of equally frequent ones the first in order.
pub(crate) fn most_frequent<'v>(values: impl Iterator<Item = &'v str>) -> Option<&'v str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.into_iter().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value))).map(|(value, _)| value)
}
