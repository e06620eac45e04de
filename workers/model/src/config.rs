//! Hugging Face `config.json`: which of the supported graphs a model is, and its sizes.
//!
//! Families: `qwen3` (norm on q and k), `qwen2` (bias on q, k and v) and `llama`. All are the same decoder; the
//! differences are fields here, read from the file, so that nothing else asks for the family. Field names, defaults and
//! the newer `rope_parameters` follow transformers (4.x and 5.x) `configuration_{qwen3,qwen2,llama}.py`.
//!
//! Invariant: a [`ModelConfig`] that exists describes a graph that can be computed exactly; whatever would change the
//! numbers and is not implemented (scaled RoPE, sliding windows, other activations) is refused on reading.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::ModelError;
use crate::files;

/// Most decoder layers accepted. The largest supported bases have under 100.
pub const LAYERS_MAX: usize = 512;
/// Largest width (hidden, intermediate, heads times head size) accepted.
pub const WIDTH_MAX: usize = 1 << 18;
/// Largest vocabulary accepted.
pub const VOCAB_MAX: usize = 1 << 21;
/// Name of the file.
pub const FILE: &str = "config.json";

/// The model type, which names the class transformers opens the checkpoint with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Qwen3: RMS norm over the head on q and k, before RoPE.
    Qwen3,
    /// Qwen2: bias on q, k and v.
    Qwen2,
    /// Llama, and those that use its graph (SmolLM2).
    Llama,
}

impl Family {
    /// `model_type` in `config.json`.
    pub fn model_type(self) -> &'static str {
        match self {
            Self::Qwen3 => "qwen3",
            Self::Qwen2 => "qwen2",
            Self::Llama => "llama",
        }
    }

    /// The class of a reward model of this family.
    pub fn class_name(self) -> &'static str {
        match self {
            Self::Qwen3 => "Qwen3ForSequenceClassification",
            Self::Qwen2 => "Qwen2ForSequenceClassification",
            Self::Llama => "LlamaForSequenceClassification",
        }
    }

    fn of(model_type: &str) -> Option<Self> {
        [Self::Qwen3, Self::Qwen2, Self::Llama].into_iter().find(|f| f.model_type() == model_type)
    }
}

/// The sizes and constants of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// Model type.
    pub family: Family,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the gated MLP.
    pub intermediate_size: usize,
    /// Decoder layers.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head; even. Need not be `hidden_size / heads`.
    pub head_dim: usize,
    /// Rows of the embedding.
    pub vocab_size: usize,
    /// Longest sequence the model was made for.
    pub max_positions: usize,
    /// Epsilon of every norm.
    pub norm_eps: f64,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// Whether q and k are normed over the head before RoPE.
    pub qk_norm: bool,
    /// Whether q, k and v have a bias.
    pub qkv_bias: bool,
    /// Whether the attention output has a bias.
    pub o_bias: bool,
    /// The padding token, if the file names one.
    pub pad_token_id: Option<u32>,
    /// The whole file, so that fields unknown here survive into the checkpoint.
    pub raw: Map<String, Value>,
}

impl ModelConfig {
    /// Reads `config.json` of a model folder.
    ///
    /// # Errors
    /// When the file is missing or malformed, the architecture unknown, or a setting unsupported.
    pub fn read(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join(FILE);
        Self::from_json(files::read_json(&path)?)
    }

    /// Interprets the content of a `config.json`.
    ///
    /// # Errors
    /// When the architecture is unknown, a size missing or out of bounds, or a setting unsupported.
    pub fn from_json(raw: Map<String, Value>) -> Result<Self, ModelError> {
        let family = family(&raw)?;
        refuse_unsupported(&raw)?;
        let heads = size(&raw, "num_attention_heads", None, WIDTH_MAX)?;
        let hidden_size = size(&raw, "hidden_size", None, WIDTH_MAX)?;
        let head_dim_default = match family {
            Family::Qwen3 => 128,
            Family::Qwen2 | Family::Llama => hidden_size / heads,
        };
        let attention_bias = flag(&raw, "attention_bias");
        let config = Self {
            family,
            hidden_size,
            intermediate_size: size(&raw, "intermediate_size", None, WIDTH_MAX)?,
            layers: size(&raw, "num_hidden_layers", None, LAYERS_MAX)?,
            heads,
            kv_heads: size(&raw, "num_key_value_heads", Some(heads), heads)?,
            head_dim: size(&raw, "head_dim", Some(head_dim_default), WIDTH_MAX)?,
            vocab_size: size(&raw, "vocab_size", None, VOCAB_MAX)?,
            max_positions: size(&raw, "max_position_embeddings", Some(32_768), 1 << 24)?,
            norm_eps: number(&raw, "rms_norm_eps").unwrap_or(1e-6),
            rope_theta: rope_theta(&raw),
            qk_norm: family == Family::Qwen3,
            qkv_bias: family == Family::Qwen2 || attention_bias,
            o_bias: family != Family::Qwen2 && attention_bias,
            pad_token_id: raw.get("pad_token_id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok()),
            raw,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ModelError> {
        let refuse = |detail: String| Err(ModelError::Config(detail));
        if !self.heads.is_multiple_of(self.kv_heads) {
            return refuse(format!("num_key_value_heads {} does not divide {} heads", self.kv_heads, self.heads));
        }
        if !self.head_dim.is_multiple_of(2) {
            return refuse(format!("head_dim {} is odd, RoPE needs pairs", self.head_dim));
        }
        if self.heads * self.head_dim > WIDTH_MAX {
            return refuse(format!("{} heads of {} exceed {WIDTH_MAX}", self.heads, self.head_dim));
        }
        if !(self.norm_eps > 0.0 && self.norm_eps < 1.0) {
            return refuse(format!("rms_norm_eps {} is not between 0 and 1", self.norm_eps));
        }
        if !(self.rope_theta >= 1.0 && self.rope_theta.is_finite()) {
            return refuse(format!("rope_theta {} is not a finite number of at least 1", self.rope_theta));
        }
        if self.pad_token_id.is_some_and(|id| id as usize >= self.vocab_size) {
            return refuse(format!("pad_token_id is outside the vocabulary of {}", self.vocab_size));
        }
        Ok(())
    }

    /// The rotary frequencies theta^(-2i/head_dim), in `f32` as transformers computes them. One list serves training and
    /// the exported graph, so that both rotate by the same bits.
    pub fn rotary_frequencies(&self) -> Vec<f32> {
        let width = self.head_dim as f32;
        (0..self.head_dim / 2).map(|i| 1.0 / (self.rope_theta as f32).powf((2 * i) as f32 / width)).collect()
    }

    /// The `config.json` of a reward model trained from this base: the base's file with one label, the class for
    /// sequence classification, the pad token and the stored type of the weights.
    pub fn to_reward_model_json(&self, pad_token_id: u32, dtype: &str) -> Map<String, Value> {
        let mut raw = self.raw.clone();
        let fields = [
            ("architectures", json!([self.family.class_name()])),
            ("model_type", json!(self.family.model_type())),
            // transformers counts labels by `id2label`; `num_labels` is for readers that look for it.
            ("num_labels", json!(1)),
            ("id2label", json!({"0": "LABEL_0"})),
            ("label2id", json!({"LABEL_0": 0})),
            ("pad_token_id", json!(pad_token_id)),
            ("head_dim", json!(self.head_dim)),
            ("use_cache", json!(false)),
            // transformers 4 reads `torch_dtype`, 5 reads `dtype`.
            ("torch_dtype", json!(dtype)),
            ("dtype", json!(dtype)),
        ];
        raw.extend(fields.map(|(key, value)| (key.to_owned(), value)));
        raw
    }
}

fn family(raw: &Map<String, Value>) -> Result<Family, ModelError> {
    let model_type = raw.get("model_type").and_then(Value::as_str);
    if let Some(family) = model_type.and_then(Family::of) {
        return Ok(family);
    }
    let architecture = raw.get("architectures").and_then(|a| a.get(0)).and_then(Value::as_str);
    let name = model_type.or(architecture).unwrap_or("(none named)").to_owned();
    Err(ModelError::UnknownArchitecture { name })
}

fn refuse_unsupported(raw: &Map<String, Value>) -> Result<(), ModelError> {
    let act = raw.get("hidden_act").and_then(Value::as_str).unwrap_or("silu");
    let sliding = flag(raw, "use_sliding_window")
        || raw
            .get("layer_types")
            .and_then(Value::as_array)
            .is_some_and(|kinds| kinds.iter().any(|k| k != "full_attention"));
    let rope_type = ["rope_parameters", "rope_scaling"]
        .iter()
        .filter_map(|key| raw.get(*key))
        .filter_map(|rope| rope.get("rope_type").or_else(|| rope.get("type")).and_then(Value::as_str))
        .find(|kind| *kind != "default");
    let detail = if act != "silu" {
        format!("hidden_act {act:?} is not supported, only \"silu\"")
    } else if sliding {
        "sliding-window attention is not supported".to_owned()
    } else if let Some(kind) = rope_type {
        format!("RoPE scaling {kind:?} is not supported")
    } else if flag(raw, "mlp_bias") {
        "mlp_bias is not supported".to_owned()
    } else if raw.contains_key("quantization_config") {
        "quantized weights are not supported; use the unquantized model".to_owned()
    } else {
        return Ok(());
    };
    Err(ModelError::Config(detail))
}

fn rope_theta(raw: &Map<String, Value>) -> f64 {
    let nested = raw.get("rope_parameters").and_then(|rope| rope.get("rope_theta")).and_then(Value::as_f64);
    nested.or_else(|| number(raw, "rope_theta")).unwrap_or(10_000.0)
}

fn flag(raw: &Map<String, Value>, key: &str) -> bool {
    raw.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn number(raw: &Map<String, Value>, key: &str) -> Option<f64> {
    raw.get(key).and_then(Value::as_f64)
}

fn size(raw: &Map<String, Value>, key: &str, default: Option<usize>, max: usize) -> Result<usize, ModelError> {
    let value = match raw.get(key) {
        None | Some(Value::Null) => default,
        Some(value) => value.as_u64().and_then(|n| usize::try_from(n).ok()),
    };
    match value {
        Some(n) if (1..=max).contains(&n) => Ok(n),
        Some(n) => Err(ModelError::Config(format!("{key} {n} is not between 1 and {max}"))),
        None => Err(ModelError::Config(format!("{key} is missing or not a whole number"))),
    }
}
