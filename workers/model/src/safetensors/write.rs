//! Writing weights: names and shapes first, then the tensors one at a time, so that a model is never held twice.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, json};

use super::{DATA_ALIGN, Dtype};
use crate::error::ModelError;
use crate::files::part_path;

/// Bytes of the write buffer.
const BUFFER_BYTES: usize = 1 << 20;

/// A safetensors file being written beside its place. Dropped before [`Writer::finish`], it leaves nothing there.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
    dtype: Dtype,
    /// Name and elements of the tensors still to come, last first.
    pending: Vec<(String, usize)>,
}

impl Writer {
    /// Writes the header for `tensors` (name and shape), all stored as `dtype`. They are laid out in order of name.
    ///
    /// # Errors
    /// When the file cannot be written, or `dtype` is F16.
    pub fn create(path: &Path, dtype: Dtype, tensors: &[(String, Vec<usize>)]) -> Result<Self, ModelError> {
        if dtype == Dtype::F16 {
            return Err(ModelError::weights(path, "weights are written as F32 or BF16"));
        }
        let mut sorted: Vec<_> = tensors.iter().collect();
        sorted.sort();
        let mut header = Map::new();
        // `format` tells transformers that the tensors are laid out as PyTorch has them.
        header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
        let mut offset = 0;
        let mut pending = Vec::with_capacity(sorted.len());
        for (name, shape) in sorted {
            let elements: usize = shape.iter().product();
            let end = offset + elements * dtype.size();
            header.insert(name.clone(), json!({"dtype": dtype.name(), "shape": shape, "data_offsets": [offset, end]}));
            pending.push((name.clone(), elements));
            offset = end;
        }
        pending.reverse();
        let mut bytes =
            serde_json::to_vec(&header).map_err(|source| ModelError::Json { path: path.to_path_buf(), source })?;
        bytes.resize((bytes.len() + 8).next_multiple_of(DATA_ALIGN) - 8, b' ');
        let part = part_path(path);
        let file = File::create(&part).map_err(ModelError::io("write", &part))?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        out.write_all(&(bytes.len() as u64).to_le_bytes()).map_err(ModelError::io("write", &part))?;
        out.write_all(&bytes).map_err(ModelError::io("write", &part))?;
        Ok(Self { path: path.to_path_buf(), part, out, dtype, pending })
    }

    /// The name of the tensor to be written next, or `None` when all are written.
    pub fn next_name(&self) -> Option<&str> {
        self.pending.last().map(|(name, _)| name.as_str())
    }

    /// Writes the next tensor, which must be [`Writer::next_name`] and have as many values as its shape says.
    ///
    /// # Errors
    /// When it is another one, or the file cannot be written.
    pub fn tensor(&mut self, name: &str, values: &[f32]) -> Result<(), ModelError> {
        match self.pending.pop() {
            Some((expected, elements)) if expected == name && elements == values.len() => {}
            other => {
                let detail = format!("wrote {name} of {} values where {other:?} was due", values.len());
                return Err(ModelError::weights(&self.path, detail));
            }
        }
        let mut bytes = Vec::with_capacity(BUFFER_BYTES);
        for chunk in values.chunks(BUFFER_BYTES / 4) {
            bytes.clear();
            self.dtype.encode(chunk, &mut bytes);
            self.out.write_all(&bytes).map_err(ModelError::io("write", &self.part))?;
        }
        Ok(())
    }

    /// Syncs the file and moves it to its place.
    ///
    /// # Errors
    /// When a tensor is missing or the file cannot be written.
    pub fn finish(mut self) -> Result<(), ModelError> {
        if let Some(name) = self.next_name() {
            return Err(ModelError::weights(&self.path, format!("tensor {name} was never written")));
        }
        self.out.flush().map_err(ModelError::io("write", &self.part))?;
        self.out.get_ref().sync_all().map_err(ModelError::io("write", &self.part))?;
        fs::rename(&self.part, &self.path).map_err(ModelError::io("rename", &self.part))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Gone already after `finish`; a failure to remove leaves a `.part` file that the next write replaces.
        let _ = fs::remove_file(&self.part);
    }
}
