//! The tokens of a batch as the layers take them: each row's own at its left.

use super::Builder;
use super::graph::{Attribute, Value};
use super::proto::data_type;

/// What the layers need to know about the tokens of a batch, all of them moved to the left of their row.
pub(super) struct Tokens {
    /// Ids, `[batch, length]`.
    pub(super) ids: Value,
    /// Where each input column went, `[batch, length]`; none where nothing is moved.
    pub(super) moved_to: Option<Value>,
    /// Index of the last real token, `[batch, 1]`.
    pub(super) last: Value,
    /// `[batch, length]`, as a shape.
    pub(super) shape: Value,
    /// The length, a scalar.
    pub(super) length: Value,
}

impl Builder<'_> {
    /// Moves each row's real tokens to its left, in order: causal attention then needs no padding mask, since what
    /// pads a row comes after all that is read.
    pub(super) fn moved_tokens(&mut self) -> Tokens {
        let g = &mut self.graph;
        let axis = g.ints(&[1], &[1]);
        let (zero, one) = (g.ints(&[0], &[]), g.ints(&[1], &[]));
        let real = g.cast("attention_mask", data_type::BOOL);
        let mask = g.cast(&real, data_type::INT64);
        let count = g.op("ReduceSum", &[&mask, &axis], &[("keepdims", Attribute::Int(1))]);
        let real_rank = g.op("CumSum", &[&mask, &one], &[]);
        let padding = g.op("Sub", &[&one, &mask], &[]);
        let padding_rank = g.op("CumSum", &[&padding, &one], &[]);
        let behind = g.op("Add", &[&count, &padding_rank], &[]);
        let rank = g.op("Where", &[&real, &real_rank, &behind], &[]);
        let moved_to = g.op("Sub", &[&rank, &one], &[]);
        let ids = g.op("ScatterElements", &["input_ids", &moved_to, "input_ids"], &[("axis", Attribute::Int(1))]);
        let before_end = g.op("Sub", &[&count, &one], &[]);
        let last = g.op("Max", &[&before_end, &zero], &[]);
        let shape = g.op("Shape", &["input_ids"], &[]);
        let length = g.op("Gather", &[&shape, &one], &[]);
        Tokens { ids, moved_to: Some(moved_to), last, shape, length }
    }

    /// Rows are padded on the right already. What pads a row is computed as if it were text, and nobody asks for it.
    pub(super) fn placed_tokens(&mut self) -> Tokens {
        let g = &mut self.graph;
        let (one, ones, first) = (g.ints(&[1], &[]), g.ints(&[1], &[1]), g.ints(&[0], &[1]));
        let shape = g.op("Shape", &["input_ids"], &[]);
        let length = g.op("Gather", &[&shape, &one], &[]);
        let batch = g.op("Gather", &[&shape, &first], &[]);
        let column = g.op("Concat", &[&batch, &ones], &[("axis", Attribute::Int(0))]);
        let last = g.op("Sub", &[&length, &one], &[]);
        let last = g.op("Expand", &[&last, &column], &[]);
        Tokens { ids: "input_ids".to_owned(), moved_to: None, last, shape, length }
    }
}
