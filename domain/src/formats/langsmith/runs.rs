//! Gathers runs: united by id, grouped by trace.

use crate::formats::common::record::Bad;
use crate::formats::common::source::Place;
use crate::formats::observed::check_size;
use crate::json::Json;
use crate::limits::IMPORT_HELD_BYTES_MAX;
use std::collections::HashMap;

/// Nesting of `child_runs` that is followed.
const CHILDREN_DEPTH_MAX: usize = 64;

/// Parents looked at to find the trace of a run that does not name it.
const PARENTS_MAX: usize = 1_000;

/// A run, its fields as recorded but for ids.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    trace: Option<String>,
    pub(super) fields: Json,
    place: Place,
}

/// The runs of a trace, in the order in which they were met.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: String,
    /// Where the first of them stands.
    pub(super) place: Place,
    pub(super) runs: Vec<Run>,
}

/// Feedback by the id of its run or trace.
pub(super) type Feedback = HashMap<String, Vec<Json>>;

#[derive(Default)]
pub(super) struct Runs {
    places: HashMap<String, usize>,
    runs: Vec<Run>,
    feedback: Feedback,
    bytes: usize,
    /// Bytes of their text.
    text_bytes: usize,
}

/// What is said of a record that is no run.
pub(super) fn no_run() -> Bad {
    Bad::new("run_type", "is missing; a record must be a run, {\"runs\": [...]} or {\"post\": [...], \"patch\": [...]}")
}

impl Runs {
    /// Takes a record; whether it was a run, or runs, or feedback.
    pub(super) fn take(&mut self, place: Place, record: Json) -> Result<bool, Bad> {
        self.bytes = self.bytes.saturating_add(record.bytes_held());
        if self.bytes > IMPORT_HELD_BYTES_MAX {
            return Err(Bad::new(
                "",
                format!(
                    "the runs up to here take more than {IMPORT_HELD_BYTES_MAX} bytes, and any of them may belong to the same \
                     trace; import the traces in several files"
                ),
            ));
        }
        self.text_bytes = self.text_bytes.saturating_add(record.text_bytes());
        let listed = |key: &str| matches!(record.get(key), Some(Json::List(_)));
        if record.get("run_type").is_none() && (listed("runs") || listed("post") || listed("patch")) {
            let Json::Object(fields) = record else { return Ok(false) };
            let mut lists: Vec<(String, Json)> =
                fields.into_iter().filter(|(key, _)| matches!(key.as_str(), "runs" | "post" | "patch")).collect();
            lists.sort_by_key(|(key, _)| key == "patch");
            for (_, list) in lists {
                let Json::List(items) = list else { continue };
                items.into_iter().try_for_each(|item| self.run(place, item, None, CHILDREN_DEPTH_MAX))?;
            }
            return Ok(true);
        }
        let feedback_of = ["run_id", "trace_id"].iter().find_map(|key| record.get(key)?.as_text()).map(str::to_owned);
        if record.get("run_type").is_none() && record.get("key").is_some() {
            return Ok(feedback_of.map(|id| self.feedback.entry(id).or_default().push(record)).is_some());
        }
        if record.get("run_type").is_none() && record.get("dotted_order").is_none() {
            return Ok(false);
        }
        self.run(place, record, None, CHILDREN_DEPTH_MAX)?;
        Ok(true)
    }

    fn run(&mut self, place: Place, run: Json, above: Option<(&str, Option<&str>)>, depth: usize) -> Result<(), Bad> {
        let Json::Object(mut fields) = run else { return Ok(()) };
        let children = fields.iter().position(|(key, _)| key == "child_runs").map(|at| fields.remove(at).1);
        let run = Json::Object(fields);
        let text = |key: &str| run.get(key).and_then(Json::as_text).filter(|text| !text.is_empty());
        let path: Vec<&str> = text("dotted_order").unwrap_or("").split('.').filter_map(uuid_of).collect();
        let id = text("id").or_else(|| text("run_id")).or(path.last().copied());
        let id = id.map_or_else(|| format!("run-{}", self.runs.len()), str::to_owned);
        let parent = text("parent_run_id").or(path.len().checked_sub(2).and_then(|at| path.get(at)).copied());
        let parent = parent.or(above.map(|(parent, _)| parent)).filter(|parent| *parent != id).map(str::to_owned);
        let trace = text("trace_id").or(path.first().copied()).or(above.and_then(|(_, trace)| trace));
        let trace = trace.map(str::to_owned);
        if let (Some(Json::List(children)), Some(depth)) = (children, depth.checked_sub(1)) {
            for child in children {
                self.run(place, child, Some((&id, trace.as_deref())), depth)?;
            }
        }
        match self.places.get(&id).and_then(|at| self.runs.get_mut(*at)) {
            Some(held) => {
                held.parent = held.parent.take().or(parent);
                held.trace = held.trace.take().or(trace);
                held.fields = united(std::mem::replace(&mut held.fields, Json::Null), run);
            }
            None => {
                check_size(self.runs.len().saturating_add(1), self.text_bytes)?;
                self.places.insert(id.clone(), self.runs.len());
                self.runs.push(Run { id, parent, trace, fields: run, place });
            }
        }
        Ok(())
    }

    /// The traces, in the order in which they were first met, and all feedback.
    pub(super) fn traces(self) -> (Vec<Group>, Feedback) {
        let trace_of = |run: &Run| -> String {
            let mut at = run;
            for _ in 0..PARENTS_MAX {
                if let Some(trace) = &at.trace {
                    return trace.clone();
                }
                let Some(parent) = &at.parent else { break };
                match self.places.get(parent).and_then(|place| self.runs.get(*place)) {
                    Some(above) => at = above,
                    None => return parent.clone(),
                }
            }
            at.id.clone()
        };
        let traces: Vec<String> = self.runs.iter().map(trace_of).collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (run, id) in self.runs.into_iter().zip(traces) {
            let at = *places.entry(id.clone()).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Group { id, place: run.place, runs: Vec::with_capacity(1) });
            }
            if let Some(group) = groups.get_mut(at) {
                group.runs.push(run);
            }
        }
        (groups, self.feedback)
    }
}

/// The id within a segment of a dotted order, `<time>Z<id>`.
fn uuid_of(segment: &str) -> Option<&str> {
    segment.split_once('Z').map(|(_, id)| id).filter(|id| !id.is_empty())
}

/// One run of two records of it: of each field the later value, unless it is null.
fn united(held: Json, later: Json) -> Json {
    let (Json::Object(mut fields), Json::Object(more)) = (held, later) else { return Json::Null };
    for (key, value) in more.into_iter().filter(|(_, value)| *value != Json::Null) {
        match fields.iter_mut().find(|(name, _)| *name == key) {
            Some((_, held)) => *held = value,
            None => fields.push((key, value)),
        }
    }
    Json::Object(fields)
}
