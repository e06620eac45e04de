//! The decoder in libtorch, config-driven, with a score head in place of the language model's.
//!
//! Weights that are trained are fp32 leaves of the graph ("master weights"). In bf16 they are converted where they are used,
//! so that gradients and updates stay fp32; rotary angles, the statistics of norms, the score and the loss are fp32 in any
//! case. Projections and the embedding that stay as they are, are held in the number type that is computed in.
//!
//! - `forward`: the computation in libtorch's graph, for any device
//! - [`fused`]: the same on the CPU with its gradient written out
//! - `load`: from a folder; `lora`: adapters beside the projections

pub mod fused;

mod forward;
mod load;
mod lora;

pub use load::Setup;
pub use lora::Lora;

use lora::Adapter;

use tch::{Device, Kind, TchError, Tensor};

use stash_model::arch::{Role, layer_key};
use stash_model::config::ModelConfig;

/// A projection.
#[derive(Debug)]
struct Linear {
    /// `[out, in]`.
    weight: Tensor,
    /// `[out]`.
    bias: Option<Tensor>,
    /// What is trained in the weight's place.
    adapter: Option<Adapter>,
}

impl Linear {
    /// The same projection, of the same tensors.
    fn share(&self) -> Self {
        Self {
            weight: self.weight.shallow_clone(),
            bias: self.bias.as_ref().map(Tensor::shallow_clone),
            adapter: self.adapter.as_ref().map(Adapter::share),
        }
    }
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

impl Layer {
    /// Projections of a layer.
    const LINEARS: usize = 7;

    /// The projections with the parts of their keys.
    fn linears(&self) -> [(&'static str, &Linear); Self::LINEARS] {
        [
            ("self_attn.q_proj", &self.q),
            ("self_attn.k_proj", &self.k),
            ("self_attn.v_proj", &self.v),
            ("self_attn.o_proj", &self.o),
            ("mlp.gate_proj", &self.gate),
            ("mlp.up_proj", &self.up),
            ("mlp.down_proj", &self.down),
        ]
    }
}

/// What a training made of a weight.
#[derive(Debug)]
pub enum Learnt {
    /// These values in its place.
    Whole(Vec<f32>),
    /// These added to what it was.
    Added(Vec<f32>),
}

fn values(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    let flat = tensor.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_flatten(0, -1)?;
    Vec::<f32>::try_from(&flat)
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
    /// Both matrices of each adapter.
    adapters: Vec<Named>,
}

impl Model {
    /// Every weight, in graph order.
    pub fn weights(&self) -> &[Named] {
        &self.named
    }

    /// What is trained: weights, and the matrices of adapters.
    pub fn trained(&self) -> impl Iterator<Item = &Named> {
        self.named.iter().chain(&self.adapters).filter(|named| named.tensor.requires_grad())
    }

    /// What training has made of a weight: all its values, fp32, row by row. `None` for a weight that stayed as it was and has
    /// no adapter; for one with an adapter, what is to be added to it.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn learnt(&self, weight: &Named) -> Result<Option<Learnt>, TchError> {
        if weight.tensor.requires_grad() {
            return Ok(Some(Learnt::Whole(values(&weight.tensor)?)));
        }
        let linears = self.layers.iter().flat_map(Layer::linears);
        let adapters = linears.filter_map(|(part, linear)| Some((part, linear.adapter.as_ref()?)));
        let name = weight.name.strip_suffix(".weight").unwrap_or(&weight.name);
        for ((part, adapter), layer) in adapters.zip((0..).flat_map(|layer| [layer; Layer::LINEARS])) {
            if name == layer_key(layer, part) {
                return Ok(Some(Learnt::Added(values(&adapter.product()?)?)));
            }
        }
        Ok(None)
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
