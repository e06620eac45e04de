//! A small base model, made from a seed in a few seconds: for the sample, for tests, and for a first look without a
//! download. It has the shape of a real base (its own byte-level BPE tokenizer with the ChatML tokens, fewer key-value
//! heads than heads, a head size of its own) and random weights, so all it knows comes from its training.
//!
//! Invariant: the same kind and seed give the same bytes, on every machine.

mod bpe;
mod corpus;

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::arch::{self, Role};
use crate::config::{self, ModelConfig};
use crate::error::ModelError;
use crate::files;
use crate::rng::Rng;
use crate::safetensors::{self, Dtype, Writer};
use crate::tokenize::{SEGMENT_END, SEGMENT_START};

/// Token the small base pads with; its id is 0.
pub const PAD: &str = "<|endoftext|>";
/// Tokens of the vocabulary, the three special ones included.
const VOCAB_SIZE: usize = 2_048;
const SPECIAL_TOKENS: [&str; 3] = [PAD, SEGMENT_START, SEGMENT_END];

/// Which family the small base is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Qwen3, 2 layers.
    Qwen3,
    /// Qwen2, 2 layers.
    Qwen2,
    /// Llama, 2 layers.
    Llama,
}

/// Makes a small Qwen3 in `dir`, which is created if need be and whose files of the same names are replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn make(dir: &Path, seed: u64) -> Result<(), ModelError> {
    make_kind(dir, Kind::Qwen3, seed)
}

/// Makes a small base of the given family in `dir`.
///
/// # Errors
/// When a file cannot be written.
pub fn make_kind(dir: &Path, kind: Kind, seed: u64) -> Result<(), ModelError> {
    fs::create_dir_all(dir).map_err(ModelError::io("create", dir))?;
    write_tokenizer(dir, seed)?;
    let raw = config_json(kind);
    files::write_json(&dir.join(config::FILE), &raw)?;
    write_random_weights(dir, &ModelConfig::from_json(raw)?, seed, initial_std)
}

/// Writes `model.safetensors` for `config` with weights drawn from `seed`. `std` gives the standard deviation of a
/// tensor from its name and role; norms are 1 plus a draw of that deviation, everything else has mean 0. The score head
/// is left out where its deviation is 0.
///
/// # Errors
/// When the file cannot be written.
pub fn write_random_weights(
    dir: &Path,
    config: &ModelConfig,
    seed: u64,
    std: impl Fn(&arch::TensorSpec, &ModelConfig) -> f64,
) -> Result<(), ModelError> {
    let specs: Vec<_> =
        arch::tensors(config).into_iter().filter(|spec| spec.role != Role::Score || std(spec, config) > 0.0).collect();
    let shapes: Vec<_> = specs.iter().map(|spec| (spec.name.clone(), spec.shape.clone())).collect();
    let mut writer = Writer::create(&dir.join(safetensors::FILE), Dtype::F32, &shapes)?;
    while let Some(name) = writer.next_name().map(str::to_owned) {
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else { break };
        let mut values = Rng::for_part(seed, &name).normals(spec.shape.iter().product(), std(spec, config));
        if spec.role == Role::Norm {
            values.iter_mut().for_each(|value| *value += 1.0);
        }
        writer.tensor(&name, &values)?;
    }
    writer.finish()
}

/// Deviations that keep activations near 1 through the layers: 1/sqrt(inputs), and what is added to the residual
/// stream divided by the square root of the number of additions (as GPT-2 does). Norms begin at 1, without a head.
fn initial_std(spec: &arch::TensorSpec, config: &ModelConfig) -> f64 {
    let inputs = spec.shape.last().copied().unwrap_or(1) as f64;
    let residual = spec.name.ends_with("o_proj.weight") || spec.name.ends_with("down_proj.weight");
    match spec.role {
        Role::Embedding => 0.5,
        Role::Linear if residual => 1.0 / (inputs * 2.0 * config.layers as f64).sqrt(),
        Role::Linear => 1.0 / inputs.sqrt(),
        Role::Bias | Role::Norm | Role::Score => 0.0,
    }
}

fn config_json(kind: Kind) -> Map<String, Value> {
    let (model_type, class) = match kind {
        Kind::Qwen3 => ("qwen3", "Qwen3ForCausalLM"),
        Kind::Qwen2 => ("qwen2", "Qwen2ForCausalLM"),
        Kind::Llama => ("llama", "LlamaForCausalLM"),
    };
    let fields = json!({
        "architectures": [class],
        "model_type": model_type,
        "hidden_size": 96,
        "intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "hidden_act": "silu",
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10_000.0,
        "attention_bias": false,
        "tie_word_embeddings": true,
        "vocab_size": VOCAB_SIZE,
        "pad_token_id": 0,
        "bos_token_id": null,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn write_tokenizer(dir: &Path, seed: u64) -> Result<(), ModelError> {
    let learnt = bpe::train(&corpus::make(seed), VOCAB_SIZE - SPECIAL_TOKENS.len())?;
    // The special tokens are in the model's vocabulary as well: the loader would else count ids of its own for them.
    let texts = SPECIAL_TOKENS.into_iter().chain(learnt.tokens.iter().map(String::as_str));
    let vocab: Map<String, Value> = texts.enumerate().map(|(id, text)| (text.to_owned(), json!(id))).collect();
    let added: Vec<Value> = SPECIAL_TOKENS
        .iter()
        .enumerate()
        .map(|(id, content)| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                   "normalized": false, "special": true})
        })
        .collect();
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true});
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": null,
        "pre_tokenizer": byte_level,
        "post_processor": null,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocab, "merges": learnt.merges,
        },
    });
    files::write_json(&dir.join("tokenizer.json"), &tokenizer)?;
    let settings = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 1024,
        "pad_token": PAD,
        "eos_token": SEGMENT_END,
        "padding_side": "right",
        "truncation_side": "left",
        "clean_up_tokenization_spaces": false,
    });
    files::write_json(&dir.join("tokenizer_config.json"), &settings)
}
