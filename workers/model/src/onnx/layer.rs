//! One decoder layer: attention and a gated MLP, each added to the residual stream after a norm.

use super::attention::Rotary;
use super::graph::{Attribute, Value};
use super::tokens::Tokens;
use super::{Attention, Builder};
use crate::arch::layer_key;
use crate::error::ModelError;

impl Builder<'_> {
    /// `x` and the result are as [`Builder::embed`] lays tokens out. With `only`, the result has just the rows that it names,
    /// in its order: after attention a row needs no other.
    pub(super) fn layer(
        &mut self,
        layer: usize,
        x: &str,
        rotary: &Rotary,
        tokens: &Tokens,
        only: Option<&str>,
    ) -> Result<Value, ModelError> {
        let key = |part: &str| layer_key(layer, part);
        let normed = self.norm(x, &key("input_layernorm.weight"))?;
        let q = self.head_projection(&normed, layer, "q")?;
        let k = self.head_projection(&normed, layer, "k")?;
        let v = self.head_projection(&normed, layer, "v")?;
        let mut attended = self.attention(&q, &k, &v, rotary);
        let (mut x, mut rows) = (x.to_owned(), tokens.shape.clone());
        if let Some(only) = only {
            attended = self.pick(&attended, only, self.config.heads * self.config.head_dim);
            x = self.pick(&x, only, self.config.hidden_size);
            rows = self.graph.ints(&[1, -1], &[2]);
        }
        let bias = self.config.o_bias.then(|| key("self_attn.o_proj.bias"));
        let out = self.projection(&attended, &key("self_attn.o_proj.weight"), bias.as_deref())?;
        let x = self.graph.op("Add", &[&x, &out], &[]);

        let normed = self.norm(&x, &key("post_attention_layernorm.weight"))?;
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let gate = self.inner(&normed, &key("mlp.gate_proj.weight"), &rows, (hidden, inner))?;
        let up = self.inner(&normed, &key("mlp.up_proj.weight"), &rows, (hidden, inner))?;
        let gate_sigmoid = self.graph.op("Sigmoid", &[&gate], &[]);
        let silu = self.graph.op("Mul", &[&gate, &gate_sigmoid], &[]);
        let activated = self.graph.op("Mul", &[&silu, &up], &[]);
        let out = self.inner(&activated, &key("mlp.down_proj.weight"), &rows, (inner, hidden))?;
        Ok(self.graph.op("Add", &[&x, &out], &[]))
    }

    /// The rows of `x`, `width` wide, that `only` names.
    fn pick(&mut self, x: &str, only: &str, width: usize) -> Value {
        match self.attention {
            Attention::Grouped => self.graph.op("Gather", &[x, only], &[]),
            Attention::Primitive => {
                let rows = self.reshape(x, &[-1, width as i64]);
                let picked = self.graph.op("Gather", &[&rows, only], &[]);
                self.reshape(&picked, &[1, -1, width as i64])
            }
        }
    }

    /// A product of the MLP, from and to these widths. OpenVINO has a kernel for the three of them together, which is no
    /// faster and which stops the process when it has one thread; taking the rows as two dimensions keeps it from that.
    fn inner(&mut self, x: &str, key: &str, rows: &str, (from, to): (usize, usize)) -> Result<Value, ModelError> {
        if self.attention == Attention::Grouped {
            return self.linear(x, key, None);
        }
        let flat = self.reshape(x, &[-1, from as i64]);
        let product = self.linear(&flat, key, None)?;
        let width = self.graph.ints(&[to as i64], &[1]);
        let shape = self.graph.op("Concat", &[rows, &width], &[("axis", Attribute::Int(0))]);
        Ok(self.graph.op("Reshape", &[&product, &shape], &[]))
    }

    /// A product of the attention, plus a bias.
    fn projection(&mut self, x: &str, key: &str, bias: Option<&str>) -> Result<Value, ModelError> {
        if let Some(product) = self.int8_product(x, key, bias)? {
            return Ok(product);
        }
        if self.attention == Attention::Grouped {
            return self.linear(x, key, bias);
        }
        let weight = self.weight(key)?;
        let turned = self.graph.op("Transpose", &[&weight], &[("perm", Attribute::Ints(vec![1, 0]))]);
        let product = self.graph.op("MatMul", &[x, &turned], &[]);
        let Some(bias) = bias else { return Ok(product) };
        let bias = self.weight(bias)?;
        Ok(self.graph.op("Add", &[&product, &bias], &[]))
    }

    /// q, k or v for all heads; q and k normed over the head where the family does so.
    fn head_projection(&mut self, x: &str, layer: usize, which: &str) -> Result<Value, ModelError> {
        let key = |part: &str| layer_key(layer, &format!("self_attn.{which}_{part}"));
        let bias = self.config.qkv_bias.then(|| key("proj.bias"));
        let projected = self.projection(x, &key("proj.weight"), bias.as_deref())?;
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
