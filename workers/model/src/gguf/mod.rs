//! Models in GGUF, the file format of llama.cpp, as ordinary base folders.
//!
//! - [`GgufFile`]: bounded reading of the header, a tensor at a time as `f32`
//! - [`import`]: `config.json`, `model.safetensors` and the tokenizer's files of the model in it
//!
//! Read are the architectures `llama`, `qwen2` and `qwen3` with a byte-level BPE tokenizer. Invariants: no file, whatever it
//! holds, makes the reader panic or allocate more than a small multiple of its own size; what would be computed otherwise than
//! llama.cpp does is refused.

mod config;
mod import;
mod names;
mod quant;
mod read;
mod tokenizer;
mod value;

pub use import::import;
pub use quant::Encoding;
pub use read::{GgufFile, TensorInfo};
pub use value::{Array, Value};
