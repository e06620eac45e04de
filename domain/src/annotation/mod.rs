//! What an annotation says, and the rules it must keep.

use serde::{Deserialize, Serialize};

/// The highlighted part of a step's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The quoted text; it must occur in the step's content.
    pub text: String,
    /// A few characters before it, to tell repeated text apart.
    #[serde(default)]
    pub prefix: String,
    /// A few characters after it.
    #[serde(default)]
    pub suffix: String,
}

/// All text of an annotation; sealed under its trace's key in events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotationText {
    /// The comment.
    pub comment: Option<String>,
    /// The quote; only on a step.
    pub quote: Option<Quote>,
    /// Why the label is wrong.
    pub label_error_note: Option<String>,
    /// Name of the author as it was at that time.
    pub author_name: Option<String>,
}

mod judgment;
mod quote;
mod rules;

pub use judgment::{AnnotationSource, JudgmentsFrame, StoredJudgment};
pub use quote::find_quote;
pub use rules::{AnnotationError, Rules, StepView};
