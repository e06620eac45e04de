//! The messages of the ONNX format that a graph here needs, written by hand for prost. Field numbers and meanings:
//! `onnx/onnx.proto` of ONNX 1.19 (IR version 11), <https://github.com/onnx/onnx>. Fields left out are never written.

use prost::Message;

/// A graph with what it needs to be run.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Who wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Version of the writer.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The graph.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// The operator sets the nodes are from.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
}

/// A version of a set of operators.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OperatorSetIdProto {
    /// Empty for ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes in topological order, constants, inputs and outputs.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Nodes.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the values read; empty for an optional input left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the values made.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name, for profiles and messages.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Operator set; empty for ONNX's own.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A named constant of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The value, when [`attribute_type::FLOAT`].
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// The value, when [`attribute_type::INT`].
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// The value, when [`attribute_type::INTS`].
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Which of the values is meant.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
}

/// Values of [`AttributeProto::type`].
pub mod attribute_type {
    /// A float.
    pub const FLOAT: i32 = 1;
    /// An integer.
    pub const INT: i32 = 2;
    /// Integers.
    pub const INTS: i32 = 7;
}

/// Values of [`TensorProto::data_type`].
pub mod data_type {
    /// `f32`.
    pub const FLOAT: i32 = 1;
    /// `u8`.
    pub const UINT8: i32 = 2;
    /// `i8`.
    pub const INT8: i32 = 3;
    /// `i32`.
    pub const INT32: i32 = 6;
    /// `i64`.
    pub const INT64: i32 = 7;
    /// `bool`.
    pub const BOOL: i32 = 9;
    /// IEEE half precision.
    pub const FLOAT16: i32 = 10;
    /// The upper half of an `f32`.
    pub const BFLOAT16: i32 = 16;
}

/// A constant tensor, in place or in another file.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Dimensions.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// One of [`data_type`].
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Little-endian values, when they are in place.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub raw_data: Option<Vec<u8>>,
    /// `location`, `offset` and `length`, when they are not.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 when the values are in another file.
    #[prost(int32, optional, tag = "14")]
    pub data_location: Option<i32>,
}

/// A key and its value.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct StringStringEntryProto {
    /// Key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A graph's input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// The type of a value; only tensors here.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Element type and shape.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// Element type and shape of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// One of [`data_type`].
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Shape.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Dimensions of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// Dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// A dimension that is known by a name alone.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct DimensionProto {
    /// The name.
    #[prost(string, tag = "2")]
    pub dim_param: String,
}
