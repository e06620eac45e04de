//! One decoder layer: attention and a gated MLP, each added to the residual stream after a norm.

use super::Builder;
use super::attention::Rotary;
use super::graph::Value;
use crate::arch::layer_key;
use crate::error::ModelError;

impl Builder<'_> {
    /// `x` and the result: `[batch * length, hidden]`.
    pub(super) fn layer(&mut self, layer: usize, x: &str, rotary: &Rotary) -> Result<Value, ModelError> {
        let key = |part: &str| layer_key(layer, part);
        let normed = self.norm(x, &key("input_layernorm.weight"))?;
        let q = self.head_projection(&normed, layer, "q")?;
        let k = self.head_projection(&normed, layer, "k")?;
        let v = self.head_projection(&normed, layer, "v")?;
        let attended = self.attention(&q, &k, &v, rotary);
        let bias = self.config.o_bias.then(|| key("self_attn.o_proj.bias"));
        let out = self.linear(&attended, &key("self_attn.o_proj.weight"), bias.as_deref())?;
        let x = self.graph.op("Add", &[x, &out], &[]);

        let normed = self.norm(&x, &key("post_attention_layernorm.weight"))?;
        let gate = self.linear(&normed, &key("mlp.gate_proj.weight"), None)?;
        let up = self.linear(&normed, &key("mlp.up_proj.weight"), None)?;
        let gate_sigmoid = self.graph.op("Sigmoid", &[&gate], &[]);
        let silu = self.graph.op("Mul", &[&gate, &gate_sigmoid], &[]);
        let inner = self.graph.op("Mul", &[&silu, &up], &[]);
        let out = self.linear(&inner, &key("mlp.down_proj.weight"), None)?;
        Ok(self.graph.op("Add", &[&x, &out], &[]))
    }

    /// q, k or v for all heads, `[batch * length, heads * head_dim]`; q and k normed over the head where the family
    /// does so.
    fn head_projection(&mut self, x: &str, layer: usize, which: &str) -> Result<Value, ModelError> {
        let key = |part: &str| layer_key(layer, &format!("self_attn.{which}_{part}"));
        let bias = self.config.qkv_bias.then(|| key("proj.bias"));
        let projected = self.linear(x, &key("proj.weight"), bias.as_deref())?;
        if !self.config.qk_norm || which == "v" {
            return Ok(projected);
        }
        let head_dim = self.config.head_dim as i64;
        let heads = if which == "q" { self.config.heads } else { self.config.kv_heads } as i64;
        let by_head = self.reshape(&projected, &[-1, head_dim]);
        let normed = self.norm(&by_head, &key("norm.weight"))?;
        Ok(self.reshape(&normed, &[-1, heads * head_dim]))
    }
}
