//! What was found out about one action.

use super::criteria::Sample;
use super::evidence::EvidenceId;
use crate::ids::{Digest, StepId, TraceId};
use crate::learning::frame::Source;
use crate::rendering::Revision;
use crate::trace::ActionType;
use serde::{Deserialize, Serialize};

/// Characters of a reason that are kept: more is an answer out of hand.
pub const REASON_CHARS_MAX: usize = 4_000;

/// Characters of a quote that are kept.
pub const QUOTE_CHARS_MAX: usize = 2_000;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// The name, as in JSON and in tables.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

names! {
    /// What is thought of an action.
    Label {
        /// Good.
        Positive = "positive",
        /// Bad.
        Negative = "negative",
        /// Nothing can be told.
        Unclear = "unclear",
    }
}

names! {
    /// How sure the judge says it is: its own word, no probability.
    Confidence {
        /// Sure.
        High = "high",
        /// Not sure.
        Low = "low",
    }
}

names! {
    /// Which of the two a finding prefers.
    Preferred {
        /// What was done.
        Original = "original",
        /// The alternative.
        Revision = "revision",
    }
}

names! {
    /// Why a finding made no pair.
    Exclusion {
        /// It says neither good nor bad.
        Unclear = "unclear",
        /// The judge is not sure.
        LowConfidence = "low_confidence",
        /// There is no alternative; disappointment need not come with a correction.
        NoAlternative = "no_alternative",
        /// The alternative cannot stand in the action's place.
        InvalidAlternative = "invalid_alternative",
        /// The alternative is the action itself.
        SameAlternative = "same_alternative",
        /// The alternative is not backed by the context.
        Unsupported = "unsupported",
        /// What would be preferred, or the alternative, is not safe.
        Unsafe = "unsafe",
        /// The review found neither better.
        Tie = "tie",
        /// The review found the other one better.
        Reversed = "reversed",
        /// People rated the action the other way.
        ContradictsRating = "contradicts_rating",
        /// Another finding made the same pair of texts.
        DuplicatePair = "duplicate_pair",
        /// There were enough pairs.
        OverMaxPairs = "over_max_pairs",
    }
}

/// A finding, with all that a report shows of it and a pair needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The trace.
    pub trace_id: TraceId,
    /// The action.
    pub step_id: StepId,
    /// Its zero-based index among all steps, set by code.
    pub step_index: u32,
    /// Its kind.
    pub action_type: ActionType,
    /// The tool, if it is a call.
    pub tool_name: Option<String>,
    /// Digest of the action text judged.
    pub digest: Digest,
    /// What is thought of it.
    pub label: Label,
    /// How sure the judge is.
    pub confidence: Confidence,
    /// Whether a person's words or a model's judgment say so; never [`Source::ExplicitRating`].
    pub source: Source,
    /// What is cited: a person's message or comment, or the action itself.
    pub evidence_id: EvidenceId,
    /// Verbatim from there.
    pub evidence_quote: String,
    /// The criteria it was judged by.
    pub criteria: Sample,
    /// Why, the criteria among it.
    pub reason: String,
    /// The model that judged.
    pub classifier_model: String,
    /// The alternative, if it can stand in the action's place.
    pub revision: Option<Revision>,
    /// Digest of the action text that the alternative makes.
    pub revision_digest: Option<Digest>,
    /// Which of the two is better; none if neither can be told to be.
    pub preferred: Option<Preferred>,
    /// Why it makes no pair; none if it makes one.
    pub exclusion: Option<Exclusion>,
}

/// The reason as it is kept: the criteria first, then the judge's words.
pub(super) fn reason(criteria: &Sample, words: &str) -> String {
    let words: String = words.trim().chars().take(REASON_CHARS_MAX).collect();
    format!("Criteria: {}. {words}", criteria.names())
}
