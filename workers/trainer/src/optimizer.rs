//! AdamW (Loshchilov and Hutter, 2019) over tensors in fp32, after scaling the gradient down to a greatest length.

use tch::{Kind, TchError, Tensor, no_grad};

use crate::kernels::adamw::{self, Step};
use crate::kernels::memory::{numbers, numbers_mut};

/// Decay of the running mean of gradients.
const BETA_1: f64 = 0.9;
/// Decay of the running mean of squared gradients.
const BETA_2: f64 = 0.999;
/// Keeps the division finite.
const EPSILON: f64 = 1e-8;

/// A weight to be trained.
#[derive(Debug)]
pub struct Trained {
    /// Its name, unique in the model.
    pub name: String,
    /// A leaf of the graph, fp32.
    pub tensor: Tensor,
    /// Weight decay.
    pub decay: f64,
}

/// A weight with its state.
#[derive(Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// The weight.
    pub weight: Tensor,
    /// Running mean of its gradients.
    pub mean: Tensor,
    /// Running mean of the squares of its gradients.
    pub square: Tensor,
    decay: f64,
}

/// The optimizer and its state, two numbers for each weight.
#[derive(Debug)]
pub struct AdamW {
    slots: Vec<Slot>,
    steps: i32,
}

impl AdamW {
    /// An optimizer that has made no step yet.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn new(weights: impl IntoIterator<Item = Trained>) -> Result<Self, TchError> {
        let slot = |Trained { name, tensor: weight, decay }: Trained| {
            let (mean, square) = (weight.f_zeros_like()?, weight.f_zeros_like()?);
            Ok(Slot { name, weight, mean, square, decay })
        };
        Ok(Self { slots: weights.into_iter().map(slot).collect::<Result<_, TchError>>()?, steps: 0 })
    }

    /// The weights and their state, in the order they were given in.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Goes on as if `steps` steps had been made, after the slots were filled with what these had left.
    pub fn resume_after(&mut self, steps: usize) {
        self.steps = i32::try_from(steps).unwrap_or(i32::MAX);
    }

    /// The length of the whole gradient: the square root of the sum of squares over all weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn gradient_norm(&self) -> Result<f64, TchError> {
        let mut sum = 0.0;
        for slot in &self.slots {
            let gradient = slot.weight.f_grad()?;
            if gradient.defined() {
                sum += match numbers(&gradient) {
                    Ok(values) => adamw::sum_of_squares(values),
                    Err(_) => no_grad(|| gradient.f_square()?.f_sum(Kind::Double)?.f_double_value(&[]))?,
                };
            }
        }
        Ok(sum.sqrt())
    }

    /// Updates every weight by its gradient times `scale`, then forgets the gradients.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn step(&mut self, learning_rate: f64, scale: f64) -> Result<(), TchError> {
        self.steps += 1;
        let bias_1 = 1.0 - BETA_1.powi(self.steps);
        let bias_2 = 1.0 - BETA_2.powi(self.steps);
        for slot in &mut self.slots {
            let mut gradient = slot.weight.f_grad()?;
            if !gradient.defined() {
                continue;
            }
            let keep = 1.0 - learning_rate * slot.decay;
            if is_plain(&gradient) && is_plain(&slot.weight) {
                let step = Step {
                    scale: scale as f32,
                    beta_1: BETA_1 as f32,
                    beta_2: BETA_2 as f32,
                    rate: (learning_rate / bias_1) as f32,
                    keep: keep as f32,
                    root_bias_2: bias_2.sqrt() as f32,
                    epsilon: EPSILON as f32,
                };
                let states = (numbers_mut(&mut slot.mean)?, numbers_mut(&mut slot.square)?);
                adamw::step(&step, numbers_mut(&mut slot.weight)?, numbers_mut(&mut gradient)?, states.0, states.1);
                continue;
            }
            no_grad(|| {
                let scaled = gradient.f_mul_scalar_(scale)?;
                let _ = slot.mean.f_lerp_(&scaled, 1.0 - BETA_1)?;
                let _ = slot.square.f_lerp_(&scaled.f_square()?, 1.0 - BETA_2)?;
                let _ = slot.weight.f_mul_scalar_(keep)?;
                let spread = slot.square.f_sqrt()?.f_div_scalar(bias_2.sqrt())?.f_add_scalar(EPSILON)?;
                let change = slot.mean.f_div(&spread)?.f_mul_scalar(-learning_rate / bias_1)?;
                let _ = slot.weight.f_add_(&change)?;
                slot.weight.zero_grad();
                Ok::<(), TchError>(())
            })?;
        }
        Ok(())
    }
}

/// Whether a kernel can read it: on the CPU, fp32, row by row.
fn is_plain(tensor: &Tensor) -> bool {
    numbers::<f32>(tensor).is_ok()
}
