//! A GGUF file of a base folder, as llama.cpp's converter writes one: for tests of the way back.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use stash_model::arch::{self, Role};
use stash_model::config::{Family, ModelConfig};
use stash_model::safetensors::{Dtype, Weights};

/// Bytes of a metadata value, its type first.
pub(crate) enum Entry {
    Count(u32),
    Float(f32),
    Text(String),
    Flag(bool),
    Texts(Vec<String>),
    Numbers(Vec<i32>),
}

/// A file to be written: tests change parts of it.
pub(crate) struct Gguf {
    pub(crate) entries: BTreeMap<String, Entry>,
    /// Name, dimensions with the innermost first, type, bytes.
    pub(crate) tensors: Vec<(String, Vec<u64>, u32, Vec<u8>)>,
}

/// How matrices are stored.
#[derive(Clone, Copy)]
pub(crate) enum Matrices {
    F32,
    F16,
    Bf16,
}

impl Gguf {
    /// The model of a base folder, its tokenizer of the kind that the small base has.
    pub(crate) fn of(base: &Path, matrices: Matrices) -> Self {
        let config = ModelConfig::read(base).unwrap();
        let mut gguf = Self { entries: BTreeMap::new(), tensors: Vec::new() };
        gguf.metadata(&config);
        gguf.vocabulary(base);
        let mut weights = Weights::open(base).unwrap();
        for spec in arch::tensors(&config).into_iter().filter(|spec| spec.role != Role::Score) {
            let mut values = weights.read_f32(&spec.name, &spec.shape).unwrap();
            let turned = spec.name.contains("q_proj") || spec.name.contains("k_proj");
            if config.family == Family::Llama && turned {
                values = interleave(&values, spec.shape[0], config.head_dim);
            }
            let (kind, bytes) = match matrices {
                _ if spec.shape.len() == 1 => (0, encode(Dtype::F32, &values)),
                Matrices::F32 => (0, encode(Dtype::F32, &values)),
                Matrices::F16 => (1, values.iter().flat_map(|value| half(*value).to_le_bytes()).collect()),
                Matrices::Bf16 => (30, encode(Dtype::Bf16, &values)),
            };
            let dimensions = spec.shape.iter().rev().map(|d| *d as u64).collect();
            gguf.tensors.push((name(&spec.name), dimensions, kind, bytes));
        }
        gguf
    }

    fn metadata(&mut self, config: &ModelConfig) {
        let arch = config.family.model_type();
        let mut set = |key: &str, entry| self.entries.insert(format!("{arch}.{key}"), entry);
        let count = |n: usize| Entry::Count(u32::try_from(n).unwrap());
        set("block_count", count(config.layers));
        set("context_length", count(config.max_positions));
        set("embedding_length", count(config.hidden_size));
        set("feed_forward_length", count(config.intermediate_size));
        set("attention.head_count", count(config.heads));
        set("attention.head_count_kv", count(config.kv_heads));
        set("attention.key_length", count(config.head_dim));
        set("attention.value_length", count(config.head_dim));
        set("attention.layer_norm_rms_epsilon", Entry::Float(config.norm_eps as f32));
        set("rope.freq_base", Entry::Float(config.rope_theta as f32));
        self.entries.insert("general.architecture".to_owned(), Entry::Text(arch.to_owned()));
    }

    fn vocabulary(&mut self, base: &Path) {
        let tokenizer: Value = serde_json::from_slice(&std::fs::read(base.join("tokenizer.json")).unwrap()).unwrap();
        let vocab = tokenizer["model"]["vocab"].as_object().unwrap();
        let mut tokens = vec![String::new(); vocab.len()];
        for (text, id) in vocab {
            tokens[id.as_u64().unwrap() as usize] = text.clone();
        }
        let special = |id: usize| tokenizer["added_tokens"].as_array().unwrap().iter().any(|token| token["id"] == id);
        let kinds = (0..tokens.len()).map(|id| if special(id) { 3 } else { 1 }).collect();
        let merges = tokenizer["model"]["merges"].as_array().unwrap().iter();
        let merges = merges.map(|pair| format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()));
        let mut set = |key: &str, entry| self.entries.insert(format!("tokenizer.ggml.{key}"), entry);
        set("model", Entry::Text("gpt2".to_owned()));
        set("pre", Entry::Text("gpt-2".to_owned()));
        set("merges", Entry::Texts(merges.collect()));
        set("tokens", Entry::Texts(tokens));
        set("token_type", Entry::Numbers(kinds));
        set("eos_token_id", Entry::Count(2));
        set("padding_token_id", Entry::Count(0));
        set("add_bos_token", Entry::Flag(false));
        self.entries.insert("tokenizer.chat_template".to_owned(), Entry::Text("{{ messages }}".to_owned()));
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.entries.len() as u64).to_le_bytes());
        for (key, entry) in &self.entries {
            text(&mut out, key);
            match entry {
                Entry::Count(n) => put(&mut out, 4, n.to_le_bytes()),
                Entry::Float(x) => put(&mut out, 6, x.to_le_bytes()),
                Entry::Flag(flag) => put(&mut out, 7, [u8::from(*flag)]),
                Entry::Text(value) => {
                    out.extend(8_u32.to_le_bytes());
                    text(&mut out, value);
                }
                Entry::Texts(values) => {
                    list(&mut out, 8, values.len());
                    values.iter().for_each(|value| text(&mut out, value));
                }
                Entry::Numbers(values) => {
                    list(&mut out, 5, values.len());
                    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
                }
            }
        }
        let mut offset = 0_u64;
        for (name, dimensions, kind, bytes) in &self.tensors {
            text(&mut out, name);
            out.extend((dimensions.len() as u32).to_le_bytes());
            dimensions.iter().for_each(|d| out.extend(d.to_le_bytes()));
            put(&mut out, *kind, offset.to_le_bytes());
            offset = (offset + bytes.len() as u64).next_multiple_of(32);
        }
        for (_, _, _, bytes) in &self.tensors {
            out.resize(out.len().next_multiple_of(32), 0);
            out.extend(bytes);
        }
        out
    }
}

fn put<const N: usize>(out: &mut Vec<u8>, kind: u32, bytes: [u8; N]) {
    out.extend(kind.to_le_bytes());
    out.extend(bytes);
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn list(out: &mut Vec<u8>, kind: u32, items: usize) {
    out.extend(9_u32.to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend((items as u64).to_le_bytes());
}

fn encode(dtype: Dtype, values: &[f32]) -> Vec<u8> {
    let mut out = Vec::new();
    dtype.encode(values, &mut out);
    out
}

/// To half precision, without rounding to even: only the way back is tested.
fn half(value: f32) -> u16 {
    let (sign, magnitude) = ((value.to_bits() >> 16 & 0x8000) as u16, value.abs());
    let scaled = magnitude * 2.0_f32.powi(24);
    if scaled < 1024.0 {
        return sign | scaled as u16;
    }
    let exponent = (magnitude.to_bits() >> 23) as i32 - 127;
    sign | ((exponent + 15) as u16) << 10 | (magnitude.to_bits() >> 13 & 0x3ff) as u16
}

/// Rows of q and k as llama.cpp wants them: the two halves of a head interleaved.
fn interleave(values: &[f32], rows: usize, head_dim: usize) -> Vec<f32> {
    let width = values.len() / rows;
    let half = head_dim / 2;
    let mut out = Vec::with_capacity(values.len());
    for head in 0..rows / head_dim {
        for i in 0..half {
            for row in [head * head_dim + i, head * head_dim + half + i] {
                out.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
        }
    }
    out
}

fn name(name: &str) -> String {
    let pairs = [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("model.layers", "blk"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ];
    pairs.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to))
}
