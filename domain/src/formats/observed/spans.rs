//! Spans from observations: times in nanoseconds, ends not before starts, no ring of parents.

use crate::formats::common::record::Out;
use crate::formats::common::time::moment;
use crate::json::Json;
use crate::trace::Span;
use std::collections::{BTreeMap, HashSet};

/// A moment in nanoseconds since the epoch; none for 0, which stands for unknown.
pub(crate) fn nanoseconds(recorded: Option<&Json>) -> Option<u64> {
    let moment = moment(recorded?)?;
    u64::try_from(moment.as_nanosecond()).ok().filter(|time| *time != 0 && *time != u64::MAX)
}

/// Start and end, as far as they are known: an end that is missing or before the start is the start.
pub(crate) fn times(start: Option<u64>, end: Option<u64>, id: &str, out: &mut Out<'_>) -> Option<(u64, u64)> {
    let start = match (start, end) {
        (Some(start), _) => start,
        (None, Some(end)) => {
            out.warn("", format!("{} has no start; its end was taken", shown(id)));
            end
        }
        (None, None) => {
            out.warn("", format!("{} has no times; it is kept in no span", shown(id)));
            return None;
        }
    };
    match end {
        Some(end) if end >= start => Some((start, end)),
        Some(_) => {
            out.warn("", format!("{} ends before it starts; its start was taken as its end", shown(id)));
            Some((start, start))
        }
        None => Some((start, start)),
    }
}

/// A recorded value as it is kept in a span: a text as it is, other JSON compact.
pub(crate) fn raw(recorded: Option<&Json>) -> Option<String> {
    match recorded? {
        Json::Null => None,
        Json::Text(text) => Some(text.clone()),
        other => Some(other.compact()),
    }
}

/// Cuts rings of parents: the span at which a ring is found loses its parent.
pub(super) fn without_rings(spans: &mut [Span], out: &mut Out<'_>) {
    let parents: BTreeMap<String, Option<String>> =
        spans.iter().map(|span| (span.id.clone(), span.parent_id.clone())).collect();
    // For each span: the walk that passed it, and whether that walk is over.
    let mut passed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cut: HashSet<&str> = HashSet::new();
    for (walk, id) in parents.keys().enumerate() {
        let mut at = id.as_str();
        while !passed.contains_key(at) {
            passed.insert(at, walk);
            let Some(Some(parent)) = parents.get(at) else { break };
            if passed.get(parent.as_str()) == Some(&walk) {
                cut.insert(at);
                break;
            }
            if !parents.contains_key(parent) {
                break;
            }
            at = parent;
        }
    }
    for span in spans.iter_mut().filter(|span| cut.contains(span.id.as_str())) {
        out.warn("", format!("{} is its own ancestor; its parent was left out", shown(&span.id)));
        span.parent_id = None;
    }
}

fn shown(id: &str) -> String {
    format!("observation {:?}", id.chars().take(40).collect::<String>())
}
