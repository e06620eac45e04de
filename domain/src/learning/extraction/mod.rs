//! Extraction: what can be learnt from a trace about each of its actions, by asking a language model.
//!
//! Everything that must hold whatever the model answers is here, and pure; a worker only asks and keeps answers.
//!
//! 1. [`material`]: the trace with its comments; its targets are the agent's responses and tool calls.
//! 2. [`Assessment::of`] one target: code sets its step index, what may be cited as feedback ([`evidence`]) and which criteria
//!    count ([`dropout`]).
//! 3. [`Assessment::call`] is the next question, [`Assessment::answer`] takes the answer. First whether a person reacted; if not,
//!    the model's own judgment; then, for judgments and for all tool calls, a review by a call that sees the prior context only.
//! 4. [`Assessment::finding`]: what was found. Every target has exactly one, also when it makes no pair.
//! 5. [`Harvest`] takes the findings in the job's order; [`Arranged`] splits the pairs.
//!
//! Invariants, each with a property test in `tests/extraction`:
//! - no text of a trace can leave its place in a prompt: it stands in JSON strings, a line each;
//! - no answer makes code panic, and none makes a finding that cites what is no person's word, another step, or what is not there;
//! - the judgment and the review see nothing that came after the action;
//! - the same trace, seed and answers make the same findings.
//!
//! A worker runs at most [`CALLS_PER_TRACE_MAX`] assessments of a trace at once and takes their findings in order.

pub mod alternative;
pub mod answer;
mod assessment;
mod call;
pub mod criteria;
pub mod dropout;
pub mod evidence;
pub mod excerpt;
pub mod finding;
pub mod frame;
mod harvest;
pub mod material;
pub(crate) mod shown;

pub use answer::Malformed;
pub use assessment::{Assessment, Settings};
pub use call::{Call, INSTRUCTIONS, Purpose};
pub use criteria::{Criterion, Sample};
pub use dropout::Dropout;
pub use evidence::EvidenceId;
pub use finding::{Confidence, Exclusion, Finding, Label, Preferred};
pub use harvest::{Arranged, Harvest};
pub use material::{Comment, IdStep, Material, Target};

/// Version of the prompts and schemas. A change of any of them is a new version: answers to the old ones are no answers to it.
pub const PROMPT_VERSION: u32 = 1;

/// Calls about one trace that may run at once.
pub const CALLS_PER_TRACE_MAX: usize = 3;
