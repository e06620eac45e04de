//! Products in 8-bit integers: weights are rounded once for each output, what they are multiplied with for each row when it is
//! known, and sums are exact.
//!
//! Invariant: a row's product depends on that row alone, as in the other forms. ONNX Runtime's `DynamicQuantizeMatMul` rounds all
//! rows of a batch by one scale instead, so that a text's score would depend on what else is in its batch, and the score of a
//! beginning on what follows; so rounding is spelled out here.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::Builder;
use super::graph::{Attribute, Graph, Value};
use super::proto::data_type;
use super::weights::External;
use crate::arch::{self, Role};
use crate::config::ModelConfig;
use crate::error::ModelError;
use crate::safetensors::{FILE, WeightsFile};

/// Largest rounded value: -127 to 127, so that a value and its opposite are rounded alike.
const STEPS: f32 = 127.0;

/// What stands for 0 in the rounded rows. They are unsigned and the weights signed: for unsigned weights ONNX Runtime does not use
/// a processor's matrix unit (0.3 against 2 operations a picosecond).
const MIDDLE: u8 = 128;

/// Smallest scale, for a row or an output of zeros.
const SCALE_MIN: f32 = 1e-30;

/// A weight in 8 bits.
pub(super) struct Int8Weight {
    /// The rounded values, `[in, out]`.
    values: External,
    /// What a rounded value of each output stands for.
    scales: Vec<f32>,
}

/// Weights in 8 bits, and rows that are rounded already: some are multiplied with several weights.
pub(super) struct Int8 {
    weights: BTreeMap<String, Int8Weight>,
    rounded: HashMap<Value, (Value, Value)>,
}

impl Int8 {
    /// Rounds the weights of all projections of a checkpoint into a new file `name` beside them, one in memory at a time.
    pub(super) fn write(dir: &Path, config: &ModelConfig, name: &str) -> Result<Self, ModelError> {
        let mut source = WeightsFile::open(&dir.join(FILE))?;
        let path = dir.join(name);
        let mut file = BufWriter::new(File::create(&path).map_err(ModelError::io("create", &path))?);
        let (mut weights, mut offset) = (BTreeMap::new(), 0);
        for spec in arch::tensors(config).into_iter().filter(|spec| spec.role == Role::Linear) {
            let [outputs, inputs] = spec.shape[..] else { continue };
            let weight = source.read_f32(&spec.name, &spec.shape)?;
            // Rounded, what is no number would be one.
            if !weight.iter().all(|value| value.is_finite()) {
                let detail = format!("tensor {} has values that are no finite numbers", spec.name);
                return Err(ModelError::weights(&dir.join(FILE), detail));
            }
            let (values, scales) = round(&weight, outputs, inputs);
            file.write_all(&values).map_err(ModelError::io("write", &path))?;
            let length = values.len() as u64;
            let values = External {
                name: spec.name.clone(),
                dims: vec![inputs as i64, outputs as i64],
                data_type: data_type::INT8,
                file: name.to_owned(),
                offset,
                length,
            };
            offset += length;
            weights.insert(spec.name, Int8Weight { values, scales });
        }
        file.flush().map_err(ModelError::io("write", &path))?;
        Ok(Self { weights, rounded: HashMap::new() })
    }
}

/// A weight `[outputs, inputs]` rounded for each output, laid out as `[inputs, outputs]`, and the scales.
fn round(weight: &[f32], outputs: usize, inputs: usize) -> (Vec<u8>, Vec<f32>) {
    let mut values = vec![0_u8; weight.len()];
    let mut scales = Vec::with_capacity(outputs);
    for (output, row) in weight.chunks_exact(inputs.max(1)).enumerate() {
        let scale = (row.iter().fold(0.0_f32, |most, value| most.max(value.abs())) / STEPS).max(SCALE_MIN);
        scales.push(scale);
        for (input, value) in row.iter().enumerate() {
            // Within -127 to 127 by the choice of the scale.
            let rounded = (value / scale).round_ties_even() as i8;
            values[input * outputs + output] = rounded.cast_unsigned();
        }
    }
    (values, scales)
}

impl Builder<'_> {
    /// x times the transpose of the weight of a projection, plus a bias, in 8 bits; none if the weight is not there in 8 bits.
    pub(super) fn int8_product(&mut self, x: &str, key: &str, bias: Option<&str>) -> Result<Option<Value>, ModelError> {
        let Some(int8) = &mut self.int8 else { return Ok(None) };
        let Some(weight) = int8.weights.get(key) else { return Ok(None) };
        let g = &mut self.graph;
        let (rows, row_scales) = int8.rounded.entry(x.to_owned()).or_insert_with(|| round_rows(g, x)).clone();
        let values = g.stored_weight(&weight.values);
        let scales = g.floats(&weight.scales, &[weight.scales.len() as i64]);
        let middle = g.byte(MIDDLE);
        let sums = g.op("MatMulInteger", &[&rows, &values, &middle], &[]);
        let sums = g.cast(&sums, data_type::FLOAT);
        let product = g.op("Mul", &[&sums, &scales], &[]);
        let product = g.op("Mul", &[&product, &row_scales], &[]);
        let Some(bias) = bias else { return Ok(Some(product)) };
        let bias = self.weight(bias)?;
        Ok(Some(self.graph.op("Add", &[&product, &bias], &[])))
    }
}

/// The rows of x in 8 bits, and what a step of each row stands for.
fn round_rows(g: &mut Graph, x: &str) -> (Value, Value) {
    let (axis, step, least) = (g.ints(&[-1], &[1]), g.floats(&[1.0 / STEPS], &[]), g.floats(&[SCALE_MIN], &[]));
    let middle = g.floats(&[f32::from(MIDDLE)], &[]);
    let sizes = g.op("Abs", &[x], &[]);
    let most = g.op("ReduceMax", &[&sizes, &axis], &[("keepdims", Attribute::Int(1))]);
    let scales = g.op("Mul", &[&most, &step], &[]);
    let scales = g.op("Max", &[&scales, &least], &[]);
    let steps = g.op("Div", &[x, &scales], &[]);
    let steps = g.op("Round", &[&steps], &[]);
    let steps = g.op("Add", &[&steps, &middle], &[]);
    (g.cast(&steps, data_type::UINT8), scales)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_weight_stands_for_the_weight() {
        let weight = [1.0, -0.5, 0.25, 0.0, 0.0, 0.0, -3.0, 3.0, 0.01];
        let (values, scales) = round(&weight, 3, 3);
        for (place, expected) in weight.iter().enumerate() {
            let (output, input) = (place / 3, place % 3);
            let found = f32::from(values[input * 3 + output].cast_signed()) * scales[output];
            assert!((found - expected).abs() <= scales[output] / 2.0, "{place}: {found} for {expected}");
        }
    }

    #[test]
    fn weights_that_are_no_numbers_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        crate::parity::make(dir.path(), crate::tiny_base::Kind::Qwen3).unwrap();
        let path = dir.path().join(FILE);
        let name = arch::layer_key(0, "mlp.up_proj.weight");
        let at = WeightsFile::open(&path).unwrap().info(&name).unwrap().offset as usize;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[at..at + 4].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let refused = crate::onnx::int8_engine_graph(dir.path(), crate::onnx::Attention::Grouped, "int8").unwrap_err();
        assert!(refused.to_string().contains(&name), "{refused}");
    }
}
