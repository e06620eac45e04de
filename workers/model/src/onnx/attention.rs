//! Causal attention with rotary positions, in the two forms of [`Attention`].

use super::graph::{Attribute, Value};
use super::proto::data_type;
use super::tokens::Tokens;
use super::{Attention, Builder};

/// Constants of a batch that every layer's attention uses.
pub(super) enum Rotary {
    /// For [`Attention::Grouped`].
    Grouped {
        /// cos and sin of position times frequency, `[length, head_dim / 2]`.
        cos: Value,
        sin: Value,
        /// `[batch, length, heads * head_dim]` as a shape, and the same for the key-value heads.
        q_shape: Value,
        kv_shape: Value,
        /// Last real index of each row, `int32 [batch]`.
        last: Value,
        /// The length, `int32`, a scalar.
        length: Value,
    },
    /// For [`Attention::Primitive`].
    Primitive {
        /// cos and sin for k, and for q those times the scale of the logits: `[1, 1, length, head_dim]`.
        k_turn: (Value, Value),
        q_turn: (Value, Value),
        /// `[batch, length, heads, head_dim]` as a shape, and the same for the key-value heads.
        q_shape: Value,
        kv_shape: Value,
        /// `[batch, heads, length, head_dim]` as a shape.
        mixed_shape: Value,
        /// What is added to the logits, `[heads / kv_heads * length, length]`.
        mask: Value,
    },
}

/// What is added to a logit that does not count: far below any logit, and a number in every float type that a runtime may
/// compute in.
const SHUT: f32 = -1e30;

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
                Rotary::Grouped { cos, sin, q_shape, kv_shape, last, length }
            }
            Attention::Primitive => self.primitive_constants(tokens, &positions, &cos, &sin),
        }
    }

    fn primitive_constants(&mut self, tokens: &Tokens, positions: &str, cos: &str, sin: &str) -> Rotary {
        let (heads, kv_heads, width) =
            (self.config.heads as i64, self.config.kv_heads as i64, self.config.head_dim as i64);
        let scale = self.scale();
        let g = &mut self.graph;
        let outer = g.ints(&[0, 1], &[2]);
        let scale = g.floats(&[scale], &[]);
        let mut turn = |half: &str| {
            let both = g.op("Concat", &[half, half], &[("axis", Attribute::Int(-1))]);
            let for_k = g.op("Unsqueeze", &[&both, &outer], &[]);
            let for_q = g.op("Mul", &[&for_k, &scale], &[]);
            (for_k, for_q)
        };
        let ((k_cos, q_cos), (k_sin, q_sin)) = (turn(cos), turn(sin));
        let one = self.causal_mask(positions);
        let copies = vec![one.as_str(); self.config.heads / self.config.kv_heads];
        let mask = self.graph.op("Concat", &copies, &[("axis", Attribute::Int(0))]);
        let (q_shape, kv_shape) = (self.shape_of(tokens, &[heads, width]), self.shape_of(tokens, &[kv_heads, width]));
        let order = self.graph.ints(&[0, 2, 1, 3], &[4]);
        let mixed_shape = self.graph.op("Gather", &[&q_shape, &order], &[]);
        Rotary::Primitive { k_turn: (k_cos, k_sin), q_turn: (q_cos, q_sin), q_shape, kv_shape, mixed_shape, mask }
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
        let (open, shut) = (self.graph.floats(&[0.0], &[]), self.graph.floats(&[SHUT], &[]));
        self.graph.op("Where", &[&sees, &open, &shut], &[])
    }

    /// q, k, v as projected to what was attended to, laid out as [`Builder::embed`] does, `heads * head_dim` wide.
    pub(super) fn attention(&mut self, q: &str, k: &str, v: &str, rotary: &Rotary) -> Value {
        let attended = match rotary {
            Rotary::Grouped { cos, sin, q_shape, kv_shape, last, length } => {
                let g = &mut self.graph;
                let q = g.op("Reshape", &[q, q_shape], &[]);
                let k = g.op("Reshape", &[k, kv_shape], &[]);
                let v = g.op("Reshape", &[v, kv_shape], &[]);
                self.grouped(&[&q, &k, &v, "", "", last, length, cos, sin])
            }
            Rotary::Primitive { k_turn, q_turn, q_shape, kv_shape, mixed_shape, mask } => {
                let q = self.split_heads(q, q_shape);
                let k = self.split_heads(k, kv_shape);
                let v = self.split_heads(v, kv_shape);
                let (q, k) = (self.rotate(&q, q_turn), self.rotate(&k, k_turn));
                self.primitive(&q, &k, &v, mask, mixed_shape)
            }
        };
        let width = (self.config.heads * self.config.head_dim) as i64;
        match rotary {
            Rotary::Grouped { .. } => self.reshape(&attended, &[-1, width]),
            Rotary::Primitive { .. } => self.reshape(&attended, &[0, 0, width]),
        }
    }

    fn grouped(&mut self, inputs: &[&str]) -> Value {
        let attributes = [
            ("num_heads", Attribute::Int(self.config.heads as i64)),
            ("kv_num_heads", Attribute::Int(self.config.kv_heads as i64)),
            ("do_rotary", Attribute::Int(1)),
            ("scale", Attribute::Float(self.scale())),
        ];
        self.graph.contrib("GroupQueryAttention", inputs, &attributes)
    }

    /// Heads that share a key-value head are laid one after another along the length, so nothing is repeated: a view, as
    /// they are neighbours.
    fn primitive(&mut self, q: &str, k: &str, v: &str, mask: &str, mixed_shape: &str) -> Value {
        let stacked = [0, self.config.kv_heads as i64, -1, self.config.head_dim as i64];
        let q = self.reshape(q, &stacked);
        let g = &mut self.graph;
        let k = g.op("Transpose", &[k], &[("perm", Attribute::Ints(vec![0, 1, 3, 2]))]);
        let logits = g.op("MatMul", &[&q, &k], &[]);
        let logits = g.op("Add", &[&logits, mask], &[]);
        let weights = g.op("Softmax", &[&logits], &[("axis", Attribute::Int(-1))]);
        let mixed = g.op("MatMul", &[&weights, v], &[]);
        let mixed = g.op("Reshape", &[&mixed, mixed_shape], &[]);
        g.op("Transpose", &[&mixed], &[("perm", Attribute::Ints(vec![0, 2, 1, 3]))])
    }

    /// To `[batch, heads, length, head_dim]`.
    fn split_heads(&mut self, x: &str, shape: &str) -> Value {
        let split = self.graph.op("Reshape", &[x, shape], &[]);
        self.graph.op("Transpose", &[&split], &[("perm", Attribute::Ints(vec![0, 2, 1, 3]))])
    }

    /// x * cos + rotate_half(x) * sin: the first half of a head is paired with the second. In the operators that
    /// transformers' own export has, which runtimes know as a rotation and keep in full precision.
    fn rotate(&mut self, x: &str, (cos, sin): &(Value, Value)) -> Value {
        let (half, width) = ((self.config.head_dim / 2) as i64, self.config.head_dim as i64);
        let g = &mut self.graph;
        let (zero, half, width) = (g.ints(&[0], &[1]), g.ints(&[half], &[1]), g.ints(&[width], &[1]));
        let axis = g.ints(&[3], &[1]);
        let first = g.op("Slice", &[x, &zero, &half, &axis], &[]);
        let second = g.op("Slice", &[x, &half, &width, &axis], &[]);
        let negated = g.op("Neg", &[&second], &[]);
        let turned = g.op("Concat", &[&negated, &first], &[("axis", Attribute::Int(-1))]);
        let a = g.op("Mul", &[x, cos], &[]);
        let b = g.op("Mul", &[&turned, sin], &[]);
        g.op("Add", &[&a, &b], &[])
    }

    fn scale(&self) -> f32 {
        1.0 / (self.config.head_dim as f32).sqrt()
    }
}
