//! From a model folder to tensors.

use std::collections::BTreeMap;
use std::path::Path;

use stash_model::ModelError;
use stash_model::arch::{self, EMBEDDING, FINAL_NORM, Role, SCORE, layer_key};
use stash_model::config::ModelConfig;
use stash_model::rng::Rng;
use stash_model::safetensors::Weights;
use tch::{Device, Kind, TchError, Tensor};

use super::{Adapter, Layer, Linear, Lora, Model, Named};
use crate::error::TrainError;

/// How a model is set up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Where it computes.
    pub device: Device,
    /// The number type it computes in: `Float` or `BFloat16`.
    pub compute: Kind,
    /// Whether the embedding stays as it is.
    pub freeze_embeddings: bool,
    /// Adapters beside the projections: then only these and the head are trained.
    pub lora: Option<Lora>,
    /// Longest text, in tokens.
    pub max_tokens: usize,
    /// Seed of the head, where the folder has none, and of adapters.
    pub seed: u64,
}

impl Model {
    /// Loads the model in `dir`. A base without a head (a language model) gets one drawn from the seed.
    ///
    /// # Errors
    /// When a file is missing or malformed, or libtorch fails.
    pub fn load(dir: &Path, setup: &Setup) -> Result<Self, TrainError> {
        let config = ModelConfig::read(dir)?;
        let mut weights = Weights::open(dir)?;
        let mut named = Vec::new();
        for spec in arch::tensors(&config) {
            let values = if spec.role == Role::Score && !weights.contains(SCORE) {
                initial_head(config.hidden_size, setup.seed)
            } else {
                weights.read_f32(&spec.name, &spec.shape)?
            };
            let shape: Vec<i64> = spec.shape.iter().map(|d| *d as i64).collect();
            let tensor = Tensor::f_from_slice(&values)?.f_view(shape.as_slice())?.f_to_device(setup.device)?;
            let trained = match spec.role {
                Role::Score => true,
                _ if setup.lora.is_some() => false,
                Role::Embedding => !setup.freeze_embeddings,
                Role::Linear | Role::Bias | Role::Norm => true,
            };
            let tensor = match spec.role {
                // Norms and biases are few, and kernels read them in fp32.
                Role::Linear | Role::Embedding if !trained => tensor.f_to_kind(setup.compute)?,
                _ => tensor,
            };
            let tensor = tensor.f_set_requires_grad(trained)?;
            named.push(Named { name: spec.name, role: spec.role, tensor });
        }
        Self::assemble(config, setup, named)
    }

    fn assemble(config: ModelConfig, setup: &Setup, named: Vec<Named>) -> Result<Self, TrainError> {
        let by_name: BTreeMap<&str, &Tensor> = named.iter().map(|n| (n.name.as_str(), &n.tensor)).collect();
        let find = |name: &str| by_name.get(name).map(|tensor| tensor.shallow_clone());
        let need =
            |name: &str| find(name).ok_or_else(|| ModelError::Config(format!("the config describes no tensor {name}")));
        let mut adapters = Vec::new();
        let mut layer = |index: usize| {
            let key = |part: &str| layer_key(index, part);
            let mut linear = |part: &str| {
                let name = key(&format!("{part}.weight"));
                let weight = need(&name)?;
                let shape: Vec<usize> = weight.size().iter().map(|d| *d as usize).collect();
                let adapter = setup.lora.map(|lora| Adapter::new(&name, &shape, lora, setup.seed, setup.device));
                let adapter = adapter.transpose()?;
                for (matrix, tensor) in adapter.iter().flat_map(|adapter| [("a", &adapter.a), ("b", &adapter.b)]) {
                    let tensor = tensor.shallow_clone();
                    adapters.push(Named { name: format!("{name}.lora_{matrix}"), role: Role::Linear, tensor });
                }
                Ok::<_, TrainError>(Linear { weight, bias: find(&key(&format!("{part}.bias"))), adapter })
            };
            Ok::<_, TrainError>(Layer {
                input_norm: need(&key("input_layernorm.weight"))?,
                q: linear("self_attn.q_proj")?,
                k: linear("self_attn.k_proj")?,
                v: linear("self_attn.v_proj")?,
                o: linear("self_attn.o_proj")?,
                qk_norm: find(&key("self_attn.q_norm.weight")).zip(find(&key("self_attn.k_norm.weight"))),
                mlp_norm: need(&key("post_attention_layernorm.weight"))?,
                gate: linear("mlp.gate_proj")?,
                up: linear("mlp.up_proj")?,
                down: linear("mlp.down_proj")?,
            })
        };
        let layers = (0..config.layers).map(&mut layer).collect::<Result<Vec<_>, _>>()?;
        let (embedding, final_norm, score) = (need(EMBEDDING)?, need(FINAL_NORM)?, need(SCORE)?);
        let (cos, sin) = rotary(&config, setup)?;
        let (device, compute) = (setup.device, setup.compute);
        Ok(Self { config, device, compute, embedding, layers, final_norm, score, cos, sin, named, adapters })
    }
}

/// The head's first weights: mean 0, deviation `1 / sqrt(hidden + 1)`, so that rewards begin near 0.
fn initial_head(hidden_size: usize, seed: u64) -> Vec<f32> {
    Rng::for_part(seed, "score head").normals(hidden_size, 1.0 / ((hidden_size + 1) as f64).sqrt())
}

fn rotary(config: &ModelConfig, setup: &Setup) -> Result<(Tensor, Tensor), TchError> {
    let frequencies = Tensor::f_from_slice(&config.rotary_frequencies())?.f_unsqueeze(0)?;
    let positions = Tensor::f_arange(setup.max_tokens as i64, (Kind::Float, Device::Cpu))?.f_unsqueeze(1)?;
    let angles = positions.f_mul(&frequencies)?;
    let angles = Tensor::f_cat(&[&angles, &angles], 1)?.f_to_device(setup.device)?;
    Ok((angles.f_cos()?, angles.f_sin()?))
}
