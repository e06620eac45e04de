//! The training loop.
//!
//! 1. for each epoch, batches in the schedule's order
//! 2. for each batch, passes of bounded size: forward, loss, backward; gradients add up in the weights
//! 3. the gradient is checked and scaled down to `clip_norm`, AdamW updates the weights
//!
//! A request to stop is honoured before each pass. Nothing is written but progress, and now and then the state between two
//! steps ([`crate::resume`]), from which a killed training goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use stash_model::arch::Role;
use tch::Tensor;

use crate::error::TrainError;
use crate::job::Job;
use crate::loss::bradley_terry;
use crate::model::fused::Fused;
use crate::model::{Model, Named};
use crate::optimizer::{AdamW, Trained};
use crate::output::{Output, PROGRESS_LINES_MAX, Progress};
use crate::pack::{Batch, Cost, Example, Pass, passes};
use crate::pairs::Pairs;
use crate::resume::Keeper;
use crate::schedule;

/// Most points of the loss curve that is kept.
const CURVE_POINTS_MAX: usize = 200;
/// Steps whose mean loss is the final loss.
const FINAL_STEPS: usize = 10;

/// What a training measured.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Optimizer steps.
    pub steps: usize,
    /// Mean loss of the last ten steps.
    pub final_loss: f64,
    /// (step, mean loss up to it since the point before).
    pub loss_curve: Vec<(usize, f64)>,
    /// Tokens computed, each shared beginning once.
    pub tokens: usize,
    /// Tokens of all texts seen, as if each had been computed by itself.
    pub text_tokens: usize,
    /// Seconds of the loop.
    pub seconds: f64,
}

/// Trains `model` on the pairs.
///
/// # Errors
/// When a loss or gradient is not finite, `stop` is set, libtorch fails, or progress cannot be written.
pub fn train(
    job: &Job,
    pairs: &Pairs,
    model: &Model,
    fused: Option<Fused>,
    keeper: &mut Keeper,
    output: &mut Output,
    stop: &AtomicBool,
) -> Result<Figures, TrainError> {
    let cost = Cost::of(&model.config);
    let examples: Vec<Example> = pairs.train.iter().map(|pair| Example::new(pair, &cost)).collect();
    let lengths: Vec<usize> = examples.iter().map(Example::tokens).collect();
    let steps = job.epochs as usize * schedule::batches_per_epoch(examples.len(), job.batch_pairs);
    let mut optimizer = AdamW::new(trained_weights(job, model))?;
    let mut state = Loop {
        job,
        model,
        fused,
        stop,
        steps,
        started: Instant::now(),
        before: Before::default(),
        tokens: 0,
        losses: Vec::with_capacity(steps),
    };
    if let Some(saved) = keeper.load(&mut optimizer)? {
        output.log(&format!("going on after step {} of {steps}", saved.losses.len()));
        state.before = Before { steps: saved.losses.len(), seconds: saved.seconds };
        (state.losses, state.tokens) = (saved.losses, saved.tokens);
        state.refresh()?;
    }
    output.progress_after(state.before.steps)?;
    let every = steps.div_ceil(PROGRESS_LINES_MAX);
    let batches = (0..job.epochs)
        .flat_map(|epoch| schedule::epoch_batches(&lengths, job.batch_pairs, job.order, job.seed, epoch));
    for batch in batches.skip(state.before.steps) {
        let batch: Vec<&Example> = batch.iter().map(|index| &examples[*index]).collect();
        let progress = state.step(&batch, &mut optimizer)?;
        if progress.step.is_multiple_of(every) || progress.step == steps {
            output.progress(&progress)?;
        }
        if keeper.is_due() && progress.step < steps {
            keeper.save(&state.losses, state.tokens, progress.seconds, &optimizer)?;
        }
    }
    let text_tokens: usize = pairs.train.iter().map(|pair| pair.chosen.len() + pair.rejected.len()).sum();
    Ok(Figures {
        steps,
        final_loss: mean(&state.losses[steps.saturating_sub(FINAL_STEPS)..]),
        loss_curve: curve(&state.losses),
        tokens: state.tokens,
        text_tokens: text_tokens * job.epochs as usize,
        seconds: state.seconds(),
    })
}

fn trained_weights(job: &Job, model: &Model) -> Vec<Trained> {
    let decay = |role: Role| if role == Role::Linear { job.weight_decay } else { 0.0 };
    let trained = |named: &Named| Trained {
        name: named.name.clone(),
        tensor: named.tensor.shallow_clone(),
        decay: decay(named.role),
    };
    model.trained().map(trained).collect()
}

/// What an attempt that was killed had done.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    steps: usize,
    seconds: f64,
}

struct Loop<'a> {
    job: &'a Job,
    model: &'a Model,
    /// Where the CPU's kernels compute the model.
    fused: Option<Fused>,
    stop: &'a AtomicBool,
    steps: usize,
    started: Instant,
    before: Before,
    tokens: usize,
    /// Mean loss of each step done.
    losses: Vec<f64>,
}

impl Loop<'_> {
    /// Seconds of training, those before this attempt included.
    fn seconds(&self) -> f64 {
        self.before.seconds + self.started.elapsed().as_secs_f64()
    }

    fn step(&mut self, batch: &[&Example], optimizer: &mut AdamW) -> Result<Progress, TrainError> {
        let done = self.losses.len();
        let mut loss = 0.0;
        for pass in passes(batch, self.job.tokens_per_pass) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrainError::Stopped { step: done, steps: self.steps });
            }
            loss += self.pass(&pass, batch.len())?;
        }
        self.require_finite(loss, "the loss")?;
        let gradient_norm = optimizer.gradient_norm()?;
        self.require_finite(gradient_norm, "the gradient")?;
        let learning_rate =
            self.job.learning_rate * schedule::rate(done, self.steps, self.job.warmup, self.job.schedule);
        let scale = if gradient_norm > self.job.clip_norm { self.job.clip_norm / gradient_norm } else { 1.0 };
        optimizer.step(learning_rate, scale)?;
        self.refresh()?;
        self.losses.push(loss);
        let (step, seconds) = (done + 1, self.seconds());
        let pace = self.started.elapsed().as_secs_f64() / (step - self.before.steps) as f64;
        let eta_s = pace * (self.steps - step) as f64;
        Ok(Progress { step, of: self.steps, loss, learning_rate, gradient_norm, tokens: self.tokens, seconds, eta_s })
    }

    /// Adds the gradient of a pass, and returns its part of the mean loss over the batch.
    fn pass(&mut self, pass: &Pass<'_>, batch_pairs: usize) -> Result<f64, TrainError> {
        let batch = Batch::new(&pass.units, self.model.device(), self.model.compute())?;
        let loss = |scores: &Tensor| {
            bradley_terry(&pass.pair_scores(scores)?, self.job.center)?.f_div_scalar(batch_pairs as f64)
        };
        self.tokens += batch.tokens;
        match &self.fused {
            Some(fused) => Ok(fused.pass(self.model, &pass.units, &batch, loss)?),
            None => {
                let loss = loss(&self.model.forward(&batch)?)?;
                loss.f_backward()?;
                Ok(loss.f_double_value(&[])?)
            }
        }
    }

    /// The kernels' copies of the weights, after these have changed.
    fn refresh(&mut self) -> Result<(), TrainError> {
        Ok(self.fused.as_mut().map_or(Ok(()), Fused::refresh)?)
    }

    fn require_finite(&self, value: f64, what: &'static str) -> Result<(), TrainError> {
        if value.is_finite() {
            return Ok(());
        }
        Err(TrainError::NotFinite { step: self.losses.len() + 1, steps: self.steps, what })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn curve(losses: &[f64]) -> Vec<(usize, f64)> {
    let size = losses.len().div_ceil(CURVE_POINTS_MAX).max(1);
    losses
        .chunks(size)
        .scan(0, |step, chunk| {
            *step += chunk.len();
            Some((*step, mean(chunk)))
        })
        .collect()
}
