//! Weights in safetensors files (<https://github.com/huggingface/safetensors>: eight bytes of header length, a JSON
//! header, then the tensors back to back).
//!
//! - [`read`]: one file, or a folder whose index spreads a model over shards; a tensor at a time, as `f32`
//! - [`write`]: one file, in name order, header padded so that data begins at a multiple of 64 bytes
//!
//! Bounds: [`HEADER_BYTES_MAX`]; a tensor's bytes are checked against its shape and the file's length before they are
//! read, so a malformed header cannot make the reader allocate more than the file holds.

mod dtype;
mod read;
mod write;

pub use dtype::Dtype;
pub use read::{TensorInfo, Weights, WeightsFile};
pub use write::Writer;

/// Largest header accepted; the format's own limit is 100 MB, real ones have under 1 MB.
pub const HEADER_BYTES_MAX: u64 = 16 << 20;
/// Where the data of a written file begins: a multiple of this, as mapped readers like it.
pub const DATA_ALIGN: usize = 64;
/// The usual name of an unsharded weight file.
pub const FILE: &str = "model.safetensors";
/// The usual name of the index of a sharded model.
pub const INDEX_FILE: &str = "model.safetensors.index.json";
