//! Every place of an input made dense, one after another: what chance finds late, or only on somebody else's machine.

use crate::budget::within;
use crate::dense::{ITEMS, list};
use serde_json::Value;
use stash_domain::formats::{OnError, ReadOptions, check};
use std::collections::BTreeSet;
use std::io::Cursor;

/// Elements of a list that are gone into.
const ELEMENTS_MAX: usize = 40;

/// Goes through the inputs of a format.
pub struct Sweep {
    format: String,
    /// One of so many runs is made.
    one_of: usize,
    /// Runs so far, those that were not made included.
    runs: usize,
    /// Places gone through, by the keys on the way there.
    seen: BTreeSet<String>,
}

impl Sweep {
    /// Begins. One of so many runs is made: all are some ten thousand for a format.
    pub fn new(format: &str, one_of: usize) -> Self {
        Self { format: format.to_owned(), one_of: one_of.max(1), runs: 0, seen: BTreeSet::new() }
    }

    /// How many places there were, and how many runs were made.
    pub fn counts(&self) -> (usize, usize) {
        (self.seen.len(), self.runs / self.one_of)
    }

    /// Puts lists of each kind in each place that is new, as JSON and as JSON within text, and reads the input.
    ///
    /// # Panics
    /// When a bound is crossed; what is said before names the place.
    pub fn input(&mut self, input: &str) {
        if let Ok(whole) = serde_json::from_str(input) {
            return self.value("", &whole, "");
        }
        for line in input.split_inclusive('\n') {
            let at = line.as_ptr().addr() - input.as_ptr().addr();
            if let (Ok(value), Some((before, _))) = (serde_json::from_str(line), input.split_at_checked(at)) {
                self.value(before, &value, &input[at + line.len()..]);
            }
        }
    }

    fn value(&mut self, before: &str, value: &Value, after: &str) {
        let mut places = Vec::new();
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        places_of(value, &mut Vec::new(), kind.to_owned(), &mut self.seen, &mut places);
        for place in places {
            for item in ITEMS {
                for in_text in [false, true] {
                    self.runs += 1;
                    if self.runs % self.one_of == 0 {
                        let text = replaced(value, &place, &list(item, in_text));
                        self.read(
                            format!("{before}{text}\n{after}").as_bytes(),
                            &format!("{place:?} {item} {in_text}"),
                        );
                    }
                }
            }
        }
    }

    fn read(&self, input: &[u8], what: &str) {
        let options = ReadOptions { on_error: OnError::Skip, ..ReadOptions::default() };
        let what = format!("{} with {what}", self.format);
        drop(within(&what, input, || check(&self.format, &mut Cursor::new(input), options)));
        let walked = ReadOptions { record_bytes_in_memory: 0, ..options };
        drop(within(&format!("{what}, walked"), input, || check(&self.format, &mut Cursor::new(input), walked)));
    }
}

/// A step on the way to a place.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Element(usize),
    /// Into the JSON that a text is.
    Text,
}

/// The places of a value whose keys are new.
fn places_of(
    value: &Value,
    path: &mut Vec<Step>,
    keys: String,
    seen: &mut BTreeSet<String>,
    places: &mut Vec<Vec<Step>>,
) {
    if seen.insert(keys.clone()) {
        places.push(path.clone());
    }
    let mut below = |step: Step, key: &str, value: &Value| {
        path.push(step);
        places_of(value, path, format!("{keys}.{key}"), seen, places);
        path.pop();
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().take(ELEMENTS_MAX).for_each(|(n, item)| below(Step::Element(n), "*", item));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, value)| below(Step::Key(key.clone()), key, value)),
        Value::String(text) if text.starts_with(['{', '[']) => {
            if let Ok(inner) = serde_json::from_str(text) {
                below(Step::Text, "@", &inner);
            }
        }
        _ => {}
    }
}

/// The text of a value with another in a place.
fn replaced(value: &Value, place: &[Step], by: &str) -> String {
    let Some((step, rest)) = place.split_first() else { return by.to_owned() };
    let joined = |parts: Vec<String>| parts.join(",");
    match (value, step) {
        (Value::Array(items), Step::Element(at)) => {
            let items = items.iter().enumerate();
            let item = |(n, item): (usize, &Value)| if n == *at { replaced(item, rest, by) } else { item.to_string() };
            format!("[{}]", joined(items.map(item).collect()))
        }
        (Value::Object(fields), Step::Key(at)) => {
            let field = |(key, value): (&String, &Value)| {
                let value = if key == at { replaced(value, rest, by) } else { value.to_string() };
                format!("{}:{value}", Value::from(key.as_str()))
            };
            format!("{{{}}}", joined(fields.iter().map(field).collect()))
        }
        (Value::String(text), Step::Text) => {
            let inner = serde_json::from_str(text).unwrap_or_default();
            Value::from(replaced(&inner, rest, by)).to_string()
        }
        _ => value.to_string(),
    }
}
