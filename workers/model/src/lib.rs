//! What training and scoring share about a reward model, without any runtime: this crate links neither libtorch nor
//! ONNX Runtime.
//!
//! - [`config`]: `config.json` of the supported families, read and written
//! - [`base`]: whether a folder can serve as a base
//! - [`arch`]: the tensors a model of that config has, by their Hugging Face names
//! - [`safetensors`]: bounded reading and atomic writing of weights
//! - [`gguf`]: models of llama.cpp as ordinary base folders
//! - [`tokenize`]: a rendered text to token ids, and the cut at the token limit
//! - [`manifest`]: what a checkpoint says about its own making
//! - [`onnx`]: the graph ONNX Runtime serves, its weights left in `model.safetensors`
//! - [`tiny_base`]: a small base model made from a seed
//! - [`parity`]: the models and sequences on which training, serving and transformers are compared
//!
//! Invariants: a checkpoint directory is complete or absent (files are written beside their place and renamed), and
//! equal inputs with an equal seed give equal bytes.

pub mod arch;
pub mod base;
pub mod checksum;
pub mod config;
pub mod error;
pub mod files;
pub mod gguf;
pub mod manifest;
pub mod onnx;
pub mod parity;
pub mod rng;
pub mod safetensors;
pub mod tiny_base;
pub mod tokenize;

pub use error::ModelError;
