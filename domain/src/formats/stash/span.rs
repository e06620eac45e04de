//! Spans of the canonical form: checked one by one, and against each other by what is remembered of each in 32 bytes.

use super::step::optional_text;
use crate::formats::common::record::{Bad, Out};
use crate::ids::Digest;
use crate::json::Json;
use crate::trace::Span;
use std::collections::HashMap;

/// First half of the digest of a span's id.
type Short = [u8; 16];

/// The spans of a trace so far: each one's parent, by id.
#[derive(Default)]
pub(crate) struct Spans {
    parents: HashMap<Short, Option<Short>>,
}

fn short(id: &str) -> Short {
    let mut short = [0; 16];
    short.copy_from_slice(&Digest::of(id.as_bytes()).0[..16]);
    short
}

impl Spans {
    /// Reads the next span; all steps must have been read.
    pub(super) fn take(&mut self, item: Json, out: &mut Out<'_>) -> Result<Span, Bad> {
        let Json::Object(fields) = item else {
            return Err(Bad::new("", format!("a span must be an object, not {}", item.kind())));
        };
        let (mut id, mut name, mut parent_id, mut kind) = (None, None, None, None);
        let (mut start_ns, mut end_ns, mut input, mut output, mut step_indices) = (None, None, None, None, Vec::new());
        for (key, value) in fields {
            match key.as_str() {
                "id" => id = optional_text("id", value)?,
                "parent_id" => parent_id = optional_text("parent_id", value)?,
                "name" => name = optional_text("name", value)?,
                "kind" => kind = optional_text("kind", value)?.map(|kind| kind.to_lowercase()),
                "start_ns" => start_ns = Some(nanoseconds("start_ns", &value)?),
                "end_ns" => end_ns = Some(nanoseconds("end_ns", &value)?),
                "input" => input = raw(value),
                "output" => output = raw(value),
                "step_indices" => step_indices = indices(value, out.steps)?,
                _ => out.warn(key, "left out: a span has no such field"),
            }
        }
        let missing = |field: &str| Bad::new(field, "is missing");
        let id = id.filter(|id| !id.is_empty()).ok_or_else(|| missing("id"))?;
        let start_ns = start_ns.ok_or_else(|| missing("start_ns"))?;
        let end_ns = end_ns.ok_or_else(|| missing("end_ns"))?;
        if end_ns < start_ns {
            return Err(Bad::new("end_ns", format!("the end {end_ns} is before the start {start_ns}")));
        }
        if self.parents.insert(short(&id), parent_id.as_deref().map(short)).is_some() {
            let shown: String = id.chars().take(40).collect();
            return Err(Bad::new(
                "id",
                format!("{shown:?} is the id of an earlier span; ids must be unique within a trace"),
            ));
        }
        let name = name.ok_or_else(|| missing("name"))?;
        Ok(Span { id, parent_id, name, kind, start_ns, end_ns, input, output, step_indices })
    }

    /// Refuses spans that are their own ancestors. A parent that is absent ends the line: exports may be partial.
    pub(super) fn check_parents(mut self) -> Result<(), Bad> {
        let ids: Vec<Short> = self.parents.keys().copied().collect();
        // Each walk goes up until it meets a span known to be good; then the whole line is good. So every span is passed at
        // most twice, and a walk that meets itself is a cycle.
        for id in ids {
            let mut line = Vec::new();
            let mut at = id;
            while let Some(Some(parent)) = self.parents.get(&at).copied() {
                line.push(at);
                if line.len() > self.parents.len() {
                    return Err(Bad::new("spans", "a span is its own ancestor: parent_id must not form a cycle"));
                }
                at = parent;
            }
            for good in line {
                self.parents.insert(good, None);
            }
        }
        Ok(())
    }
}

/// Nanoseconds since the epoch. 0 and 2^64-1 stand for "unknown" in some exporters and are no times.
fn nanoseconds(field: &str, value: &Json) -> Result<u64, Bad> {
    let digits = match value {
        Json::Text(text) => text.as_str(),
        Json::Number(number) => number.as_str(),
        _ => "",
    };
    match digits.parse() {
        Ok(0 | u64::MAX) | Err(_) => Err(Bad::new(
            field,
            "must be nanoseconds since the epoch: an integer or a decimal string between 1 and 2^64-2",
        )),
        Ok(nanoseconds) => Ok(nanoseconds),
    }
}

/// Recorded input or output: a string as it is, anything else as compact JSON.
fn raw(value: Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::Text(text) => Some(text),
        other => Some(other.compact()),
    }
}

fn indices(value: Json, steps: u32) -> Result<Vec<u32>, Bad> {
    let items = match value {
        Json::List(items) => items,
        Json::Null => return Ok(Vec::new()),
        other => return Err(Bad::new("step_indices", format!("must be an array, not {}", other.kind()))),
    };
    let mut indices = Vec::with_capacity(items.len());
    for (n, item) in items.iter().enumerate() {
        let index = match item {
            Json::Number(number) => number.as_str().parse().ok(),
            _ => None,
        };
        match index.filter(|index| *index < steps) {
            Some(index) => indices.push(index),
            None => {
                let message = format!("must be an index of a step: the trace has {steps}, counted from 0");
                return Err(Bad::new(format!("step_indices[{n}]"), message));
            }
        }
    }
    Ok(indices)
}
