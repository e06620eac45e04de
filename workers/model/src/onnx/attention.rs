//! Causal attention with rotary positions, in the two forms of [`Attention`].

use super::graph::{Attribute, Value};
use super::proto::data_type;
use super::{Attention, Builder, Tokens};

/// Constants of a batch that every layer's attention uses.
pub(super) struct Rotary {
    /// cos and sin of position times frequency: `[length, head_dim / 2]` (grouped), `[length, head_dim]` (primitive).
    cos: Value,
    sin: Value,
    /// `[batch, length, heads * head_dim]` as a shape, and the same for the key-value heads (grouped).
    q_shape: Value,
    kv_shape: Value,
    /// Grouped: last real index `[batch]` and the length, both `int32`. Primitive: what is added to the logits,
    /// `[length, length]`, and nothing.
    extra: (Value, Value),
}

impl Builder<'_> {
    pub(super) fn attention_constants(&mut self, tokens: &Tokens, positions: Value, cos: Value, sin: Value) -> Rotary {
        match self.attention {
            Attention::Grouped => {
                let axis = self.graph.ints(&[1], &[1]);
                let last = self.graph.op("Squeeze", &[&tokens.last, &axis], &[]);
                let last = self.graph.cast(&last, data_type::INT32);
                let length = self.graph.cast(&tokens.length, data_type::INT32);
                let width = self.config.head_dim;
                let q_shape = self.shape_of(tokens, &[(self.config.heads * width) as i64]);
                let kv_shape = self.shape_of(tokens, &[(self.config.kv_heads * width) as i64]);
                Rotary { cos, sin, q_shape, kv_shape, extra: (last, length) }
            }
            Attention::Primitive => {
                let twice = [("axis", Attribute::Int(1))];
                let cos = self.graph.op("Concat", &[&cos, &cos], &twice);
                let sin = self.graph.op("Concat", &[&sin, &sin], &twice);
                let mask = self.causal_mask(&positions);
                let (groups, width) = ((self.config.heads / self.config.kv_heads) as i64, self.config.head_dim as i64);
                let q_shape = self.shape_of(tokens, &[self.config.kv_heads as i64, groups, width]);
                let kv_shape = self.shape_of(tokens, &[self.config.kv_heads as i64, 1, width]);
                Rotary { cos, sin, q_shape, kv_shape, extra: (mask, String::new()) }
            }
        }
    }

    /// `[batch, length]` followed by `dims`, as a shape.
    fn shape_of(&mut self, tokens: &Tokens, dims: &[i64]) -> Value {
        let dims = self.graph.ints(dims, &[dims.len() as i64]);
        self.graph.op("Concat", &[&tokens.shape, &dims], &[("axis", Attribute::Int(0))])
    }

    /// 0 where a token may look, a very low number where it may not, `[length, length]`.
    fn causal_mask(&mut self, positions: &str) -> Value {
        let axis = self.graph.ints(&[1], &[1]);
        let column = self.graph.op("Unsqueeze", &[positions, &axis], &[]);
        let sees = self.graph.op("GreaterOrEqual", &[&column, positions], &[]);
        let (open, shut) = (self.graph.floats(&[0.0], &[]), self.graph.floats(&[f32::MIN], &[]));
        self.graph.op("Where", &[&sees, &open, &shut], &[])
    }

    /// q, k, v as projected, `[batch * length, heads * head_dim]`, to what was attended to, of q's shape.
    pub(super) fn attention(&mut self, q: &str, k: &str, v: &str, rotary: &Rotary) -> Value {
        let attended = match self.attention {
            Attention::Grouped => self.grouped(q, k, v, rotary),
            Attention::Primitive => self.primitive(q, k, v, rotary),
        };
        self.reshape(&attended, &[-1, (self.config.heads * self.config.head_dim) as i64])
    }

    fn grouped(&mut self, q: &str, k: &str, v: &str, rotary: &Rotary) -> Value {
        let scale = self.scale();
        let g = &mut self.graph;
        let q = g.op("Reshape", &[q, &rotary.q_shape], &[]);
        let k = g.op("Reshape", &[k, &rotary.kv_shape], &[]);
        let v = g.op("Reshape", &[v, &rotary.kv_shape], &[]);
        let (last, length) = &rotary.extra;
        let inputs = [&q, &k, &v, "", "", last, length, &rotary.cos, &rotary.sin];
        let attributes = [
            ("num_heads", Attribute::Int(self.config.heads as i64)),
            ("kv_num_heads", Attribute::Int(self.config.kv_heads as i64)),
            ("do_rotary", Attribute::Int(1)),
            ("scale", Attribute::Float(scale)),
        ];
        g.contrib("GroupQueryAttention", &inputs, &attributes)
    }

    /// Heads that share a key-value head form a dimension of their own, along which k and v are broadcast.
    fn primitive(&mut self, q: &str, k: &str, v: &str, rotary: &Rotary) -> Value {
        let q = self.split_heads(q, &rotary.q_shape);
        let k = self.split_heads(k, &rotary.kv_shape);
        let v = self.split_heads(v, &rotary.kv_shape);
        let q = self.rotate(&q, rotary);
        let k = self.rotate(&k, rotary);
        let scale = self.scale();
        let g = &mut self.graph;
        let k = g.op("Transpose", &[&k], &[("perm", Attribute::Ints(vec![0, 1, 2, 4, 3]))]);
        let logits = g.op("MatMul", &[&q, &k], &[]);
        let scale = g.floats(&[scale], &[]);
        let logits = g.op("Mul", &[&logits, &scale], &[]);
        let logits = g.op("Add", &[&logits, &rotary.extra.0], &[]);
        let weights = g.op("Softmax", &[&logits], &[("axis", Attribute::Int(-1))]);
        let mixed = g.op("MatMul", &[&weights, &v], &[]);
        g.op("Transpose", &[&mixed], &[("perm", Attribute::Ints(vec![0, 3, 1, 2, 4]))])
    }

    /// `[batch * length, heads * head_dim]` to `[batch, kv_heads, group, length, head_dim]`.
    fn split_heads(&mut self, x: &str, shape: &str) -> Value {
        let split = self.graph.op("Reshape", &[x, shape], &[]);
        self.graph.op("Transpose", &[&split], &[("perm", Attribute::Ints(vec![0, 2, 3, 1, 4]))])
    }

    /// x * cos + rotate_half(x) * sin: the first half of a head is paired with the second.
    fn rotate(&mut self, x: &str, rotary: &Rotary) -> Value {
        let g = &mut self.graph;
        let halves = g.node("", "Split", &[x], &[("axis", Attribute::Int(-1)), ("num_outputs", Attribute::Int(2))], 2);
        let negated = g.op("Neg", &[&halves[1]], &[]);
        let turned = g.op("Concat", &[&negated, &halves[0]], &[("axis", Attribute::Int(-1))]);
        let a = g.op("Mul", &[x, &rotary.cos], &[]);
        let b = g.op("Mul", &[&turned, &rotary.sin], &[]);
        g.op("Add", &[&a, &b], &[])
    }

    fn scale(&self) -> f32 {
        1.0 / (self.config.head_dim as f32).sqrt()
    }
}
