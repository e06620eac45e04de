//! The models and token sequences on which libtorch, ONNX Runtime and Hugging Face transformers are compared.
//!
//! They are made from a seed, so only the scores that transformers gave need to be kept. The models are small but have
//! nothing that could hide a mistake: fewer key-value heads than heads, a head size of its own, norms that are not 1,
//! and a head large enough that scores differ by more than 1.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::arch::{Role, TensorSpec};
use crate::config::{self, ModelConfig};
use crate::error::ModelError;
use crate::files;
use crate::rng::Rng;
use crate::tiny_base::{Kind, write_random_weights};

/// Lengths of the sequences, in tokens.
pub const LENGTHS: [usize; 36] = [
    1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 255,
    256, 257, 384, 512, 700, 1000, 1024,
];
/// Index of the sequence that ends with the pad token.
pub const PAD_ENDING: usize = 20;
/// The pad token of the models.
pub const PAD_ID: u32 = 0;
/// The last token of the vocabulary stands in no sequence: a reference that pools by the pad id is told that this is it.
pub const UNUSED_ID: u32 = VOCAB_SIZE - 1;
const VOCAB_SIZE: u32 = 300;
const SEED: u64 = 20_26;

/// Writes `config.json` and `model.safetensors` of the model of a family into `dir`, which is created if need be.
///
/// # Errors
/// When a file cannot be written.
pub fn make(dir: &Path, kind: Kind) -> Result<(), ModelError> {
    fs::create_dir_all(dir).map_err(ModelError::io("create", dir))?;
    let (model_type, class, head_dim, theta, eps) = match kind {
        Kind::Qwen3 => ("qwen3", "Qwen3ForSequenceClassification", 32, 1e6, 1e-6),
        // transformers' Qwen2 takes the head size from the others: hidden_size / num_attention_heads.
        Kind::Qwen2 => ("qwen2", "Qwen2ForSequenceClassification", 16, 1e6, 1e-6),
        Kind::Llama => ("llama", "LlamaForSequenceClassification", 48, 1e4, 1e-5),
    };
    let fields = json!({
        "architectures": [class], "model_type": model_type, "hidden_size": 64, "intermediate_size": 160,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": head_dim,
        "hidden_act": "silu", "max_position_embeddings": 2048, "rms_norm_eps": eps, "rope_theta": theta,
        "attention_bias": false, "tie_word_embeddings": true, "vocab_size": VOCAB_SIZE, "pad_token_id": PAD_ID,
        "bos_token_id": null, "eos_token_id": null, "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0},
        "torch_dtype": "float32",
    });
    let raw: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
    files::write_json(&dir.join(config::FILE), &raw)?;
    write_random_weights(dir, &ModelConfig::from_json(raw)?, SEED, deviation)
}

/// The deviation of each tensor's values, for [`write_random_weights`].
pub fn deviation(spec: &TensorSpec, _: &ModelConfig) -> f64 {
    let inputs = spec.shape.last().copied().unwrap_or(1) as f64;
    match spec.role {
        Role::Embedding => 1.0,
        Role::Linear => 1.2 / inputs.sqrt(),
        Role::Norm => 0.3,
        Role::Bias => 0.2,
        Role::Score => 3.0 / inputs.sqrt(),
    }
}

/// The sequences, one of each of [`LENGTHS`].
pub fn sequences() -> Vec<Vec<u32>> {
    let mut rng = Rng::for_part(SEED, "sequences");
    let mut id = || 1 + rng.below(VOCAB_SIZE as usize - 2) as u32;
    let mut all: Vec<Vec<u32>> = LENGTHS.iter().map(|length| (0..*length).map(|_| id()).collect()).collect();
    if let Some(last) = all.get_mut(PAD_ENDING).and_then(|sequence| sequence.last_mut()) {
        *last = PAD_ID;
    }
    all
}
