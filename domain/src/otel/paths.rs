//! The structure that names spell out which are paths into it: `a.0.b` = 1 and `a.0.c` = 2 give `[{"b": 1, "c": 2}]` for `a`.
//!
//! A name of fifty bytes may have two dozen steps, each of which would be an object of its own: so steps are counted, and
//! beyond a bound that follows the size of what is spelt out, the rest of a name is one step.

use crate::json::Json;
use std::collections::BTreeMap;

/// Steps of a path that are followed; a name with more has its rest as one step.
pub(super) const PATH_STEPS_MAX: usize = 24;

/// Bytes of names and values for each step beyond [`STEPS_FREE`]. A step takes about 120 bytes of memory.
const BYTES_PER_STEP: usize = 8;

/// Steps that there may be however short the names are.
const STEPS_FREE: usize = 4096;

/// A value on its way into the structure.
struct Entry<'a> {
    /// What is left of its path below where it is; none at its end.
    rest: Option<&'a str>,
    value: &'a Json,
    /// The step on which it goes on.
    step: &'a str,
    key: Key,
}

/// In this order things stand beside each other: values, elements by their numbers, and names in the order in which they were met.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Value,
    Index(u32),
    Name(usize),
}

/// The structure; none if no path has a value. Numbers count as indices and are put in their order; gaps close. Of a path that
/// stands twice the last value counts.
pub(super) fn tree<'a>(named: impl Iterator<Item = (&'a str, &'a Json)>) -> Option<Json> {
    let entry = |(path, value)| Entry { rest: Some(path), value, step: path, key: Key::Value };
    let mut entries: Vec<Entry<'a>> = named.map(entry).collect();
    if entries.iter().all(|entry| *entry.value == Json::Null) {
        return None;
    }
    let bytes: usize = entries.iter().map(|entry| entry.step.len() + entry.value.bytes_held()).sum();
    let mut steps = STEPS_FREE + bytes / BYTES_PER_STEP;
    Some(spelt(&mut entries, PATH_STEPS_MAX, &mut steps))
}

/// `levels`: steps that these paths may still have; `steps`: those that all may.
fn spelt(entries: &mut [Entry<'_>], levels: usize, steps: &mut usize) -> Json {
    let goes_on = levels > 1 && *steps > 0;
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &mut *entries {
        let Some(path) = entry.rest else {
            entry.key = Key::Value;
            continue;
        };
        (entry.step, entry.rest) = match path.split_once('.').filter(|_| goes_on) {
            Some((step, rest)) => (step, Some(rest)),
            None => (path, None),
        };
        let next = places.len();
        entry.key = match entry.step.parse() {
            Ok(index) => Key::Index(index),
            Err(_) => Key::Name(*places.entry(entry.step).or_insert(next)),
        };
    }
    drop(places);
    entries.sort_by_key(|entry| entry.key);
    let values = entries.partition_point(|entry| entry.key == Key::Value);
    let (values, below) = entries.split_at_mut_checked(values).unwrap_or_default();
    // A value that stands beside what is below it is left out: a path is the more exact one.
    if below.is_empty() {
        return values.last().map_or(Json::Null, |entry| entry.value.clone());
    }
    let is_list = below.iter().all(|entry| matches!(entry.key, Key::Index(_)));
    let (mut items, mut fields) = (Vec::new(), Vec::new());
    for same in below.chunk_by_mut(|a, b| a.key == b.key) {
        *steps = steps.saturating_sub(1);
        let name = same.first().map(|entry| match entry.key {
            Key::Index(index) => index.to_string(),
            Key::Name(_) | Key::Value => entry.step.to_owned(),
        });
        let json = spelt(same, levels.saturating_sub(1), steps);
        match is_list {
            true => items.push(json),
            false => fields.push((name.unwrap_or_default(), json)),
        }
    }
    if is_list { Json::List(items) } else { Json::Object(fields) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(json: &Json) -> usize {
        match json {
            Json::List(items) => 1 + items.iter().map(parts).sum::<usize>(),
            Json::Object(fields) => 1 + fields.iter().map(|(_, value)| parts(value)).sum::<usize>(),
            _ => 1,
        }
    }

    proptest! {
        #[test]
        fn whatever_the_names_it_is_bounded_and_loses_no_value(names in prop::collection::vec("[a-c0-1.]{1,80}", 1..60)) {
            let values: Vec<Json> = (0..names.len()).map(|n| Json::Text(format!("value {n}"))).collect();
            let found = tree(names.iter().map(String::as_str).zip(&values)).unwrap();
            let text = found.compact();
            // Only one of equal paths, and nothing that a longer path goes through.
            let held = names.iter().enumerate().filter(|(n, _)| text.contains(&format!("\"value {n}\""))).count();
            prop_assert!(held > 0);
            prop_assert!(parts(&found) <= 1 + names.iter().map(|name| name.split('.').count()).sum::<usize>());
        }
    }

    #[test]
    fn many_deep_names_are_not_many_objects() {
        let names: Vec<String> = (0..20_000).map(|n| format!("{n:05}x{}", ".a".repeat(30))).collect();
        let found = tree(names.iter().map(|name| (name.as_str(), &Json::Bool(true)))).unwrap();
        let bytes: usize = names.iter().map(String::len).sum();
        // The first step and the rest are there of each, whatever else.
        assert!(parts(&found) < 3 * names.len() + STEPS_FREE + bytes, "{}", parts(&found));
        let Json::Object(fields) = &found else { panic!("{}", found.kind()) };
        assert_eq!(fields.len(), names.len());
        let rest = Json::Object(vec![(format!("a{}", ".a".repeat(29)), Json::Bool(true))]);
        assert_eq!(fields.last(), Some(&("19999x".to_owned(), rest)), "the rest of a name is one step");
    }
}
