//! Low-rank adapters (Hu et al., "LoRA", 2021): a projection computes `x W^T + scale * (x A^T) B^T`, `W` stays, `A` and `B` are
//! trained. `B` begins at 0, so that training begins at the base; in a checkpoint the product is added to `W`, and nobody who
//! reads it needs to know.

use serde::{Deserialize, Serialize};
use stash_model::rng::Rng;
use tch::{Device, Kind, TchError, Tensor};

/// The size of adapters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lora {
    /// Rows of `A`.
    pub rank: usize,
    /// `scale` times the rank.
    pub alpha: f64,
}

/// An adapter of one projection.
#[derive(Debug)]
pub(super) struct Adapter {
    /// `[rank, in]`, fp32.
    pub(super) a: Tensor,
    /// `[out, rank]`, fp32.
    pub(super) b: Tensor,
    /// What their product is multiplied by.
    pub(super) scale: f64,
}

impl Adapter {
    /// An adapter of the projection `name` with weight `[out, in]`. `A` is drawn from the seed with deviation
    /// `1 / sqrt(3 in)`, that of the uniform numbers that PEFT draws.
    pub(super) fn new(name: &str, shape: &[usize], lora: Lora, seed: u64, device: Device) -> Result<Self, TchError> {
        let (out, inputs) = (shape[0] as i64, shape[1] as i64);
        let deviation = 1.0 / (3.0 * inputs as f64).sqrt();
        let drawn = Rng::for_part(seed, &format!("adapter of {name}")).normals(lora.rank * shape[1], deviation);
        let a = Tensor::f_from_slice(&drawn)?.f_view([lora.rank as i64, inputs])?.f_to_device(device)?;
        let b = Tensor::f_zeros([out, lora.rank as i64], (Kind::Float, device))?;
        let scale = lora.alpha / lora.rank as f64;
        Ok(Self { a: a.f_set_requires_grad(true)?, b: b.f_set_requires_grad(true)?, scale })
    }

    /// What it adds to the projection of `x`, in `x`'s kind.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let kind = x.f_kind()?;
        let inner = x.f_linear(&self.a.f_to_kind(kind)?, None::<&Tensor>)?;
        inner.f_linear(&self.b.f_to_kind(kind)?, None::<&Tensor>)?.f_mul_scalar(self.scale)
    }

    /// What it adds to the weight, `[out, in]`, fp32.
    pub(super) fn product(&self) -> Result<Tensor, TchError> {
        self.b.f_detach()?.f_mm(&self.a.f_detach()?)?.f_mul_scalar(self.scale)
    }

    /// The same adapter, of the same tensors.
    pub(super) fn share(&self) -> Self {
        Self { a: self.a.shallow_clone(), b: self.b.shallow_clone(), scale: self.scale }
    }
}
