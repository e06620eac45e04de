//! The decoder in libtorch, config-driven, with a score head in place of the language model's.
//!
//! Weights are fp32 leaves of the graph ("master weights"). In bf16 they are converted where they are used, so that
//! gradients and updates stay fp32; rotary angles, the statistics of norms, the score and the loss are fp32 in any case.

mod forward;
mod load;

pub use load::Setup;

use tch::{Device, Kind, Tensor};

use stash_model::arch::Role;
use stash_model::config::ModelConfig;

/// A projection.
#[derive(Debug)]
struct Linear {
    /// `[out, in]`.
    weight: Tensor,
    /// `[out]`.
    bias: Option<Tensor>,
}

/// A decoder layer.
#[derive(Debug)]
struct Layer {
    input_norm: Tensor,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    /// Norms of q and k over the head, where the family has them.
    qk_norm: Option<(Tensor, Tensor)>,
    mlp_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// A weight by its key.
#[derive(Debug)]
pub struct Named {
    /// Key in `model.safetensors`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// The same tensor the layers use.
    pub tensor: Tensor,
}

/// A reward model.
#[derive(Debug)]
pub struct Model {
    /// Its sizes.
    pub config: ModelConfig,
    device: Device,
    compute: Kind,
    embedding: Tensor,
    layers: Vec<Layer>,
    final_norm: Tensor,
    score: Tensor,
    /// cos and sin of position times frequency, the frequencies twice: `[positions, head_dim]`.
    cos: Tensor,
    sin: Tensor,
    named: Vec<Named>,
}

impl Model {
    /// Every weight, in graph order.
    pub fn weights(&self) -> &[Named] {
        &self.named
    }

    /// Where it computes.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The number type it computes in.
    pub fn compute(&self) -> Kind {
        self.compute
    }
}
