//! `config.json`: what is read, what is refused, what a checkpoint's file says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use serde_json::{Map, Value, json};
use stash_model::ModelError;
use stash_model::config::{Family, ModelConfig};

fn parse(json: Value) -> Result<ModelConfig, ModelError> {
    ModelConfig::from_json(json.as_object().cloned().unwrap_or_default())
}

fn qwen3() -> Map<String, Value> {
    let json = json!({
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072,
        "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "vocab_size": 151936, "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000,
        "rope_scaling": null, "sliding_window": null, "use_sliding_window": false, "hidden_act": "silu",
        "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.51.0"
    });
    json.as_object().cloned().unwrap()
}

#[test]
fn qwen3_is_read() {
    let config = ModelConfig::from_json(qwen3()).unwrap();
    assert_eq!(config.family, Family::Qwen3);
    assert_eq!((config.heads, config.kv_heads, config.head_dim), (16, 8, 128));
    assert!(config.qk_norm && !config.qkv_bias && !config.o_bias);
    assert_eq!((config.rope_theta, config.norm_eps, config.pad_token_id), (1e6, 1e-6, None));
}

#[test]
fn llama_and_qwen2_differ_by_their_fields() {
    let llama = parse(json!({"model_type": "llama", "hidden_size": 576, "intermediate_size": 1536,
        "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 49152,
        "rms_norm_eps": 1e-5, "rope_parameters": {"rope_type": "default", "rope_theta": 100000}}))
    .unwrap();
    assert_eq!((llama.head_dim, llama.rope_theta, llama.qk_norm, llama.qkv_bias), (64, 1e5, false, false));
    let qwen2 = parse(json!({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}))
    .unwrap();
    assert_eq!((qwen2.kv_heads, qwen2.qkv_bias, qwen2.o_bias), (4, true, false));
}

#[test]
fn what_would_change_the_numbers_is_refused() {
    let cases = [
        ("model_type", json!("mamba"), "unknown architecture \"mamba\""),
        ("hidden_act", json!("gelu"), "hidden_act"),
        ("use_sliding_window", json!(true), "sliding-window"),
        ("layer_types", json!(["full_attention", "sliding_attention"]), "sliding-window"),
        ("rope_scaling", json!({"rope_type": "yarn", "factor": 4.0}), "RoPE scaling \"yarn\""),
        ("rope_parameters", json!({"rope_type": "llama3", "rope_theta": 5e5}), "RoPE scaling \"llama3\""),
        ("mlp_bias", json!(true), "mlp_bias"),
        ("quantization_config", json!({"bits": 4}), "quantized"),
        ("num_key_value_heads", json!(5), "does not divide"),
        ("head_dim", json!(63), "odd"),
        ("hidden_size", json!("wide"), "hidden_size"),
        ("vocab_size", json!(0), "vocab_size"),
        ("num_hidden_layers", json!(1_000_000), "num_hidden_layers"),
        ("rms_norm_eps", json!(0), "rms_norm_eps"),
        ("pad_token_id", json!(151936), "pad_token_id"),
    ];
    for (field, value, expected) in cases {
        let mut raw = qwen3();
        raw.insert(field.to_owned(), value);
        let message = ModelConfig::from_json(raw).unwrap_err().to_string();
        assert!(message.contains(expected), "{field}: {message}");
    }
    assert!(matches!(parse(json!({})).unwrap_err(), ModelError::UnknownArchitecture { .. }));
}

#[test]
fn a_checkpoints_config_keeps_the_bases_fields() {
    let mut raw = qwen3();
    raw.insert("field_of_tomorrow".to_owned(), json!({"a": 1}));
    let written = ModelConfig::from_json(raw).unwrap().to_reward_model_json(151643, "float32");
    assert_eq!(written["architectures"], json!(["Qwen3ForSequenceClassification"]));
    assert_eq!(written["id2label"], json!({"0": "LABEL_0"}));
    assert_eq!(written["pad_token_id"], json!(151643));
    assert_eq!(written["field_of_tomorrow"], json!({"a": 1}));
    assert_eq!(ModelConfig::from_json(written).unwrap().pad_token_id, Some(151643));
}
