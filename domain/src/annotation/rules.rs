//! The rules an annotation keeps, when it is written and after each change.

use super::{AnnotationText, find_quote};
use crate::limits::{COMMENT_CHARS_MAX, QUOTE_CHARS_MAX, QUOTE_CONTEXT_CHARS_MAX};
use crate::trace::Role;

/// A rule that an annotation breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationError {
    /// Neither a rating nor a comment.
    #[error("an annotation needs a rating, a comment, or both")]
    Empty,
    /// A rating other than the two.
    #[error("rating: must be 1 or -1, not {0}")]
    Rating(i64),
    /// A rating on a system step.
    #[error("rating: a system step is context and not an action of the agent; it can have a comment, but no rating")]
    RatedContext,
    /// A quote without a step.
    #[error("quote: a quote needs the step_id of the step it is from")]
    QuoteWithoutStep,
    /// A quote whose text is not in the step.
    #[error("quote.text: this text does not occur in the step's content")]
    QuoteNotFound,
    /// A text over its limit, or an empty one.
    #[error("{field}: must have 1 to {max} characters, and has {actual}")]
    Length {
        /// The field.
        field: &'static str,
        /// Most characters.
        max: usize,
        /// Its characters.
        actual: usize,
    },
    /// A note without a flag.
    #[error("label_error_note: only a label that is flagged as wrong (label_error: true) has a note")]
    NoteWithoutFlag,
}

/// The step that is annotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepView<'a> {
    /// Who speaks in it.
    pub role: Role,
    /// What is said.
    pub content: &'a str,
}

/// An annotation to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'a> {
    /// The step; none for the whole trace.
    pub step: Option<StepView<'a>>,
    /// The rating.
    pub rating: Option<i64>,
    /// Whether the label is flagged as wrong.
    pub label_error: bool,
    /// The text.
    pub text: &'a AnnotationText,
}

impl Rules<'_> {
    /// Checks all rules; the rating as it is stored.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn check(&self) -> Result<Option<i32>, AnnotationError> {
        let rating = match self.rating {
            None => None,
            Some(1) => Some(1),
            Some(-1) => Some(-1),
            Some(other) => return Err(AnnotationError::Rating(other)),
        };
        if rating.is_none() && self.text.comment.is_none() {
            return Err(AnnotationError::Empty);
        }
        if rating.is_some() && self.step.is_some_and(|step| step.role == Role::System) {
            return Err(AnnotationError::RatedContext);
        }
        if let Some(comment) = &self.text.comment {
            length("comment", comment, 1, COMMENT_CHARS_MAX)?;
        }
        if let Some(note) = &self.text.label_error_note {
            length("label_error_note", note, 1, COMMENT_CHARS_MAX)?;
            if !self.label_error {
                return Err(AnnotationError::NoteWithoutFlag);
            }
        }
        self.check_quote()?;
        Ok(rating)
    }

    fn check_quote(&self) -> Result<(), AnnotationError> {
        let Some(quote) = &self.text.quote else { return Ok(()) };
        let step = self.step.ok_or(AnnotationError::QuoteWithoutStep)?;
        length("quote.text", &quote.text, 1, QUOTE_CHARS_MAX)?;
        length("quote.prefix", &quote.prefix, 0, QUOTE_CONTEXT_CHARS_MAX)?;
        length("quote.suffix", &quote.suffix, 0, QUOTE_CONTEXT_CHARS_MAX)?;
        find_quote(step.content, quote).map(|_| ()).ok_or(AnnotationError::QuoteNotFound)
    }
}

fn length(field: &'static str, text: &str, min: usize, max: usize) -> Result<(), AnnotationError> {
    let actual = text.chars().count();
    if (min..=max).contains(&actual) { Ok(()) } else { Err(AnnotationError::Length { field, max, actual }) }
}

#[cfg(test)]
mod tests {
    use super::super::Quote;
    use super::*;

    fn check(
        step: Option<StepView<'_>>,
        rating: Option<i64>,
        text: &AnnotationText,
    ) -> Result<Option<i32>, AnnotationError> {
        Rules { step, rating, label_error: false, text }.check()
    }

    fn comment(text: &str) -> AnnotationText {
        AnnotationText { comment: Some(text.to_owned()), ..AnnotationText::default() }
    }

    const ANSWER: StepView<'static> = StepView { role: Role::Assistant, content: "Sure! It is done." };

    #[test]
    fn a_rating_a_comment_or_both() {
        assert_eq!(check(None, Some(1), &AnnotationText::default()), Ok(Some(1)));
        assert_eq!(check(Some(ANSWER), None, &comment("nice")), Ok(None));
        assert_eq!(check(None, None, &AnnotationText::default()), Err(AnnotationError::Empty));
        assert_eq!(check(None, Some(0), &comment("x")), Err(AnnotationError::Rating(0)));
    }

    #[test]
    fn context_can_be_commented_but_not_rated() {
        let system = StepView { role: Role::System, content: "You are an agent." };
        assert_eq!(check(Some(system), None, &comment("too short")), Ok(None));
        assert_eq!(check(Some(system), Some(-1), &comment("bad")), Err(AnnotationError::RatedContext));
    }

    #[test]
    fn a_quote_is_from_its_step() {
        let quoted = |text: &str| AnnotationText {
            quote: Some(Quote { text: text.to_owned(), prefix: String::new(), suffix: String::new() }),
            ..comment("hm")
        };
        assert_eq!(check(Some(ANSWER), None, &quoted("It is done")), Ok(None));
        assert_eq!(check(Some(ANSWER), None, &quoted("It was done")), Err(AnnotationError::QuoteNotFound));
        assert_eq!(check(None, None, &quoted("It is done")), Err(AnnotationError::QuoteWithoutStep));
    }

    #[test]
    fn texts_are_bounded_and_a_note_needs_its_flag() {
        let long = comment(&"x".repeat(COMMENT_CHARS_MAX + 1));
        assert!(matches!(check(None, None, &long), Err(AnnotationError::Length { field: "comment", .. })));
        let note = AnnotationText { label_error_note: Some("typo".to_owned()), ..comment("x") };
        assert_eq!(check(None, None, &note), Err(AnnotationError::NoteWithoutFlag));
    }
}
