//! Metadata to `config.json`.

use serde_json::{Map, Value as Json, json};

use super::names::{self, HEAD};
use super::read::GgufFile;
use super::value::Value;
use crate::arch::{EMBEDDING, layer_key};
use crate::config::{Family, ModelConfig};
use crate::error::ModelError;

/// The architectures that are read, by `general.architecture`.
const ARCHITECTURES: [(&str, Family, &str); 3] = [
    ("llama", Family::Llama, "LlamaForCausalLM"),
    ("qwen2", Family::Qwen2, "Qwen2ForCausalLM"),
    ("qwen3", Family::Qwen3, "Qwen3ForCausalLM"),
];

/// The `config.json` of the model in this file.
///
/// # Errors
/// When the architecture is another, a size is missing, or the file asks for something that is not computed here.
pub(super) fn make(file: &GgufFile) -> Result<ModelConfig, ModelError> {
    let arch = file.get("general.architecture").and_then(Value::text).unwrap_or("(none named)");
    let Some((arch, family, class)) = ARCHITECTURES.iter().find(|known| known.0 == arch) else {
        return Err(ModelError::UnknownArchitecture { name: arch.to_owned() });
    };
    let get = |key: &str| file.get(&format!("{arch}.{key}"));
    let count = |key: &str| {
        get(key)
            .and_then(Value::unsigned)
            .ok_or_else(|| file.error(format!("{arch}.{key} is missing or no whole number")))
    };
    refuse_unsupported(file, arch)?;

    let (hidden, heads) = (count("embedding_length")?, count("attention.head_count")?);
    let kv_heads = get("attention.head_count_kv").and_then(Value::unsigned).unwrap_or(heads);
    let head_dim = match get("attention.key_length").and_then(Value::unsigned) {
        Some(width) => width,
        None => hidden.checked_div(heads).unwrap_or_default(),
    };
    for key in ["attention.value_length", "rope.dimension_count"] {
        if get(key).is_some_and(|value| value.unsigned() != Some(head_dim)) {
            return Err(file.error(format!("{arch}.{key} is not the width of a head, {head_dim}")));
        }
    }
    let embedding = names::in_gguf(EMBEDDING).and_then(|name| file.info(&name));
    let vocab = embedding.and_then(|info| info.shape.first().copied());
    let vocab = vocab.ok_or_else(|| file.error("the tensor token_embd.weight is missing"))?;
    let has = |name: &str| names::in_gguf(name).is_some_and(|name| file.info(&name).is_some());
    let bias = *family != Family::Qwen2 && has(&layer_key(0, "self_attn.q_proj.bias"));

    let mut raw = Map::new();
    let fields = [
        ("architectures", json!([class])),
        ("model_type", json!(family.model_type())),
        ("hidden_size", json!(hidden)),
        ("intermediate_size", json!(count("feed_forward_length")?)),
        ("num_hidden_layers", json!(count("block_count")?)),
        ("num_attention_heads", json!(heads)),
        ("num_key_value_heads", json!(kv_heads)),
        ("head_dim", json!(head_dim)),
        ("hidden_act", json!("silu")),
        ("max_position_embeddings", json!(count("context_length")?)),
        ("rms_norm_eps", shortest(get("attention.layer_norm_rms_epsilon")).unwrap_or(json!(1e-6))),
        ("rope_theta", shortest(get("rope.freq_base")).unwrap_or(json!(10_000.0))),
        ("attention_bias", json!(bias)),
        ("tie_word_embeddings", json!(!has(HEAD))),
        ("vocab_size", json!(vocab)),
        ("bos_token_id", token(file, "bos_token_id")),
        ("eos_token_id", token(file, "eos_token_id")),
        ("pad_token_id", token(file, "padding_token_id")),
    ];
    raw.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    ModelConfig::from_json(raw)
}

/// The number as people wrote it before it was stored as `f32`: `1e-5` rather than `9.999999747378752e-6`.
fn shortest(value: Option<&Value>) -> Option<Json> {
    let number = value?.float()?;
    let text = (number as f32).to_string();
    Some(json!(text.parse::<f64>().unwrap_or(number)))
}

fn token(file: &GgufFile, name: &str) -> Json {
    file.get(&format!("tokenizer.ggml.{name}")).and_then(Value::unsigned).map_or(Json::Null, |id| json!(id))
}

/// Refuses what would change the numbers and is not implemented.
fn refuse_unsupported(file: &GgufFile, arch: &str) -> Result<(), ModelError> {
    let get = |key: &str| file.get(&format!("{arch}.{key}"));
    if let Some(kind) = get("rope.scaling.type").and_then(Value::text).filter(|kind| *kind != "none") {
        return Err(file.error(format!("RoPE scaling {kind:?} is not supported")));
    }
    if file.info("rope_freqs.weight").is_some() {
        return Err(file.error("scaled rotary frequencies (Llama 3.1 and later) are not supported"));
    }
    for key in ["expert_count", "attention.sliding_window"] {
        if get(key).and_then(Value::unsigned).is_some_and(|count| count > 0) {
            return Err(file.error(format!("{arch}.{key} is not supported")));
        }
    }
    Ok(())
}
