//! What the read routes answer: rows of the read models as JSON, field by field.
//!
//! Invariants: every field is always there, null when it has no value; times are RFC 3339 in UTC; nanoseconds are decimal strings;
//! JSON that people recorded (metadata, tool input) is passed on as it was, digit for digit.

mod annotation;
mod command;
mod format;
mod job;
mod json_text;
mod llm;
mod moment;
pub(crate) mod names;
mod pair;
mod pending_trace;
mod reward_model;
mod score;
mod scoring_run;
mod step;
mod trace;

pub use annotation::{Annotation, AnnotationSource, ExportedAnnotation, Quote};
pub use command::{CommandConflict, CommandState, CommandStatus};
pub use format::Format;
pub use job::JobFacts;
pub use json_text::JsonText;
pub use llm::{LlmModels, LlmProcessing, LlmUse};
pub use moment::Moment;
pub use pair::{Pair, PairEvidence};
pub use pending_trace::PendingTrace;
pub use reward_model::{
    Curve, CurvePoint, Finding, Learning, MadeOf, RewardModel, RewardModelDetail, TrainingOptions, Weights,
};
pub use score::{ActionScore, LatestScore, TraceScore};
pub use scoring_run::ScoringRun;
pub use step::{ExportedStep, Span, Step};
pub use trace::{ExportedTrace, TraceDetail, TraceList, TraceSummary, TraceTitle};
