//! A checkpoint as an ONNX graph, written without Python: `model.onnx` beside `model.safetensors`, whose bytes it points
//! at, so the file is small and no weight is stored twice.
//!
//! Inputs `input_ids` and `attention_mask`, both `int64 [batch, length]`. Outputs, `float32`:
//! - `score [batch]`: the score at the last token the mask names
//! - `scores [batch, length]`: the score at every token, as if the text ended there. Exact, since attention is causal:
//!   one pass over a trace gives the score of each action whose text is a prefix of it.
//!
//! Invariants:
//! - what a row scores depends only on the tokens its mask names, in order: positions count those tokens, so padding
//!   left, right or in between changes nothing, nor does the pad id;
//! - the graph has no length of its own.

mod attention;
mod graph;
mod layer;
pub mod proto;
mod weights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost::Message;

use self::attention::Rotary;
use self::graph::{Attribute, Graph, MICROSOFT, Value};
use self::proto::{
    DimensionProto, ModelProto, OperatorSetIdProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
    data_type,
};
use self::weights::External;
use crate::arch::{EMBEDDING, FINAL_NORM, SCORE};
use crate::config::ModelConfig;
use crate::error::ModelError;
use crate::files;

/// Name of the graph in a checkpoint.
pub const FILE: &str = "model.onnx";
/// Version of ONNX's operators: the first with `RMSNormalization`.
const OPSET: i64 = 23;
/// Version of the file format that came with it.
const IR_VERSION: i64 = 11;

/// Which operators compute attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// ONNX Runtime's `GroupQueryAttention`, which rotates as well: the fastest in fp32 on its CPU provider. It takes
    /// heads whose size is a multiple of [`GROUPED_HEAD_MULTIPLE`].
    Grouped,
    /// ONNX's own operators alone, for other runtimes and head sizes.
    Primitive,
}

/// What the head size must be a multiple of for [`Attention::Grouped`] (`head_size shall be a multiple of 16`,
/// onnxruntime `group_query_attention_helper.h`).
pub const GROUPED_HEAD_MULTIPLE: usize = 16;

impl Attention {
    /// The faster of the two that can run a model.
    pub fn best_for(config: &ModelConfig) -> Self {
        if config.head_dim.is_multiple_of(GROUPED_HEAD_MULTIPLE) { Self::Grouped } else { Self::Primitive }
    }
}

/// Writes `model.onnx` for the checkpoint in `dir`, to be run by ONNX Runtime, and returns its path.
///
/// # Errors
/// When the checkpoint is incomplete, or the file cannot be written.
pub fn export(dir: &Path) -> Result<PathBuf, ModelError> {
    let attention = Attention::best_for(&ModelConfig::read(dir)?);
    export_with(dir, attention)
}

/// Writes `model.onnx` with the given operators for attention.
///
/// # Errors
/// As [`export`].
pub fn export_with(dir: &Path, attention: Attention) -> Result<PathBuf, ModelError> {
    let config = ModelConfig::read(dir)?;
    let weights = weights::locate(dir, &config)?;
    let model = Builder { config: &config, weights: &weights, attention, graph: Graph::default() }.build()?;
    let path = dir.join(FILE);
    files::write(&path, &model.encode_to_vec())?;
    Ok(path)
}

struct Builder<'a> {
    config: &'a ModelConfig,
    weights: &'a BTreeMap<String, External>,
    attention: Attention,
    graph: Graph,
}

/// What the layers need to know about the tokens of a batch, all of them moved to the left of their row.
struct Tokens {
    /// Ids, `[batch, length]`.
    ids: Value,
    /// Where each input column went, `[batch, length]`.
    moved_to: Value,
    /// Index of the last real token, `[batch, 1]`.
    last: Value,
    /// `[batch, length]`, as a shape.
    shape: Value,
    /// The length, a scalar.
    length: Value,
}

impl Builder<'_> {
    fn build(mut self) -> Result<ModelProto, ModelError> {
        let tokens = self.tokens();
        let rotary = self.rotary(&tokens);
        let mut x = self.embed(&tokens)?;
        for layer in 0..self.config.layers {
            x = self.layer(layer, &x, &rotary)?;
        }
        self.scores(&x, &tokens)?;
        let input = ["input_ids", "attention_mask"].map(|name| info(name, data_type::INT64, &["batch", "length"]));
        let output =
            [info("score", data_type::FLOAT, &["batch"]), info("scores", data_type::FLOAT, &["batch", "length"])];
        let opset = |domain: &str, version| OperatorSetIdProto { domain: domain.to_owned(), version };
        let mut opset_import = vec![opset("", OPSET)];
        if self.attention == Attention::Grouped {
            opset_import.push(opset(MICROSOFT, 1));
        }
        Ok(ModelProto {
            ir_version: IR_VERSION,
            producer_name: "stash".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(self.graph.finish(input.to_vec(), output.to_vec())),
            opset_import,
        })
    }

    /// Moves each row's real tokens to its left, in order: causal attention then needs no padding mask, since what
    /// pads a row comes after all that is read.
    fn tokens(&mut self) -> Tokens {
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
        Tokens { ids, moved_to, last, shape, length }
    }

    fn rotary(&mut self, tokens: &Tokens) -> Rotary {
        let frequencies = self.config.rotary_frequencies();
        let g = &mut self.graph;
        let (zero, one) = (g.ints(&[0], &[]), g.ints(&[1], &[]));
        let positions = g.op("Range", &[&zero, &tokens.length, &one], &[]);
        let axis = g.ints(&[1], &[1]);
        let column = g.op("Unsqueeze", &[&positions, &axis], &[]);
        let column = g.cast(&column, data_type::FLOAT);
        let row = g.floats(&frequencies, &[1, frequencies.len() as i64]);
        let angles = g.op("Mul", &[&column, &row], &[]);
        let (cos, sin) = (g.op("Cos", &[&angles], &[]), g.op("Sin", &[&angles], &[]));
        self.attention_constants(tokens, positions, cos, sin)
    }

    /// The residual stream at its beginning, `[batch * length, hidden]`.
    fn embed(&mut self, tokens: &Tokens) -> Result<Value, ModelError> {
        let weight = self.located(EMBEDDING)?;
        let table = self.graph.stored_weight(&weight);
        let mut rows = self.graph.op("Gather", &[&table, &tokens.ids], &[]);
        if weight.data_type != data_type::FLOAT {
            // The rows are converted, not the table.
            rows = self.graph.cast(&rows, data_type::FLOAT);
        }
        Ok(self.reshape(&rows, &[-1, self.config.hidden_size as i64]))
    }

    fn scores(&mut self, x: &str, tokens: &Tokens) -> Result<(), ModelError> {
        let normed = self.norm(x, FINAL_NORM)?;
        let scores = self.linear(&normed, SCORE, None)?;
        let g = &mut self.graph;
        let scores = g.op("Reshape", &[&scores, &tokens.shape], &[]);
        let along = [("axis", Attribute::Int(1))];
        let every = g.op("GatherElements", &[&scores, &tokens.moved_to], &along);
        let last = g.op("GatherElements", &[&scores, &tokens.last], &along);
        let axis = g.ints(&[1], &[1]);
        let last = g.op("Squeeze", &[&last, &axis], &[]);
        g.output(&last, "score");
        g.output(&every, "scores");
        Ok(())
    }

    fn located(&self, key: &str) -> Result<External, ModelError> {
        let found = self.weights.get(key).cloned();
        found.ok_or_else(|| ModelError::Config(format!("the graph asks for {key}, which the config does not have")))
    }

    fn weight(&mut self, key: &str) -> Result<Value, ModelError> {
        let weight = self.located(key)?;
        Ok(self.graph.weight(&weight))
    }

    fn reshape(&mut self, x: &str, dims: &[i64]) -> Value {
        let dims = self.graph.ints(dims, &[dims.len() as i64]);
        self.graph.op("Reshape", &[x, &dims], &[])
    }

    /// x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
    fn norm(&mut self, x: &str, key: &str) -> Result<Value, ModelError> {
        let weight = self.weight(key)?;
        let epsilon = Attribute::Float(self.config.norm_eps as f32);
        Ok(self.graph.op("RMSNormalization", &[x, &weight], &[("axis", Attribute::Int(-1)), ("epsilon", epsilon)]))
    }

    /// x times the transpose of a weight `[out, in]`, plus a bias. `x` has two dimensions.
    fn linear(&mut self, x: &str, key: &str, bias: Option<&str>) -> Result<Value, ModelError> {
        let weight = self.weight(key)?;
        let bias = bias.map(|key| self.weight(key)).transpose()?;
        let inputs: Vec<&str> = [x, &weight].into_iter().chain(bias.as_deref()).collect();
        Ok(self.graph.op("Gemm", &inputs, &[("transB", Attribute::Int(1))]))
    }
}

fn info(name: &str, elem_type: i32, dims: &[&str]) -> ValueInfoProto {
    let dim = dims.iter().map(|dim| DimensionProto { dim_param: (*dim).to_owned() }).collect();
    let tensor = TensorTypeProto { elem_type, shape: Some(TensorShapeProto { dim }) };
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type: Some(tensor) }) }
}
