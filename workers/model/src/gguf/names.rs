//! The tensors of a model under the names that llama.cpp gives them (its `gguf-py/gguf/constants.py`).

use crate::arch::{EMBEDDING, FINAL_NORM};

/// The language model's head: not part of a reward model, but of an ordinary base.
pub(super) const HEAD: &str = "lm_head.weight";

/// Parts of a layer: the name in `model.safetensors` after `model.layers.N.`, and that in GGUF after `blk.N.`.
const PARTS: [(&str, &str); 15] = [
    ("input_layernorm.weight", "attn_norm.weight"),
    ("self_attn.q_proj.weight", "attn_q.weight"),
    ("self_attn.k_proj.weight", "attn_k.weight"),
    ("self_attn.v_proj.weight", "attn_v.weight"),
    ("self_attn.o_proj.weight", "attn_output.weight"),
    ("self_attn.q_proj.bias", "attn_q.bias"),
    ("self_attn.k_proj.bias", "attn_k.bias"),
    ("self_attn.v_proj.bias", "attn_v.bias"),
    ("self_attn.o_proj.bias", "attn_output.bias"),
    ("self_attn.q_norm.weight", "attn_q_norm.weight"),
    ("self_attn.k_norm.weight", "attn_k_norm.weight"),
    ("post_attention_layernorm.weight", "ffn_norm.weight"),
    ("mlp.gate_proj.weight", "ffn_gate.weight"),
    ("mlp.up_proj.weight", "ffn_up.weight"),
    ("mlp.down_proj.weight", "ffn_down.weight"),
];

/// The name in GGUF of a tensor of `model.safetensors`.
pub(super) fn in_gguf(name: &str) -> Option<String> {
    match name {
        EMBEDDING => return Some("token_embd.weight".to_owned()),
        FINAL_NORM => return Some("output_norm.weight".to_owned()),
        HEAD => return Some("output.weight".to_owned()),
        _ => {}
    }
    let (layer, part) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let part = PARTS.iter().find(|row| row.0 == part)?.1;
    Some(format!("blk.{layer}.{part}"))
}

/// How often the rows of a head were halved and interleaved, by the name in `model.safetensors`: llama.cpp turns neighbouring
/// values for the llama architecture where transformers turns the two halves of a head, so its converter reorders the rows of
/// q and k (`LlamaModel.permute` in convert_hf_to_gguf.py).
pub(super) fn is_interleaved(name: &str) -> bool {
    name.contains("self_attn.q_proj.") || name.contains("self_attn.k_proj.")
}

/// Undoes that: row `2 i + h` of a head becomes row `i + h * half`. `rows` is the number of rows, `head_dim` those of a head.
pub(super) fn deinterleave(values: &[f32], rows: usize, head_dim: usize) -> Vec<f32> {
    let width = values.len() / rows.max(1);
    let half = head_dim / 2;
    let source = |row: usize| {
        let (head, within) = (row / head_dim, row % head_dim);
        head * head_dim + 2 * (within % half) + within / half
    };
    let mut out = Vec::with_capacity(values.len());
    for row in (0..rows).map(source) {
        out.extend_from_slice(&values[row * width..(row + 1) * width]);
    }
    out
}
