//! Feedback on runs: by itself, within a run, or as the counts that a run keeps of it.

use super::runs::{Feedback, Group};
use crate::formats::common::record::Out;
use crate::formats::judgment::{Judgment, JudgmentSource, Judgments, Recorded, ScoreMap};
use crate::formats::observed::Answers;
use crate::json::Json;

/// Fields of a run that hold feedback.
pub(super) const FIELDS: [&str; 3] = ["feedback", "feedbacks", "feedback_stats"];

/// All judgments of a group, each once. Feedback on a run is about the last answer that this added, else about the trace;
/// feedback on the root is about the trace.
pub(super) fn judgments(
    group: &Group,
    root: Option<&str>,
    feedback: &Feedback,
    answers: &Answers,
    scores: &ScoreMap,
    out: &mut Out<'_>,
) -> Vec<Judgment> {
    let mut taken = Judgments::new(scores);
    let step_of = |run: &str| answers.get(run).copied().filter(|_| root != Some(run) || group.runs.len() == 1);
    let trace =
        std::iter::once((group.id.as_str(), None)).filter(|(id, _)| !group.runs.iter().any(|run| run.id == *id));
    for (id, run) in group.runs.iter().map(|run| (run.id.as_str(), Some(run))).chain(trace) {
        let within = |key| match run.and_then(|run| run.fields.get(key)) {
            Some(Json::List(more)) => more.as_slice(),
            _ => &[],
        };
        let items = feedback.get(id).into_iter().flatten().chain(within("feedback")).chain(within("feedbacks"));
        let mut any = false;
        for (n, item) in items.enumerate() {
            any = true;
            taken.take(one(id, n, item, step_of(id)));
        }
        if let (Some(run), false) = (run, any) {
            counted(id, &run.fields, step_of(id)).for_each(|recorded| taken.take(recorded));
        }
    }
    taken.finish("feedback", out)
}

fn one(run: &str, n: usize, item: &Json, step_index: Option<u32>) -> Recorded {
    let text = |key: &str| item.get(key).and_then(Json::as_text).filter(|text| !text.is_empty());
    let name = text("key").unwrap_or("feedback").to_owned();
    let filled = |key: &&&str| item.get(key).is_some_and(|held| *held != Json::Null);
    let value = ["score", "value"].iter().find(filled).and_then(|key| item.get(key)).cloned();
    let correction = item.get("correction").filter(|held| **held != Json::Null);
    let correction = correction.map(|held| held.as_text().map_or_else(|| held.compact(), str::to_owned));
    let words: Vec<String> = text("comment").map(str::to_owned).into_iter().chain(correction).collect();
    let origin = item.get("feedback_source").and_then(|source| source.get("type")?.as_text()).map(str::to_lowercase);
    Recorded {
        key: text("id").map_or_else(|| format!("{run}/{name}/{n}"), str::to_owned),
        source: JudgmentSource::Langsmith,
        name,
        value,
        words: Some(words.join("\n")).filter(|words| !words.is_empty()),
        step_index,
        origin,
    }
}

/// `feedback_stats`: of each name how many there are, their mean, and sometimes what was said.
fn counted<'a>(run: &'a str, fields: &'a Json, step_index: Option<u32>) -> impl Iterator<Item = Recorded> + 'a {
    let stats = match fields.get("feedback_stats") {
        Some(Json::Object(stats)) => stats.as_slice(),
        _ => &[],
    };
    let one = move |(name, counts): &(String, Json)| {
        let words = match counts.get("comments") {
            Some(Json::List(comments)) => {
                let said: Vec<&str> = comments.iter().filter_map(Json::as_text).collect();
                Some(said.join("\n"))
            }
            _ => None,
        };
        Recorded {
            key: format!("{run}/{name}"),
            source: JudgmentSource::Langsmith,
            name: name.clone(),
            value: counts.get("avg").cloned(),
            words: words.filter(|words| !words.is_empty()),
            step_index,
            origin: None,
        }
    };
    stats.iter().map(one)
}
