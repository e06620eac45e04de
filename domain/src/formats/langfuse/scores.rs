//! Scores, comments and corrections of a trace and of its observations.

use super::observation::decoded;
use crate::formats::common::record::Out;
use crate::formats::judgment::{Judgment, JudgmentSource, Judgments, Recorded, ScoreMap};
use crate::formats::observed::Answers;
use crate::json::Json;

/// Fields that hold judgments.
pub(super) const LISTS: [&str; 3] = ["scores", "comments", "corrections"];

/// Where judgments may stand.
pub(super) struct Places<'j> {
    pub(super) record: &'j Json,
    pub(super) trace: &'j Json,
    pub(super) observations: &'j [(String, Json)],
}

/// All judgments, each once. One of an observation is about the last answer that this added, else about the trace.
pub(super) fn judgments(
    places: &Places<'_>,
    trace_id: &str,
    answers: &Answers,
    scores: &ScoreMap,
    out: &mut Out<'_>,
) -> Vec<Judgment> {
    let mut taken = Judgments::new(scores);
    let holders = [(places.record, None), (places.trace, None)].into_iter();
    let holders = holders.chain(places.observations.iter().map(|(id, observation)| (observation, Some(id.as_str()))));
    for (holder, observation) in holders {
        for list in LISTS {
            let held = decoded(holder.get(list));
            let Some(Json::List(items)) = held.as_deref() else { continue };
            let items = items.iter().enumerate();
            let recorded = items.filter_map(|(n, item)| one(list, n, item, observation, trace_id, answers));
            recorded.for_each(|recorded| taken.take(recorded));
        }
    }
    taken.finish("scores", out)
}

/// A score's value: a number, a boolean or a text as it is, anything else as text.
fn shown(value: &Json) -> Json {
    match value {
        Json::List(_) | Json::Object(_) => Json::Text(value.compact()),
        plain => plain.clone(),
    }
}

fn one(list: &str, n: usize, item: &Json, holder: Option<&str>, trace_id: &str, answers: &Answers) -> Option<Recorded> {
    if !matches!(item, Json::Object(_)) {
        return None;
    }
    let text = |keys: &[&str]| keys.iter().find_map(|key| item.get(key)?.as_text()).filter(|text| !text.is_empty());
    let of_observation = text(&["objectType"]).is_none_or(|kind| kind.eq_ignore_ascii_case("observation"));
    let observation = text(&["observationId"]).or_else(|| text(&["objectId"]).filter(|_| of_observation)).or(holder);
    let default_name = match list {
        "scores" => "score",
        "comments" => "comment",
        _ => "correction",
    };
    let name = text(&["name"]).unwrap_or(default_name).to_owned();
    let kind = text(&["dataType"]).unwrap_or("").to_uppercase();
    let (value, words) = if list == "scores" && kind != "CORRECTION" {
        // Of a category the word says more than its number.
        let word = item.get("stringValue").filter(|word| matches!(word, Json::Text(text) if !text.is_empty()));
        let value = if kind == "BOOLEAN" { item.get("value").or(word) } else { word.or_else(|| item.get("value")) };
        (value.map(shown), text(&["comment"]).map(str::to_owned))
    } else {
        let keys = ["content", "correction", "longStringValue", "stringValue", "value", "output", "comment"];
        let held = keys.iter().find_map(|key| item.get(key).filter(|held| **held != Json::Null));
        let words = held.map(|held| held.as_text().map_or_else(|| held.compact(), str::to_owned));
        (None, words)
    };
    let key = text(&["id"])
        .map_or_else(|| format!("{trace_id}/{}/{list}/{name}/{n}", observation.unwrap_or("")), str::to_owned);
    Some(Recorded {
        key,
        source: JudgmentSource::Langfuse,
        name,
        value,
        words,
        step_index: observation.and_then(|id| answers.get(id)).copied(),
        origin: text(&["source"]).map(str::to_lowercase),
    })
}
