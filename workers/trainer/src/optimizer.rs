//! AdamW (Loshchilov and Hutter, 2019) over tensors in fp32, after scaling the gradient down to a greatest length.

use tch::{Kind, TchError, Tensor, no_grad};

/// Decay of the running mean of gradients.
const BETA_1: f64 = 0.9;
/// Decay of the running mean of squared gradients.
const BETA_2: f64 = 0.999;
/// Keeps the division finite.
const EPSILON: f64 = 1e-8;

/// A weight with its state.
#[derive(Debug)]
struct Slot {
    weight: Tensor,
    mean: Tensor,
    square: Tensor,
    decay: f64,
}

/// The optimizer and its state, two numbers for each weight.
#[derive(Debug)]
pub struct AdamW {
    slots: Vec<Slot>,
    steps: i32,
}

impl AdamW {
    /// An optimizer for leaves of the graph, each with its weight decay.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn new(weights: impl IntoIterator<Item = (Tensor, f64)>) -> Result<Self, TchError> {
        let slot = |(weight, decay): (Tensor, f64)| {
            let (mean, square) = (weight.f_zeros_like()?, weight.f_zeros_like()?);
            Ok(Slot { weight, mean, square, decay })
        };
        Ok(Self { slots: weights.into_iter().map(slot).collect::<Result<_, TchError>>()?, steps: 0 })
    }

    /// The length of the whole gradient: the square root of the sum of squares over all weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn gradient_norm(&self) -> Result<f64, TchError> {
        no_grad(|| {
            let squares: Vec<Tensor> = self
                .slots
                .iter()
                .map(|slot| slot.weight.grad())
                .filter(Tensor::defined)
                .map(|grad| grad.f_square()?.f_sum(Kind::Double))
                .collect::<Result<_, _>>()?;
            if squares.is_empty() {
                return Ok(0.0);
            }
            Ok(Tensor::f_stack(&squares, 0)?.f_sum(Kind::Double)?.f_double_value(&[])?.sqrt())
        })
    }

    /// Updates every weight by its gradient times `scale`, then forgets the gradients.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn step(&mut self, learning_rate: f64, scale: f64) -> Result<(), TchError> {
        self.steps += 1;
        let bias_1 = 1.0 - BETA_1.powi(self.steps);
        let bias_2 = 1.0 - BETA_2.powi(self.steps);
        no_grad(|| {
            for slot in &mut self.slots {
                let mut grad = slot.weight.grad();
                if !grad.defined() {
                    continue;
                }
                let scaled = grad.f_mul_scalar_(scale)?;
                let _ = slot.mean.f_lerp_(&scaled, 1.0 - BETA_1)?;
                let _ = slot.square.f_lerp_(&scaled.f_square()?, 1.0 - BETA_2)?;
                if slot.decay > 0.0 {
                    let _ = slot.weight.f_mul_scalar_(1.0 - learning_rate * slot.decay)?;
                }
                let spread = slot.square.f_sqrt()?.f_div_scalar(bias_2.sqrt())?.f_add_scalar(EPSILON)?;
                let change = slot.mean.f_div(&spread)?.f_mul_scalar(-learning_rate / bias_1)?;
                let _ = slot.weight.f_add_(&change)?;
                slot.weight.zero_grad();
            }
            Ok(())
        })
    }
}
