//! A graph under construction: nodes and constants, with names made as they come.

use super::proto::{
    AttributeProto, GraphProto, NodeProto, StringStringEntryProto, TensorProto, ValueInfoProto, attribute_type,
    data_type,
};
use super::weights::External;

/// The operator set of ONNX Runtime's own operators.
pub(super) const MICROSOFT: &str = "com.microsoft";

/// The name of a value in the graph.
pub(super) type Value = String;

/// A constant of a node.
pub(super) enum Attribute {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// Integers.
    Ints(Vec<i64>),
}

/// Nodes and constants so far. A value is used by the name that its maker returned, so nodes stand in topological order.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
}

impl Graph {
    /// Adds an operation of ONNX's own set and returns its output.
    pub(super) fn op(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> Value {
        self.node("", op, inputs, attributes, 1).swap_remove(0)
    }

    /// Adds an operation of ONNX Runtime's own set and returns its output.
    pub(super) fn contrib(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> Value {
        self.node(MICROSOFT, op, inputs, attributes, 1).swap_remove(0)
    }

    /// Adds an operation with several outputs.
    pub(super) fn node(
        &mut self,
        domain: &str,
        op: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute)],
        outputs: usize,
    ) -> Vec<Value> {
        let name = format!("{op}_{}", self.nodes.len());
        let output: Vec<Value> = (0..outputs).map(|index| format!("{name}:{index}")).collect();
        self.nodes.push(NodeProto {
            input: inputs.iter().map(|input| (*input).to_owned()).collect(),
            output: output.clone(),
            name,
            op_type: op.to_owned(),
            attribute: attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
            domain: domain.to_owned(),
        });
        output
    }

    /// Converts a value to an element type of [`data_type`].
    pub(super) fn cast(&mut self, value: &str, to: i32) -> Value {
        self.op("Cast", &[value], &[("to", Attribute::Int(i64::from(to)))])
    }

    /// A constant of integers; a scalar when `dims` is empty.
    pub(super) fn ints(&mut self, values: &[i64], dims: &[i64]) -> Value {
        let raw = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(data_type::INT64, raw, dims)
    }

    /// A constant of floats; a scalar when `dims` is empty.
    pub(super) fn floats(&mut self, values: &[f32], dims: &[i64]) -> Value {
        let raw = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(data_type::FLOAT, raw, dims)
    }

    /// A constant of 8 bits without sign, a scalar.
    pub(super) fn byte(&mut self, value: u8) -> Value {
        self.constant(data_type::UINT8, vec![value], &[])
    }

    fn constant(&mut self, data_type: i32, raw: Vec<u8>, dims: &[i64]) -> Value {
        let name = format!("constant_{}", self.constants.len());
        self.constants.push(TensorProto {
            dims: dims.to_vec(),
            data_type,
            name: name.clone(),
            raw_data: Some(raw),
            ..TensorProto::default()
        });
        name
    }

    /// A weight that stays where it lies, as `f32`.
    pub(super) fn weight(&mut self, weight: &External) -> Value {
        let stored = self.stored_weight(weight);
        if weight.data_type == data_type::FLOAT { stored } else { self.cast(&stored, data_type::FLOAT) }
    }

    /// A weight that stays where it lies, in the type it is stored in.
    pub(super) fn stored_weight(&mut self, weight: &External) -> Value {
        let entry = |key: &str, value: String| StringStringEntryProto { key: key.to_owned(), value };
        self.constants.push(TensorProto {
            dims: weight.dims.clone(),
            data_type: weight.data_type,
            name: weight.name.clone(),
            external_data: vec![
                entry("location", weight.file.clone()),
                entry("offset", weight.offset.to_string()),
                entry("length", weight.length.to_string()),
            ],
            data_location: Some(1),
            ..TensorProto::default()
        });
        weight.name.clone()
    }

    /// Gives a value the name under which the graph returns it.
    pub(super) fn output(&mut self, value: &str, name: &str) {
        self.nodes.push(NodeProto {
            input: vec![value.to_owned()],
            output: vec![name.to_owned()],
            name: format!("output_{name}"),
            op_type: "Identity".to_owned(),
            ..NodeProto::default()
        });
    }

    /// The finished graph.
    pub(super) fn finish(self, input: Vec<ValueInfoProto>, output: Vec<ValueInfoProto>) -> GraphProto {
        GraphProto { node: self.nodes, name: "reward_model".to_owned(), initializer: self.constants, input, output }
    }
}

fn attribute(name: &str, value: &Attribute) -> AttributeProto {
    let mut proto = AttributeProto { name: name.to_owned(), ..AttributeProto::default() };
    match value {
        Attribute::Int(i) => (proto.i, proto.r#type) = (Some(*i), attribute_type::INT),
        Attribute::Float(f) => (proto.f, proto.r#type) = (Some(*f), attribute_type::FLOAT),
        Attribute::Ints(ints) => (proto.ints, proto.r#type) = (ints.clone(), attribute_type::INTS),
    }
    proto
}
