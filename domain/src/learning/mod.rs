//! From what people said about actions to pairs that a model is trained on.

pub mod frame;
