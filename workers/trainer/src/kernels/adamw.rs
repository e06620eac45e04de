//! One step of AdamW (Loshchilov and Hutter, 2019) in a single pass over a weight, its gradient and both running means.

use super::{LANES, NUMBERS_PER_THREAD, rows_per_thread, spread, vectorised};

/// The numbers of a step.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// What each gradient is multiplied by first.
    pub scale: f32,
    /// Decay of the running mean of gradients.
    pub beta_1: f32,
    /// Decay of the running mean of squares.
    pub beta_2: f32,
    /// What is taken off a weight for its mean over its spread.
    pub rate: f32,
    /// What a weight keeps of itself.
    pub keep: f32,
    /// `sqrt(1 - beta_2^step)`.
    pub root_bias_2: f32,
    /// Keeps the division finite.
    pub epsilon: f32,
}

/// Updates a weight, and forgets its gradient.
pub fn step(step: &Step, weight: &mut [f32], gradient: &mut [f32], mean: &mut [f32], square: &mut [f32]) {
    let size = rows_per_thread(weight.len().div_ceil(LANES), LANES) * LANES;
    let states = mean.chunks_mut(size).zip(square.chunks_mut(size));
    let parts: Vec<_> = weight.chunks_mut(size).zip(gradient.chunks_mut(size)).zip(states).collect();
    spread(parts, |((weight, gradient), (mean, square))| update::<f32>(step, weight, gradient, mean, square));
}

/// The sum of the squares, in fp64.
pub fn sum_of_squares(values: &[f32]) -> f64 {
    let size = rows_per_thread(values.len().div_ceil(NUMBERS_PER_THREAD), NUMBERS_PER_THREAD) * NUMBERS_PER_THREAD;
    spread(values.chunks(size).collect(), squares::<f32>).into_iter().sum()
}

vectorised! {
    fn update<T>(step: &Step, weight: &mut [f32], gradient: &mut [T], mean: &mut [f32], square: &mut [f32]) {
        let step = *step;
        for (((weight, gradient), mean), square) in weight.iter_mut().zip(gradient).zip(mean).zip(square) {
            let g = gradient.wide() * step.scale;
            *gradient = T::nearest(0.0);
            *mean += (g - *mean) * (1.0 - step.beta_1);
            *square += (g * g - *square) * (1.0 - step.beta_2);
            let spread = square.sqrt() / step.root_bias_2 + step.epsilon;
            *weight = *weight * step.keep - step.rate * (*mean / spread);
        }
    }
}

vectorised! {
    fn squares<T>(values: &[T]) -> f64 {
        let (chunks, rest) = values.as_chunks::<LANES>();
        let mut sums = [0.0_f64; LANES];
        for chunk in chunks {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += f64::from(value.wide()) * f64::from(value.wide());
            }
        }
        sums.iter().sum::<f64>() + rest.iter().map(|value| f64::from(value.wide()) * f64::from(value.wide())).sum::<f64>()
    }
}
