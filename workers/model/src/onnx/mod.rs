//! A checkpoint as an ONNX graph, written without Python: `model.onnx` beside `model.safetensors`, whose bytes it points
//! at, so the file is small and no weight is stored twice.
//!
//! Inputs `input_ids` and `attention_mask`, both `int64 [batch, length]`. Outputs, `float32`:
//! - `score [batch]`: the score at the last token the mask names
//! - `scores [batch, length]`: the score at every token, as if the text ended there. Exact, since attention is causal:
//!   one pass over a trace gives the score of each action whose text is a prefix of it.
//!
//! [`engine_graph`] is a second graph of the same model for Stash's own scoring: inputs `input_ids`, rows padded on the
//! right, and `positions`, indices into the rows laid one after another; output `scores`, one for each position. It
//! computes no more of the last layer than the positions need, and has no operator that only padding on other sides asks for.
//!
//! Invariants:
//! - what a row scores depends only on the tokens its mask names, in order: positions count those tokens, so padding
//!   left, right or in between changes nothing, nor does the pad id;
//! - the graph has no length of its own.

mod attention;
mod graph;
mod int8;
mod layer;
pub mod proto;
mod tokens;
mod weights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost::Message;

use self::attention::Rotary;
use self::graph::{Attribute, Graph, MICROSOFT, Value};
use self::int8::Int8;
use self::proto::{
    DimensionProto, ModelProto, OperatorSetIdProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
    data_type,
};
use self::tokens::Tokens;
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
    /// ONNX's own operators alone, for other runtimes and head sizes, in the patterns that OpenVINO fuses. Norms too are
    /// spelled out: its execution provider takes no `RMSNormalization`, and would be left with a piece of the graph
    /// between each two.
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
    let path = dir.join(FILE);
    let config = ModelConfig::read(dir)?;
    files::write(&path, &graph(dir, &config, attention, Interface::Texts, None)?)?;
    Ok(path)
}

/// The engine's graph with the given operators for attention, as the bytes of a file that must lie in `dir` to be opened.
///
/// # Errors
/// When the checkpoint is incomplete.
pub fn engine_graph(dir: &Path, attention: Attention) -> Result<Vec<u8>, ModelError> {
    let config = ModelConfig::read(dir)?;
    graph(dir, &config, attention, Interface::Positions, None)
}

/// As [`engine_graph`], its projections in 8-bit integers: their weights are written into a new file `weights` in `dir`, which the
/// graph points at.
///
/// # Errors
/// When the checkpoint is incomplete, or the file cannot be written.
pub fn int8_engine_graph(dir: &Path, attention: Attention, weights: &str) -> Result<Vec<u8>, ModelError> {
    let config = ModelConfig::read(dir)?;
    let int8 = Int8::write(dir, &config, weights)?;
    graph(dir, &config, attention, Interface::Positions, Some(int8))
}

fn graph(
    dir: &Path,
    config: &ModelConfig,
    attention: Attention,
    interface: Interface,
    int8: Option<Int8>,
) -> Result<Vec<u8>, ModelError> {
    let weights = weights::locate(dir, config)?;
    let builder = Builder { config, weights: &weights, attention, interface, int8, graph: Graph::default() };
    Ok(builder.build()?.encode_to_vec())
}

/// What goes into a graph and what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    /// `input_ids` and `attention_mask` to `score` and `scores`.
    Texts,
    /// `input_ids` and `positions` to `scores`.
    Positions,
}

struct Builder<'a> {
    config: &'a ModelConfig,
    weights: &'a BTreeMap<String, External>,
    attention: Attention,
    interface: Interface,
    /// Weights in 8 bits, where those are to be used.
    int8: Option<Int8>,
    graph: Graph,
}

impl Builder<'_> {
    fn build(mut self) -> Result<ModelProto, ModelError> {
        let tokens = match self.interface {
            Interface::Texts => self.moved_tokens(),
            Interface::Positions => self.placed_tokens(),
        };
        let rotary = self.rotary(&tokens);
        let mut x = self.embed(&tokens)?;
        for layer in 0..self.config.layers {
            let is_last = layer + 1 == self.config.layers;
            let only = (is_last && self.interface == Interface::Positions).then_some("positions");
            x = self.layer(layer, &x, &rotary, &tokens, only)?;
        }
        self.scores(&x, &tokens)?;
        let rows = ["batch", "length"];
        let ids = info("input_ids", data_type::INT64, &rows);
        let (input, output) = match self.interface {
            Interface::Texts => (
                [ids, info("attention_mask", data_type::INT64, &rows)],
                vec![info("score", data_type::FLOAT, &["batch"]), info("scores", data_type::FLOAT, &rows)],
            ),
            Interface::Positions => (
                [ids, info("positions", data_type::INT64, &["count"])],
                vec![info("scores", data_type::FLOAT, &["count"])],
            ),
        };
        let opset = |domain: &str, version| OperatorSetIdProto { domain: domain.to_owned(), version };
        let mut opset_import = vec![opset("", OPSET)];
        if self.attention == Attention::Grouped {
            opset_import.push(opset(MICROSOFT, 1));
        }
        Ok(ModelProto {
            ir_version: IR_VERSION,
            producer_name: "stash".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(self.graph.finish(input.to_vec(), output)),
            opset_import,
        })
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

    /// The residual stream at its beginning, `[batch * length, hidden]`; in the primitive form `[batch, length, hidden]`.
    fn embed(&mut self, tokens: &Tokens) -> Result<Value, ModelError> {
        let weight = self.located(EMBEDDING)?;
        let table = self.graph.stored_weight(&weight);
        let mut rows = self.graph.op("Gather", &[&table, &tokens.ids], &[]);
        if weight.data_type != data_type::FLOAT {
            // The rows are converted, not the table.
            rows = self.graph.cast(&rows, data_type::FLOAT);
        }
        match self.attention {
            Attention::Grouped => Ok(self.reshape(&rows, &[-1, self.config.hidden_size as i64])),
            Attention::Primitive => Ok(rows),
        }
    }

    fn scores(&mut self, x: &str, tokens: &Tokens) -> Result<(), ModelError> {
        let normed = self.norm(x, FINAL_NORM)?;
        let scores = self.head(&normed)?;
        let g = &mut self.graph;
        let axis = g.ints(&[1], &[1]);
        let Some(moved_to) = &tokens.moved_to else {
            let scores = g.op("Squeeze", &[&scores, &axis], &[]);
            g.output(&scores, "scores");
            return Ok(());
        };
        let scores = g.op("Reshape", &[&scores, &tokens.shape], &[]);
        let along = [("axis", Attribute::Int(1))];
        let every = g.op("GatherElements", &[&scores, moved_to], &along);
        let last = g.op("GatherElements", &[&scores, &tokens.last], &along);
        let last = g.op("Squeeze", &[&last, &axis], &[]);
        g.output(&last, "score");
        g.output(&every, "scores");
        Ok(())
    }

    /// The scores of rows, `[rows, 1]`.
    ///
    /// In the primitive form by elements, not as a product: OpenVINO in bf16 keeps in fp32 what no product stands behind, and
    /// without one here that is the whole residual stream. Scores then differ by 0.2 % of their deviation rather than 3 %.
    fn head(&mut self, x: &str) -> Result<Value, ModelError> {
        if self.attention == Attention::Grouped {
            return self.linear(x, SCORE, None);
        }
        let weight = self.weight(SCORE)?;
        let axis = self.graph.ints(&[-1], &[1]);
        let weighed = self.graph.op("Mul", &[x, &weight], &[]);
        let sums = self.graph.op("ReduceSum", &[&weighed, &axis], &[("keepdims", Attribute::Int(0))]);
        Ok(self.reshape(&sums, &[-1, 1]))
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
        if self.attention == Attention::Primitive {
            return Ok(self.spelled_norm(x, &weight));
        }
        let epsilon = Attribute::Float(self.config.norm_eps as f32);
        Ok(self.graph.op("RMSNormalization", &[x, &weight], &[("axis", Attribute::Int(-1)), ("epsilon", epsilon)]))
    }

    fn spelled_norm(&mut self, x: &str, weight: &str) -> Value {
        let epsilon = self.config.norm_eps as f32;
        let g = &mut self.graph;
        let (two, one, epsilon) = (g.floats(&[2.0], &[]), g.floats(&[1.0], &[]), g.floats(&[epsilon], &[]));
        let axis = g.ints(&[-1], &[1]);
        let squared = g.op("Pow", &[x, &two], &[]);
        let mean = g.op("ReduceMean", &[&squared, &axis], &[("keepdims", Attribute::Int(1))]);
        let mean = g.op("Add", &[&mean, &epsilon], &[]);
        let root = g.op("Sqrt", &[&mean], &[]);
        let inverse = g.op("Div", &[&one, &root], &[]);
        let normed = g.op("Mul", &[x, &inverse], &[]);
        g.op("Mul", &[&normed, weight], &[])
    }

    /// x times the transpose of a weight `[out, in]`, plus a bias. `x` has two dimensions.
    fn linear(&mut self, x: &str, key: &str, bias: Option<&str>) -> Result<Value, ModelError> {
        if let Some(product) = self.int8_product(x, key, bias)? {
            return Ok(product);
        }
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
