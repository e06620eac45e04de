//! What a training learnt from its traces by asking a language model, and what it asked.

use crate::ids::{JobId, RewardModelId, TraceId};
use crate::sealed::Bundle;
use serde::{Deserialize, Serialize};

/// A judge answered. Recorded before the answer is used, so that after a crash only calls in flight are made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeAnswered {
    /// The model that is to be trained.
    pub reward_model_id: RewardModelId,
    /// The job that asked.
    pub job_id: JobId,
    /// Its attempt.
    pub attempt: i32,
    /// The trace the call was about.
    pub trace_id: TraceId,
    /// What it was for: `feedback`, `judgment` or `review`.
    pub purpose: String,
    /// The model that answered.
    pub classifier_model: String,
    /// Tokens read, those from a provider's cache among them.
    pub input_tokens: i64,
    /// Tokens of those that came from the provider's cache.
    pub cached_tokens: i64,
    /// Tokens written.
    pub output_tokens: i64,
    /// What it cost, in millionths of a US dollar; none if no price is known.
    pub cost_micros: Option<i64>,
    /// Question, parameters and answer: one frame, sealed under the trace ([`crate::learning::extraction::frame`]).
    pub call: Bundle,
}

/// The findings of a training were recorded, before it was asked whether they are enough. They replace those of an earlier attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingsRecorded {
    /// The model.
    pub reward_model_id: RewardModelId,
    /// The job.
    pub job_id: JobId,
    /// Its attempt.
    pub attempt: i32,
    /// Version of the prompts.
    pub prompt_version: i32,
    /// Calls that the findings rest on, kept answers among them.
    pub calls: i64,
    /// Calls that this attempt made, malformed answers among them; what an earlier attempt had answered is not asked again.
    pub calls_made: i64,
    /// Tokens read by the calls made.
    pub input_tokens: i64,
    /// Tokens written by the calls made.
    pub output_tokens: i64,
    /// What the calls made cost, in millionths of a US dollar; none if no price is known.
    pub cost_micros: Option<i64>,
    /// One frame per finding, sealed under its trace ([`crate::learning::extraction::frame`]); no frame: nothing to learn.
    pub findings: Bundle,
}
