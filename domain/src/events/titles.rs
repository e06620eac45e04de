//! Titles of traces that do not come with an import: written by a person here, or by a language model.

use crate::ids::{SubjectId, TraceId};
use crate::sealed::Sealed;
use serde::{Deserialize, Serialize};

/// A trace got a title, or lost the one that a person had given it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceTitled {
    /// The trace.
    pub trace_id: TraceId,
    /// `edited` or `generated` ([`TitleSource`](crate::trace::title::TitleSource)). A person's stands beside a generated one and is
    /// shown in its place.
    pub title_source: String,
    /// The subject whose key seals the title: the trace's content subject at that time.
    pub subject_id: SubjectId,
    /// A [`TitleFrame`](crate::titling::TitleFrame); one without a title takes back what a person wrote.
    pub title: Sealed,
    /// The model that wrote it; none for a person.
    pub model: Option<String>,
    /// Tokens read.
    pub input_tokens: i64,
    /// Tokens written.
    pub output_tokens: i64,
    /// What it cost, in millionths of a US dollar; none if no price is known.
    pub cost_micros: Option<i64>,
}

/// A language model could not give a trace a title, and will not be asked again unless somebody wants that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TitleFailed {
    /// The trace.
    pub trace_id: TraceId,
    /// Stable code of what went wrong.
    pub code: String,
    /// What went wrong, without any content of the trace.
    pub message: String,
    /// The subject whose key seals the basis.
    pub subject_id: SubjectId,
    /// A [`TitleFrame`](crate::titling::TitleFrame) without a title: what the failure is about. Another first message is tried anew.
    pub basis: Sealed,
    /// Tokens read.
    pub input_tokens: i64,
    /// Tokens written.
    pub output_tokens: i64,
    /// What it cost, in millionths of a US dollar; none if no price is known.
    pub cost_micros: Option<i64>,
}

/// Somebody asked for a generated title, after one failed or in the place of the one that is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TitleRequested {
    /// The trace.
    pub trace_id: TraceId,
}
