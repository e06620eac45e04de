//! What was judged of a trace where it was recorded: scores, comments, corrections.
//!
//! A number says nothing about good or bad: 1 may mean toxic. So a score is a rating only under a name that is known to have a
//! good end, or that the caller names ([`ScoreMap`]); under any other name it is a comment, `name: value`.

use super::common::record::Out;
use crate::json::Json;
use crate::limits::COMMENT_CHARS_MAX;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;

/// Where a judgment was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgmentSource {
    /// Langfuse: scores, comments, corrections.
    Langfuse,
    /// LangSmith: feedback.
    Langsmith,
}

impl JudgmentSource {
    /// The name, as in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Langfuse => "langfuse",
            Self::Langsmith => "langsmith",
        }
    }
}

/// One judgment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// Its id where it was recorded; the same at each import, so that a re-import changes nothing twice.
    pub key: String,
    /// Where it was recorded.
    pub source: JudgmentSource,
    /// What was judged, such as `user-feedback`.
    pub name: String,
    /// 1 for good, -1 for bad, if that is known.
    pub rating: Option<i32>,
    /// In words; at most [`COMMENT_CHARS_MAX`] characters. A judgment has a rating, a comment, or both.
    pub comment: Option<String>,
    /// The step it is about; the trace as a whole if none.
    pub step_index: Option<u32>,
    /// How it came about, in the source's words, lower case: `annotation` or `human` for a person at the tool, `api` for the
    /// application, `eval` or `model` for a model.
    pub origin: Option<String>,
}

/// Which end of a score is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// More is better.
    Up,
    /// Less is better.
    Down,
}

/// Names that a [`ScoreMap`] holds.
pub const SCORE_NAMES_MAX: usize = 32;

/// Names of scores that have a good end by convention.
const KNOWN: [&str; 5] = ["user-feedback", "user_feedback", "thumbs", "correctness", "helpfulness"];

/// Names of scores whose good end the caller knows. Small and fixed in size, as part of the options of a reading: of a name
/// only a digest is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreMap {
    entries: [Option<(u64, Polarity)>; SCORE_NAMES_MAX],
}

impl ScoreMap {
    /// The same with one name more; a name that is there already changes its end. None if it is full.
    pub fn with(mut self, name: &str, polarity: Polarity) -> Option<Self> {
        let key = digest(name);
        let held = self.entries.iter().position(|entry| entry.is_some_and(|(held, _)| held == key));
        let at = held.or_else(|| self.entries.iter().position(Option::is_none))?;
        *self.entries.get_mut(at)? = Some((key, polarity));
        Some(self)
    }

    /// The good end of a score.
    fn polarity(&self, name: &str) -> Option<Polarity> {
        let key = digest(name);
        let named = self.entries.iter().flatten().find(|(held, _)| *held == key).map(|(_, polarity)| *polarity);
        named.or_else(|| KNOWN.contains(&name).then_some(Polarity::Up))
    }
}

fn digest(name: &str) -> u64 {
    Sha256::digest(name.as_bytes()).iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

/// A judgment from what was recorded; none if it says nothing.
fn judgment(recorded: Recorded, scores: &ScoreMap) -> Option<Judgment> {
    let Recorded { key, source, name, value, words, step_index, origin } = recorded;
    let rating = scores.polarity(&name).zip(value.as_ref()).and_then(|(polarity, value)| rating(value, polarity));
    let shown = match value {
        Some(Json::Null) | None => None,
        Some(Json::Text(text)) => Some(text).filter(|text| !text.trim().is_empty()),
        Some(other) => Some(other.compact()),
    };
    let words = words.filter(|words| !words.trim().is_empty());
    let comment = match (rating, shown, words) {
        (Some(_), _, words) => words,
        (None, Some(shown), Some(words)) => Some(format!("{name}: {shown}\n{words}")),
        (None, Some(shown), None) => Some(format!("{name}: {shown}")),
        (None, None, words) => words,
    };
    let comment = comment.map(|comment| comment.chars().take(COMMENT_CHARS_MAX).collect());
    if rating.is_none() && comment.is_none() {
        return None;
    }
    Some(Judgment { key, source, name, rating, comment, step_index, origin })
}

/// Judgments of one trace that are taken.
const JUDGMENTS_MAX: usize = 10_000;

/// The judgments of a trace, each once.
pub(super) struct Judgments<'s> {
    scores: &'s ScoreMap,
    found: Vec<Judgment>,
    keys: HashSet<String>,
    /// How many there were beyond those that are taken.
    further: usize,
}

impl<'s> Judgments<'s> {
    pub(super) fn new(scores: &'s ScoreMap) -> Self {
        Self { scores, found: Vec::new(), keys: HashSet::new(), further: 0 }
    }

    /// Takes one, unless it says nothing or is there already. Beyond the bound they are only counted.
    pub(super) fn take(&mut self, recorded: Recorded) {
        let Some(judgment) = judgment(recorded, self.scores) else { return };
        if self.keys.contains(&judgment.key) {
            return;
        }
        if self.found.len() >= JUDGMENTS_MAX {
            self.further += 1;
            return;
        }
        self.keys.insert(judgment.key.clone());
        self.found.push(judgment);
    }

    /// All that were taken. `place`: where they stand, to say that some were left out.
    pub(super) fn finish(self, place: &str, out: &mut Out<'_>) -> Vec<Judgment> {
        if self.further > 0 {
            let all = self.found.len() + self.further;
            out.warn(place, format!("only the first {JUDGMENTS_MAX} of {all} were taken"));
        }
        self.found
    }
}

/// A judgment as it was recorded.
pub(super) struct Recorded {
    pub(super) key: String,
    pub(super) source: JudgmentSource,
    pub(super) name: String,
    pub(super) value: Option<Json>,
    pub(super) words: Option<String>,
    pub(super) step_index: Option<u32>,
    pub(super) origin: Option<String>,
}

/// The rating that a value gives: of a number between -1 and 1 its end, of a word its meaning. Other scales are not known.
fn rating(value: &Json, polarity: Polarity) -> Option<i32> {
    let good = match value {
        Json::Bool(good) => *good,
        Json::Number(number) => match number.as_str().parse::<f64>().ok()? {
            value if value > 0.5 && value <= 1.0 => true,
            value if (-1.0..0.5).contains(&value) => false,
            _ => return None,
        },
        Json::Text(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" | "up" | "thumbs_up" | "thumbs-up" | "positive" | "good" | "correct" | "helpful"
            | "like" => true,
            "false" | "no" | "down" | "thumbs_down" | "thumbs-down" | "negative" | "bad" | "incorrect"
            | "unhelpful" | "dislike" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(if good == (polarity == Polarity::Up) { 1 } else { -1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(
        name: &str,
        value: &str,
        words: Option<&str>,
        scores: &ScoreMap,
    ) -> Option<(Option<i32>, Option<String>)> {
        let recorded = Recorded {
            key: "k".to_owned(),
            source: JudgmentSource::Langfuse,
            name: name.to_owned(),
            value: Some(serde_json::from_str(value).unwrap()),
            words: words.map(str::to_owned),
            step_index: None,
            origin: None,
        };
        judgment(recorded, scores).map(|judgment| (judgment.rating, judgment.comment))
    }

    #[test]
    fn only_names_with_a_known_good_end_give_ratings() {
        let none = ScoreMap::default();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(judged("user-feedback", "1", None, &none), Some((Some(1), None)));
        assert_eq!(judged("thumbs", "0", Some("meh"), &none), Some((Some(-1), text("meh"))));
        assert_eq!(judged("helpfulness", "0.5", None, &none), Some((None, text("helpfulness: 0.5"))));
        assert_eq!(judged("correctness", "4", None, &none), Some((None, text("correctness: 4"))));
        assert_eq!(judged("correctness", "\"incorrect\"", None, &none), Some((Some(-1), None)));
        assert_eq!(judged("toxicity", "1", Some("rude"), &none), Some((None, text("toxicity: 1\nrude"))));
        assert_eq!(judged("toxicity", "null", None, &none), None);
        let named = none.with("toxicity", Polarity::Down).unwrap().with("tone", Polarity::Up).unwrap();
        assert_eq!(judged("toxicity", "1", Some("rude"), &named), Some((Some(-1), text("rude"))));
        assert_eq!(judged("tone", "true", None, &named), Some((Some(1), None)));
    }

    #[test]
    fn a_score_map_is_bounded_and_its_names_can_be_set_again() {
        let mut map = ScoreMap::default();
        for n in 0..SCORE_NAMES_MAX {
            map = map.with(&n.to_string(), Polarity::Up).unwrap();
        }
        assert_eq!(map.with("more", Polarity::Up), None);
        assert_eq!(map.with("0", Polarity::Down).unwrap().polarity("0"), Some(Polarity::Down));
    }
}
