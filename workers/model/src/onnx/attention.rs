//! Causal attention with rotary positions, in the two forms of [`Attention`].

use super::graph::{Attribute, Value};
use super::proto::data_type;
use super::tokens::Tokens;
use super::{Attention, Builder, Interface};

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
        /// The tokens that look, in order: all of a text's together.
        blocks: Vec<Block>,
    },
}

/// Tokens one after another that look together: at themselves and at what is before them, not at what is behind.
pub(super) struct Block {
    /// Their first token, and the one after their last, `[1]`; none where they are the whole text.
    ends: Option<(Value, Value)>,
    /// Whether they end with the text.
    is_last: bool,
    /// What is added to the logits, `[heads / kv_heads * tokens, tokens up to their last]`.
    mask: Value,
}

/// Blocks of a text in the engine's graph. With four, 10 of 16 logits are computed, about 8 of which count. Attention of 1,000
/// tokens of Qwen3-0.6B took OpenVINO 10.9 ms a layer with one, 8.7 with two, 8.0 with four, 8.1 with eight.
const BLOCKS: i64 = 4;

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
        let blocks = self.blocks(tokens, positions);
        let (q_shape, kv_shape) = (self.shape_of(tokens, &[heads, width]), self.shape_of(tokens, &[kv_heads, width]));
        Rotary::Primitive { k_turn: (k_cos, k_sin), q_turn: (q_cos, q_sin), q_shape, kv_shape, blocks }
    }

    /// `[batch, length]` followed by `dims`, as a shape.
    fn shape_of(&mut self, tokens: &Tokens, dims: &[i64]) -> Value {
        let dims = self.graph.ints(dims, &[dims.len() as i64]);
        self.graph.op("Concat", &[&tokens.shape, &dims], &[("axis", Attribute::Int(0))])
    }

    fn blocks(&mut self, tokens: &Tokens, positions: &str) -> Vec<Block> {
        let count = if self.interface == Interface::Positions { BLOCKS } else { 1 };
        if count == 1 {
            let mask = self.causal_mask(positions, positions);
            return vec![Block { ends: None, is_last: true, mask }];
        }
        let axis = self.graph.ints(&[0], &[1]);
        let length = self.graph.op("Unsqueeze", &[&tokens.length, &axis], &[]);
        let bounds: Vec<Value> = (0..=count).map(|bound| self.share_of(&length, bound, count)).collect();
        let mut blocks = Vec::new();
        for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
            let rows = self.graph.op("Slice", &[positions, from, to, &axis], &[]);
            let columns = self.graph.op("Slice", &[positions, &axis, to, &axis], &[]);
            let mask = self.causal_mask(&rows, &columns);
            blocks.push(Block { ends: Some((from.clone(), to.clone())), is_last: false, mask });
        }
        if let Some(last) = blocks.last_mut() {
            last.is_last = true;
        }
        blocks
    }

    /// length * part / parts, rounded down.
    fn share_of(&mut self, length: &str, part: i64, parts: i64) -> Value {
        let g = &mut self.graph;
        let (part, parts) = (g.ints(&[part], &[1]), g.ints(&[parts], &[1]));
        let product = g.op("Mul", &[length, &part], &[]);
        g.op("Div", &[&product, &parts], &[])
    }

    /// 0 where the token of a row may look at that of a column, a very low number where it may not; all rows once for each of the
    /// heads that share a key-value head.
    fn causal_mask(&mut self, rows: &str, columns: &str) -> Value {
        let axis = self.graph.ints(&[1], &[1]);
        let rows = self.graph.op("Unsqueeze", &[rows, &axis], &[]);
        let sees = self.graph.op("GreaterOrEqual", &[&rows, columns], &[]);
        let (open, shut) = (self.graph.floats(&[0.0], &[]), self.graph.floats(&[SHUT], &[]));
        let one = self.graph.op("Where", &[&sees, &open, &shut], &[]);
        let copies = vec![one.as_str(); self.config.heads / self.config.kv_heads];
        self.graph.op("Concat", &copies, &[("axis", Attribute::Int(0))])
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
            Rotary::Primitive { k_turn, q_turn, q_shape, kv_shape, blocks } => {
                let q = self.split_heads(q, q_shape);
                let k = self.split_heads(k, kv_shape);
                let v = self.split_heads(v, kv_shape);
                let (q, k) = (self.rotate(&q, q_turn), self.rotate(&k, k_turn));
                self.primitive(&q, &k, &v, blocks)
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

    fn primitive(&mut self, q: &str, k: &str, v: &str, blocks: &[Block]) -> Value {
        let mixed: Vec<Value> = blocks.iter().map(|block| self.block(q, k, v, block)).collect();
        let g = &mut self.graph;
        let mixed = match mixed.as_slice() {
            [whole] => whole.clone(),
            parts => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                g.op("Concat", &parts, &[("axis", Attribute::Int(2))])
            }
        };
        g.op("Transpose", &[&mixed], &[("perm", Attribute::Ints(vec![0, 2, 1, 3]))])
    }

    /// What the tokens of a block attend to, `[batch, heads, tokens, head_dim]`. Heads that share a key-value head are laid one
    /// after another along the length, so nothing is repeated: a view, as they are neighbours.
    fn block(&mut self, q: &str, k: &str, v: &str, block: &Block) -> Value {
        let (mut q, mut k, mut v) = (q.to_owned(), k.to_owned(), v.to_owned());
        if let Some((from, to)) = &block.ends {
            let (zero, axis) = (self.graph.ints(&[0], &[1]), self.graph.ints(&[2], &[1]));
            q = self.graph.op("Slice", &[&q, from, to, &axis], &[]);
            if !block.is_last {
                k = self.graph.op("Slice", &[&k, &zero, to, &axis], &[]);
                v = self.graph.op("Slice", &[&v, &zero, to, &axis], &[]);
            }
        }
        let (heads, kv_heads, width) =
            (self.config.heads as i64, self.config.kv_heads as i64, self.config.head_dim as i64);
        let q = self.reshape(&q, &[0, kv_heads, -1, width]);
        let g = &mut self.graph;
        let k = g.op("Transpose", &[&k], &[("perm", Attribute::Ints(vec![0, 1, 3, 2]))]);
        let logits = g.op("MatMul", &[&q, &k], &[]);
        let logits = g.op("Add", &[&logits, &block.mask], &[]);
        let weights = g.op("Softmax", &[&logits], &[("axis", Attribute::Int(-1))]);
        let mixed = g.op("MatMul", &[&weights, &v], &[]);
        self.reshape(&mixed, &[0, heads, -1, width])
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
