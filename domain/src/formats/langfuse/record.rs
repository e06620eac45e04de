//! A trace of Langfuse: its head, its observations, what was judged of it.

use super::observation;
use super::scores::{self, judgments};
use crate::formats::common::head::HeadBuilder;
use crate::formats::common::record::{Bad, Out, Stop};
use crate::formats::judgment::{Judgment, ScoreMap};
use crate::formats::observed::facts::most_frequent;
use crate::formats::observed::spans::nanoseconds;
use crate::formats::observed::{Beside, Gathered, Whole, write};
use crate::formats::turns::{of_call, taken_out};
use crate::json::{Json, take_field};
use crate::trace::{Step, TraceHead};
use std::collections::HashMap;

/// Takes a record that is a trace. Its steps and spans go out.
pub(super) fn take(mut record: Json, scores: &ScoreMap, out: &mut Out<'_>) -> Result<(TraceHead, Vec<Judgment>), Bad> {
    let mut observations = observations(lists(&mut record), out)?;
    let trace = match record.get("trace") {
        Some(trace @ Json::Object(_)) => trace,
        _ => &record,
    };
    let head = head(&record, trace, &observations, out)?;
    let mut gathered = Gathered::of(observations.iter().map(|(_, observation)| observation))?;
    let root = root(&observations);
    for (at, (id, observation)) in observations.iter_mut().enumerate() {
        gathered.push(observation::take(id, observation, out));
        if Some(at) != root {
            observation.keep_fields(|key| scores::LISTS.contains(&key));
        }
    }
    let root = root.and_then(|root| observations.get(root));
    let answers = write(gathered, &TraceAndRoot { trace, root }, out).map_err(|stop| match stop {
        Stop::Bad(bad) => bad,
        Stop::Sink(error) => Bad::new("", error.to_string()),
    })?;
    let external_id = head.external_id.as_deref().unwrap_or("");
    let found = scores::Places { record: &record, trace, observations: &observations };
    let judgments = judgments(&found, external_id, &answers, scores, out);
    Ok((head, judgments))
}

/// The trace, and its first observation without a parent.
struct TraceAndRoot<'t> {
    trace: &'t Json,
    root: Option<&'t (String, Json)>,
}

impl Beside for TraceAndRoot<'_> {
    fn system(&self) -> Vec<Step> {
        let of_root = self.root.map(|(_, root)| observation::system(root)).filter(|system| !system.is_empty());
        of_root.unwrap_or_else(|| observation::system(self.trace))
    }

    fn whole(&self, out: &mut Out<'_>) -> Option<Whole> {
        whole(self.trace, self.root, out)
    }
}

/// Takes the lists of observations out of both places, the trace's first.
fn lists(record: &mut Json) -> impl Iterator<Item = Json> + use<> {
    let Json::Object(fields) = record else { return [None, None].into_iter().flatten() };
    let trace = fields.iter_mut().rev().find(|(key, _)| key == "trace");
    let of_trace = match trace {
        Some((_, Json::Object(trace))) => take_field(trace, "observations"),
        _ => None,
    };
    [of_trace, take_field(fields, "observations")].into_iter().flatten()
}

/// The observations of several lists, united by id: the later one stands.
fn observations(lists: impl Iterator<Item = Json>, out: &mut Out<'_>) -> Result<Vec<(String, Json)>, Bad> {
    let mut found: Vec<(String, Json)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for list in lists {
        let items = match taken_out(&list).unwrap_or(list) {
            Json::List(items) => items,
            Json::Null => continue,
            other => return Err(Bad::new("observations", format!("must be an array, not {}", other.kind()))),
        };
        found.reserve(items.iter().filter(|item| matches!(item, Json::Object(_))).count());
        for (n, item) in items.into_iter().enumerate() {
            match item {
                Json::Object(_) => {}
                Json::Text(_) => {
                    return Err(Bad::new(
                        format!("observations[{n}]"),
                        "is only the id of an observation: lists of traces leave the observations out; fetch each trace by \
                         its id, or export it from its page",
                    ));
                }
                other => {
                    out.warn(
                        format!("observations[{n}]"),
                        format!("{} was passed over: an object was expected", other.kind()),
                    );
                    continue;
                }
            }
            let id = item.get("id").and_then(Json::as_text).filter(|id| !id.is_empty());
            let id = id.map_or_else(|| format!("observation-{n}"), str::to_owned);
            match places.get(&id).and_then(|at| found.get_mut(*at)) {
                Some((_, held)) => *held = item,
                None => {
                    places.insert(id.clone(), found.len());
                    found.push((id, item));
                }
            }
        }
    }
    Ok(found)
}

/// Which is the first observation without a parent in the trace.
fn root(observations: &[(String, Json)]) -> Option<usize> {
    let ids: std::collections::HashSet<&str> = observations.iter().map(|(id, _)| id.as_str()).collect();
    let is_root = |observation: &Json| {
        let parent = observation.get("parentObservationId").and_then(Json::as_text);
        parent.is_none_or(|parent| !ids.contains(parent))
    };
    let roots = observations.iter().enumerate().filter(|(_, (_, observation))| is_root(observation));
    let first =
        roots.min_by_key(|(_, (id, observation))| (nanoseconds(observation.get("startTime")).unwrap_or(u64::MAX), id));
    first.map(|(at, _)| at)
}

/// The trace's own input and output, else those of its root.
fn whole(trace: &Json, root: Option<&(String, Json)>, out: &mut Out<'_>) -> Option<Whole> {
    let mut warnings = Vec::new();
    let mut of = |holder: &Json| {
        let at = |key: &str| super::media::marked(holder.get(key).unwrap_or(&Json::Null));
        of_call(&at("input"), &at("output"), &mut warnings)
    };
    let (mut input, mut output) = of(trace);
    let id = root.map_or_else(String::new, |(id, _)| id.clone());
    if let Some((_, root)) = root {
        let (root_input, root_output) = of(root);
        if input.is_empty() {
            input = root_input;
        }
        if output.is_empty() {
            output = root_output;
        }
    }
    for warning in warnings {
        out.warn("input", warning);
    }
    let holder = root.map_or(trace, |(_, root)| root);
    let start = nanoseconds(holder.get("startTime")).or_else(|| nanoseconds(trace.get("timestamp"))).unwrap_or(0);
    let end = nanoseconds(holder.get("endTime")).unwrap_or(start);
    let said = !input.is_empty() || !output.is_empty();
    said.then_some(Whole { id, input, output, times: (start, end.max(start)) })
}

fn head(record: &Json, trace: &Json, observations: &[(String, Json)], out: &mut Out<'_>) -> Result<TraceHead, Bad> {
    let mut head = HeadBuilder::default();
    let models = observations.iter().filter_map(|(_, observation)| observation::model(observation));
    if let Some(model) = most_frequent(models) {
        head.fact("model", Json::Text(model.to_owned()));
    }
    let Json::Object(fields) = trace else { return Ok(head.finish(out)) };
    // Of these the rest is in the steps, the spans and the judgments.
    const ELSEWHERE: [&str; 8] =
        ["input", "output", "observations", "scores", "comments", "corrections", "trace", "_deprecation"];
    for (key, value) in fields.iter().filter(|(key, _)| !ELSEWHERE.contains(&key.as_str())).cloned() {
        match key.as_str() {
            "id" => head.external_id("id", value)?,
            "name" => head.fact("agent", value),
            "sessionId" => head.fact("session", value),
            "userId" => head.fact("user", value),
            "environment" => head.fact("environment", value),
            "tags" => match taken_out(&value).unwrap_or(value) {
                Json::List(tags) if tags.is_empty() => {}
                tags => head.fact("tags", tags),
            },
            "metadata" => match taken_out(&value).unwrap_or(value) {
                metadata @ Json::Object(_) if !metadata.is_too_deep() => head.metadata(metadata)?,
                other if !other.is_too_deep() => head.extra(vec![key], other)?,
                _ => out.warn("metadata", "was left out: it nests too deep"),
            },
            _ if value.is_too_deep() => out.warn(key, "was left out: it nests too deep"),
            _ => head.extra(vec![key], value)?,
        }
    }
    if !std::ptr::eq(record, trace)
        && let Json::Object(fields) = record
    {
        for (key, value) in fields {
            let taken = matches!(key.as_str(), "trace" | "observations" | "scores" | "comments" | "corrections");
            if !taken && trace.get(key).is_none() && !value.is_too_deep() {
                head.extra(vec![key.clone()], value.clone())?;
            }
        }
    }
    Ok(head.finish(out))
}
