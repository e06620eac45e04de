//! What may be cited as a person's feedback on an action. Code chooses it; a judge can only point into it.
//!
//! - Comments on the very step, not flagged as wrong, written by a person.
//! - Messages *after* the action that a person wrote: the next [`MESSAGES_MAX`]. What came before cannot speak of it.
//!
//! Nothing else is ever feedback: summaries of a compaction, context that a harness put in, roles nobody knows, results of tools,
//! and what the agent says of itself.

use super::material::{Material, Target};
use crate::ids::{AnnotationId, StepId};
use serde::{Deserialize, Serialize};

/// Messages after the action that a judge is shown. Feedback on an action stands in the next few; more would make every call of
/// a long conversation as long as the conversation.
pub const MESSAGES_MAX: usize = 12;

/// Comments on the step that a judge is shown, the first.
pub const COMMENTS_MAX: usize = 12;

/// Where a piece of evidence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceId {
    /// In a step.
    Step(StepId),
    /// In the comment of an annotation.
    Comment(AnnotationId),
}

impl std::fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Step(id) => id.fmt(f),
            Self::Comment(id) => id.fmt(f),
        }
    }
}

/// Something a judge may cite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Its name in the prompt: `m1`, `m2`, … for messages, `c1`, … for comments.
    pub name: String,
    /// Where it stands.
    pub id: EvidenceId,
    /// Place of the message among the steps; none for a comment.
    pub place: Option<usize>,
}

/// All that may be cited about a target, messages first, each in order.
pub fn window(material: &Material, target: &Target) -> Vec<Evidence> {
    let messages = material.by_person_after(target.step_index).iter().take(MESSAGES_MAX);
    let messages = messages.zip(1..).filter_map(|(place, number)| {
        let id = EvidenceId::Step(material.steps().get(*place)?.id);
        Some(Evidence { name: format!("m{number}"), id, place: Some(*place) })
    });
    let comments = material.comments().iter().filter(|comment| {
        comment.step_id == Some(target.step_id)
            && comment.by_person
            && !comment.label_error
            && !comment.text.trim().is_empty()
    });
    let comments = comments.take(COMMENTS_MAX).zip(1..).map(|(comment, number)| Evidence {
        name: format!("c{number}"),
        id: EvidenceId::Comment(comment.annotation_id),
        place: None,
    });
    messages.chain(comments).collect()
}

/// The words of a piece of evidence; empty for one of another trace.
pub fn text_of<'m>(material: &'m Material, evidence: &Evidence) -> &'m str {
    match evidence.id {
        EvidenceId::Step(_) => {
            evidence.place.and_then(|place| material.steps().get(place)).map_or("", |step| &step.step.content)
        }
        EvidenceId::Comment(id) => {
            material.comments().iter().find(|comment| comment.annotation_id == id).map_or("", |comment| &comment.text)
        }
    }
}

/// The part of a text that a quote repeats, in the text's own characters. White space may differ, since models break lines anew;
/// every other character must be the same. None for a blank quote or one that is not there.
pub fn verbatim<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    let quote = quote.trim();
    if quote.is_empty() {
        return None;
    }
    if let Some(at) = text.find(quote) {
        return text.get(at..at + quote.len());
    }
    let words: Vec<&str> = quote.split_whitespace().collect();
    let first = *words.first()?;
    text.match_indices(first).find_map(|(start, _)| {
        let mut end = start;
        for (nth, word) in words.iter().enumerate() {
            let rest = text.get(end..)?;
            let trimmed = rest.trim_start();
            let gap = rest.len() - trimmed.len();
            if (nth > 0 && gap == 0) || !trimmed.starts_with(word) {
                return None;
            }
            end += gap + word.len();
        }
        text.get(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::verbatim;

    #[test]
    fn a_quote_is_found_in_the_texts_own_characters() {
        assert_eq!(verbatim("No, I said\n  Tuesday!", "I said Tuesday"), Some("I said\n  Tuesday"));
        assert_eq!(verbatim("aa ab", "ab"), Some("ab"));
        assert_eq!(verbatim("søk «fjord»", " «fjord» "), Some("«fjord»"));
        assert_eq!(verbatim("I said Tuesday", "I said tuesday"), None);
        assert_eq!(verbatim("IsaidTuesday", "I said"), None);
        assert_eq!(verbatim("anything", "  "), None);
    }

    proptest::proptest! {
        #[test]
        fn what_is_found_differs_in_white_space_only(text: String, quote in "[a-c \n]{0,6}") {
            if let Some(found) = verbatim(&text, &quote) {
                proptest::prop_assert!(text.contains(found));
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                proptest::prop_assert_eq!(words(found), words(&quote));
            }
        }

        #[test]
        fn every_part_of_a_text_is_found_in_it(text: String, from in 0_usize..40, length in 1_usize..40) {
            let part: String = text.chars().skip(from).take(length).collect();
            proptest::prop_assert_eq!(verbatim(&text, &part).is_some(), !part.trim().is_empty());
        }
    }
}
