//! The choices of a training: which there are, and their bounds. What the trainer makes of them stands in `docs/training.md`.

use super::bad;
use super::create::in_range;
use crate::commands::Rejection;
use crate::events::TrainingOptions;
use crate::limits::{BATCH_PAIRS_MAX, CENTER_MAX, CLIP_NORM_MAX, LORA_ALPHA_MAX, LORA_RANK_MAX, WEIGHT_DECAY_MAX};

/// Names of what is trained.
pub const METHODS: [&str; 2] = ["full", "lora"];

/// Names of schedules.
pub const SCHEDULES: [&str; 3] = ["linear", "cosine", "constant"];

/// Choices after their JSON was read; absent fields are none, and mean the recipe's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// One of [`METHODS`].
    pub method: Option<String>,
    /// 1 to [`LORA_RANK_MAX`], only with `lora`.
    pub lora_rank: Option<i64>,
    /// Above 0, at most [`LORA_ALPHA_MAX`], only with `lora`.
    pub lora_alpha: Option<f64>,
    /// 1 to [`BATCH_PAIRS_MAX`].
    pub batch_pairs: Option<i64>,
    /// One of [`SCHEDULES`].
    pub schedule: Option<String>,
    /// 0 to 1.
    pub warmup: Option<f64>,
    /// 0 to [`WEIGHT_DECAY_MAX`].
    pub weight_decay: Option<f64>,
    /// Above 0, at most [`CLIP_NORM_MAX`].
    pub clip_norm: Option<f64>,
    /// 0 to [`CENTER_MAX`].
    pub center: Option<f64>,
    /// Whether the token embedding stays as it is.
    pub freeze_embeddings: Option<bool>,
}

/// Checks the choices.
///
/// # Errors
/// [`crate::error::Code::InvalidField`], naming the field.
pub fn check(input: Input) -> Result<TrainingOptions, Rejection> {
    named("training.method", input.method.as_deref(), &METHODS)?;
    named("training.schedule", input.schedule.as_deref(), &SCHEDULES)?;
    let is_lora = input.method.as_deref() == Some("lora");
    for (field, given) in
        [("training.lora_rank", input.lora_rank.is_some()), ("training.lora_alpha", input.lora_alpha.is_some())]
    {
        if given && !is_lora {
            return Err(bad(field, "belongs to training.method \"lora\""));
        }
    }
    within("training.lora_alpha", input.lora_alpha, Low::Above(0.0), LORA_ALPHA_MAX)?;
    within("training.warmup", input.warmup, Low::From(0.0), 1.0)?;
    within("training.weight_decay", input.weight_decay, Low::From(0.0), WEIGHT_DECAY_MAX)?;
    within("training.clip_norm", input.clip_norm, Low::Above(0.0), CLIP_NORM_MAX)?;
    within("training.center", input.center, Low::From(0.0), CENTER_MAX)?;
    let whole = |field: &str, value: Option<i64>, max: u32| value.map(|_| in_range(field, value, 1, max)).transpose();
    Ok(TrainingOptions {
        lora_rank: whole("training.lora_rank", input.lora_rank, LORA_RANK_MAX)?,
        batch_pairs: whole("training.batch_pairs", input.batch_pairs, BATCH_PAIRS_MAX)?,
        method: input.method,
        lora_alpha: input.lora_alpha,
        schedule: input.schedule,
        warmup: input.warmup,
        weight_decay: input.weight_decay,
        clip_norm: input.clip_norm,
        center: input.center,
        freeze_embeddings: input.freeze_embeddings,
    })
}

/// The low end of a range.
#[derive(Clone, Copy)]
enum Low {
    From(f64),
    Above(f64),
}

fn within(field: &str, value: Option<f64>, low: Low, max: f64) -> Result<(), Rejection> {
    let Some(value) = value else { return Ok(()) };
    let (holds, words) = match low {
        Low::From(low) => (value >= low, format!("between {low} and {max}")),
        Low::Above(low) => (value > low, format!("above {low} and at most {max}")),
    };
    if holds && value <= max { Ok(()) } else { Err(bad(field, format_args!("must be {words}, not {value}"))) }
}

fn named(field: &str, value: Option<&str>, names: &[&str]) -> Result<(), Rejection> {
    match value {
        Some(value) if !names.contains(&value) => Err(bad(field, format_args!("must be one of {}", names.join(", ")))),
        _ => Ok(()),
    }
}
