//! The trace of a group of runs.

use super::feedback::{self, judgments};
use super::run::{self, at, model, side};
use super::runs::{Feedback, Group, Run};
use crate::formats::common::head::HeadBuilder;
use crate::formats::common::record::{Bad, Out, Stop};
use crate::formats::judgment::{Judgment, ScoreMap};
use crate::formats::observed::facts::most_frequent;
use crate::formats::observed::spans::nanoseconds;
use crate::formats::observed::{Beside, Gathered, Whole, write};
use crate::formats::turns::{of_call, system_of_call};
use crate::json::Json;
use crate::trace::{Step, TraceHead};
use std::collections::HashSet;

/// Takes a group. Its steps and spans go out.
pub(super) fn take(
    mut group: Group,
    feedback: &Feedback,
    scores: &ScoreMap,
    out: &mut Out<'_>,
) -> Result<(TraceHead, Vec<Judgment>), Bad> {
    let root = root(&group);
    let head = head(&group, root.and_then(|root| group.runs.get(root)), out)?;
    let mut gathered = Gathered::of(group.runs.iter().map(|run| &run.fields))?;
    for (at, run) in group.runs.iter_mut().enumerate() {
        gathered.push(run::take(run, out));
        if Some(at) != root {
            run.fields.keep_fields(|key| feedback::FIELDS.contains(&key));
        }
    }
    let root = root.and_then(|root| group.runs.get(root));
    let answers = write(gathered, &Root(root), out).map_err(|stop| match stop {
        Stop::Bad(bad) => bad,
        Stop::Sink(error) => Bad::new("", error.to_string()),
    })?;
    let judgments = judgments(&group, root.map(|root| root.id.as_str()), feedback, &answers, scores, out);
    Ok((head, judgments))
}

/// Which is the first run without a parent in the group, the one with the trace's id if there is one.
fn root(group: &Group) -> Option<usize> {
    let ids: HashSet<&str> = group.runs.iter().map(|run| run.id.as_str()).collect();
    let is_root = |run: &Run| run.parent.as_deref().is_none_or(|parent| !ids.contains(parent));
    let roots = group.runs.iter().enumerate().filter(|(_, run)| is_root(run));
    let first = roots.min_by_key(|(_, run)| {
        let start = nanoseconds(run.fields.get("start_time")).unwrap_or(u64::MAX);
        (run.id != group.id, run.parent.is_some(), start, &run.id)
    });
    first.map(|(at, _)| at)
}

/// The first run without a parent.
struct Root<'r>(Option<&'r Run>);

impl Beside for Root<'_> {
    fn system(&self) -> Vec<Step> {
        let of = |root: &Run| system_of_call(&side(&root.fields, "inputs"), &side(&root.fields, "outputs"));
        self.0.map(of).unwrap_or_default()
    }

    fn whole(&self, out: &mut Out<'_>) -> Option<Whole> {
        self.0.and_then(|root| whole(root, out))
    }
}

/// What the root was given and answered.
fn whole(root: &Run, out: &mut Out<'_>) -> Option<Whole> {
    let mut warnings = Vec::new();
    let (input, output) = of_call(&side(&root.fields, "inputs"), &side(&root.fields, "outputs"), &mut warnings);
    if input.is_empty() && output.is_empty() {
        return None;
    }
    warnings.into_iter().for_each(|warning| out.warn("inputs", warning));
    let start = nanoseconds(root.fields.get("start_time")).unwrap_or(0);
    let end = nanoseconds(root.fields.get("end_time")).unwrap_or(start);
    Some(Whole { id: root.id.clone(), input, output, times: (start, end.max(start)) })
}

fn head(group: &Group, root: Option<&Run>, out: &mut Out<'_>) -> Result<TraceHead, Bad> {
    let mut head = HeadBuilder::default();
    head.external_id("trace_id", Json::Text(group.id.clone()))?;
    if let Some(model) = most_frequent(group.runs.iter().filter_map(|run| model(&run.fields))) {
        head.fact("model", Json::Text(model.to_owned()));
    }
    // Of a group without its root, any run knows the metadata that it was given.
    let known = root.map(|root| &root.fields).into_iter().chain(group.runs.iter().map(|run| &run.fields));
    let fact = |keys: &[&str]| {
        let at_key = |key: &&str| known.clone().find_map(|run| at(run, &["extra", "metadata", key]));
        keys.iter().find_map(at_key).filter(|value| matches!(value, Json::Text(_) | Json::Number(_))).cloned()
    };
    let session = fact(&["session_id", "thread_id", "conversation_id"]);
    let (user, environment) = (fact(&["user_id", "user"]), fact(&["environment", "env", "LANGSMITH_ENVIRONMENT"]));
    for (name, value) in [("session", session), ("user", user), ("environment", environment)] {
        head.fact(name, value.unwrap_or(Json::Null));
    }
    let Some(root) = root else { return Ok(head.finish(out)) };
    if root.parent.is_none() {
        head.fact("agent", root.fields.get("name").cloned().unwrap_or(Json::Null));
    }
    match root.fields.get("tags") {
        Some(Json::List(tags)) if !tags.is_empty() => head.fact("tags", Json::List(tags.clone())),
        _ => {}
    }
    match at(&root.fields, &["extra", "metadata"]) {
        Some(metadata @ Json::Object(_)) if !metadata.is_too_deep() => head.metadata(metadata.clone())?,
        Some(Json::Object(_)) => out.warn("extra.metadata", "was left out: it nests too deep"),
        _ => {}
    }
    for key in ["session_id", "session_name", "reference_example_id", "app_path"] {
        head.extra(vec![key.to_owned()], root.fields.get(key).cloned().unwrap_or(Json::Null))?;
    }
    Ok(head.finish(out))
}
