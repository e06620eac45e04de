//! The tensors of a model for sequence classification, by the names Hugging Face gives them
//! (`<Family>ForSequenceClassification`). One list serves loading, saving, initialising and the ONNX export.

use crate::config::ModelConfig;

/// What a tensor is, which decides how it is initialised and whether weight decay applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Token embedding, `[vocab, hidden]`.
    Embedding,
    /// Weight of a projection, `[out, in]`.
    Linear,
    /// Bias of a projection, `[out]`.
    Bias,
    /// Weight of a root-mean-square norm.
    Norm,
    /// The score head, `[1, hidden]`.
    Score,
}

/// Name, shape and role of one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The key in `model.safetensors`.
    pub name: String,
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// What it is.
    pub role: Role,
}

/// Key of the token embedding.
pub const EMBEDDING: &str = "model.embed_tokens.weight";
/// Key of the norm after the last layer.
pub const FINAL_NORM: &str = "model.norm.weight";
/// Key of the score head, which has no bias.
pub const SCORE: &str = "score.weight";

/// The key of `part` in layer `layer`, for example `layer_key(0, "mlp.up_proj.weight")`.
pub fn layer_key(layer: usize, part: &str) -> String {
    format!("model.layers.{layer}.{part}")
}

/// Every tensor of the model, in graph order.
pub fn tensors(config: &ModelConfig) -> Vec<TensorSpec> {
    let mut all = vec![spec(EMBEDDING.to_owned(), &[config.vocab_size, config.hidden_size], Role::Embedding)];
    for layer in 0..config.layers {
        all.extend(layer_tensors(config).into_iter().map(|(part, shape, role)| TensorSpec {
            name: layer_key(layer, part),
            shape,
            role,
        }));
    }
    all.push(spec(FINAL_NORM.to_owned(), &[config.hidden_size], Role::Norm));
    all.push(spec(SCORE.to_owned(), &[1, config.hidden_size], Role::Score));
    all
}

fn spec(name: String, shape: &[usize], role: Role) -> TensorSpec {
    TensorSpec { name, shape: shape.to_vec(), role }
}

fn layer_tensors(config: &ModelConfig) -> Vec<(&'static str, Vec<usize>, Role)> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let (q, kv) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    let mut parts = vec![
        ("input_layernorm.weight", vec![hidden], Role::Norm),
        ("self_attn.q_proj.weight", vec![q, hidden], Role::Linear),
        ("self_attn.k_proj.weight", vec![kv, hidden], Role::Linear),
        ("self_attn.v_proj.weight", vec![kv, hidden], Role::Linear),
        ("self_attn.o_proj.weight", vec![hidden, q], Role::Linear),
    ];
    if config.qkv_bias {
        parts.push(("self_attn.q_proj.bias", vec![q], Role::Bias));
        parts.push(("self_attn.k_proj.bias", vec![kv], Role::Bias));
        parts.push(("self_attn.v_proj.bias", vec![kv], Role::Bias));
    }
    if config.o_bias {
        parts.push(("self_attn.o_proj.bias", vec![hidden], Role::Bias));
    }
    if config.qk_norm {
        parts.push(("self_attn.q_norm.weight", vec![config.head_dim], Role::Norm));
        parts.push(("self_attn.k_norm.weight", vec![config.head_dim], Role::Norm));
    }
    parts.extend([
        ("post_attention_layernorm.weight", vec![hidden], Role::Norm),
        ("mlp.gate_proj.weight", vec![inner, hidden], Role::Linear),
        ("mlp.up_proj.weight", vec![inner, hidden], Role::Linear),
        ("mlp.down_proj.weight", vec![hidden, inner], Role::Linear),
    ]);
    parts
}
