//! Asks for a reward model to be trained on selected traces.

use super::{bad, checked_name, plain, training};
use crate::commands::Rejection;
use crate::events::{JobRequested, RewardModelCreated, TrainingOptions};
use crate::ids::{CommandId, JobId, RewardModelId, TraceId, made_by};
use crate::limits::{EPOCHS_MAX, NAME_CHARS_MAX, PAIRS_DEFAULT, PAIRS_MAX, TRACES_PER_MODEL_MAX};
use crate::record::{Append, Expected, StreamId};
use crate::sealed::Sealed;
use std::collections::HashSet;

/// The base a model is trained from when the request names none.
pub const BASE_MODEL_DEFAULT: &str = "Qwen/Qwen3-0.6B";

/// A request after its JSON was read; absent fields are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// Name for people.
    pub name: String,
    /// Traces to learn from.
    pub trace_ids: Vec<TraceId>,
    /// Name of the base.
    pub base_model: Option<String>,
    /// Passes over the pairs.
    pub epochs: Option<i64>,
    /// Most pairs.
    pub max_pairs: Option<i64>,
    /// Seed of every random choice.
    pub seed: Option<i64>,
    /// Peak learning rate.
    pub learning_rate: Option<f64>,
    /// How to train.
    pub training: training::Input,
}

/// A request that keeps all rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Name, trimmed.
    pub name: String,
    trace_ids: Vec<TraceId>,
    base_model: String,
    epochs: i32,
    max_pairs: i32,
    seed: i64,
    learning_rate: Option<f64>,
    training: TrainingOptions,
}

/// The model and job that a command makes.
pub fn ids(command: CommandId) -> (RewardModelId, JobId) {
    (made_by(command, "reward-model", 0).into(), made_by(command, "job", 0).into())
}

pub(super) fn in_range(field: &str, value: Option<i64>, default: u32, max: u32) -> Result<i32, Rejection> {
    let value = value.unwrap_or(i64::from(default));
    match i32::try_from(value) {
        Ok(number) if number >= 1 && value <= i64::from(max) => Ok(number),
        _ => Err(bad(field, format_args!("must be between 1 and {max}, not {value}"))),
    }
}

/// Checks a request.
///
/// # Errors
/// [`Code::InvalidField`](crate::error::Code::InvalidField), naming the field.
pub fn check(input: Input) -> Result<Checked, Rejection> {
    let name = checked_name(&input.name)?;
    if input.trace_ids.is_empty() || input.trace_ids.len() > TRACES_PER_MODEL_MAX {
        return Err(bad("trace_ids", format_args!("must name 1 to {TRACES_PER_MODEL_MAX} traces")));
    }
    let mut seen = HashSet::new();
    if let Some(twice) = input.trace_ids.iter().find(|id| !seen.insert(**id)) {
        return Err(bad("trace_ids", format_args!("names {twice} twice")));
    }
    let base_model = input.base_model.unwrap_or_else(|| BASE_MODEL_DEFAULT.to_owned());
    if base_model.is_empty() || base_model.chars().count() > NAME_CHARS_MAX {
        return Err(bad("base_model", format_args!("must have 1 to {NAME_CHARS_MAX} characters")));
    }
    plain("base_model", &base_model)?;
    if let Some(rate) = input.learning_rate
        && !(rate > 0.0 && rate <= 1.0)
    {
        return Err(bad("learning_rate", format_args!("must be above 0 and at most 1, not {rate}")));
    }
    Ok(Checked {
        name,
        trace_ids: input.trace_ids,
        base_model,
        epochs: in_range("epochs", input.epochs, 1, EPOCHS_MAX)?,
        max_pairs: in_range("max_pairs", input.max_pairs, PAIRS_DEFAULT, PAIRS_MAX)?,
        seed: input.seed.unwrap_or(0),
        learning_rate: input.learning_rate,
        training: training::check(input.training)?,
    })
}

impl Checked {
    /// The traces, in the caller's order.
    pub fn trace_ids(&self) -> &[TraceId] {
        &self.trace_ids
    }

    /// Name of the base.
    pub fn base_model(&self) -> &str {
        &self.base_model
    }
}

/// The events; the name comes sealed under the model's own key.
pub fn decide(command: CommandId, checked: Checked, name: Sealed, compute: &str) -> Vec<Append> {
    let (reward_model_id, job_id) = ids(command);
    let created = RewardModelCreated {
        reward_model_id,
        job_id,
        name,
        base_model: checked.base_model,
        compute: compute.to_owned(),
        epochs: checked.epochs,
        max_pairs: checked.max_pairs,
        seed: checked.seed,
        learning_rate: checked.learning_rate,
        trace_ids: checked.trace_ids,
        training: Some(checked.training),
    };
    let job = JobRequested {
        job_id,
        kind: "train".to_owned(),
        compute: compute.to_owned(),
        reward_model_id: Some(reward_model_id),
        run_id: None,
    };
    vec![
        Append {
            stream: StreamId::RewardModel(reward_model_id),
            expected: Expected::Any,
            events: vec![created.into()],
        },
        Append { stream: StreamId::Job(job_id), expected: Expected::Any, events: vec![job.into()] },
    ]
}
