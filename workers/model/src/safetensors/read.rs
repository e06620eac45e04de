//! Reading weights, one tensor at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Dtype, FILE, HEADER_BYTES_MAX, INDEX_FILE};
use crate::error::ModelError;
use crate::files;

/// Most shard files of one model.
const SHARDS_MAX: usize = 256;

/// Where a tensor lies in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Stored type; `None` for a type that is not read here.
    pub dtype: Option<Dtype>,
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// First byte, from the beginning of the file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// The header of one open safetensors file.
#[derive(Debug)]
pub struct WeightsFile {
    path: PathBuf,
    file: File,
    tensors: BTreeMap<String, TensorInfo>,
}

#[derive(Deserialize)]
struct HeaderEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

impl WeightsFile {
    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// When the file cannot be read, or the header is too long, not JSON, or disagrees with the file's length.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let malformed = |detail: String| ModelError::weights(path, detail);
        let mut file = File::open(path).map_err(ModelError::io("read", path))?;
        let file_bytes = file.metadata().map_err(ModelError::io("read", path))?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(ModelError::io("read", path))?;
        let header_bytes = u64::from_le_bytes(length);
        if header_bytes > HEADER_BYTES_MAX || header_bytes + 8 > file_bytes {
            return Err(malformed(format!("header of {header_bytes} bytes in a file of {file_bytes}")));
        }
        let mut header = vec![0; header_bytes as usize];
        file.read_exact(&mut header).map_err(ModelError::io("read", path))?;
        let header: Map<String, Value> =
            serde_json::from_slice(&header).map_err(|e| malformed(format!("header is not a JSON object: {e}")))?;
        let data_start = header_bytes + 8;
        let mut tensors = BTreeMap::new();
        for (name, entry) in header {
            if name == "__metadata__" {
                continue;
            }
            let info = serde_json::from_value::<HeaderEntry>(entry)
                .map_err(|e| e.to_string())
                .and_then(|entry| tensor_info(&entry, data_start, file_bytes))
                .map_err(|detail| malformed(format!("tensor {name}: {detail}")))?;
            tensors.insert(name, info);
        }
        Ok(Self { path: path.to_path_buf(), file, tensors })
    }

    /// Where the tensor `name` lies, if the file has it.
    pub fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// Names of all tensors, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Where the tensor `name` lies, which must have exactly `shape`, and its type.
    ///
    /// # Errors
    /// When it is missing, of another shape or an unsupported type.
    pub fn require(&self, name: &str, shape: &[usize]) -> Result<(&TensorInfo, Dtype), ModelError> {
        let refuse = |detail: String| Err(ModelError::weights(&self.path, detail));
        let Some(info) = self.tensors.get(name) else {
            return refuse(format!("tensor {name} is missing"));
        };
        if info.shape != shape {
            return refuse(format!("tensor {name} has shape {:?}, the config says {shape:?}", info.shape));
        }
        let Some(dtype) = info.dtype else {
            return refuse(format!("tensor {name} is not stored as F32, BF16 or F16"));
        };
        Ok((info, dtype))
    }

    /// Reads the tensor `name`, which must have exactly `shape`, converted to `f32`, row-major.
    ///
    /// # Errors
    /// When it is missing, of another shape or an unsupported type, or the file cannot be read.
    pub fn read_f32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let (info, dtype) = self.require(name, shape)?;
        let (offset, mut bytes) = (info.offset, vec![0; info.length as usize]);
        self.file.seek(SeekFrom::Start(offset)).map_err(ModelError::io("read", &self.path))?;
        self.file.read_exact(&mut bytes).map_err(ModelError::io("read", &self.path))?;
        Ok(dtype.decode(&bytes))
    }
}

fn tensor_info(entry: &HeaderEntry, data_start: u64, file_bytes: u64) -> Result<TensorInfo, String> {
    let (begin, end) = entry.data_offsets;
    let dtype = Dtype::of(&entry.dtype);
    let length = end.checked_sub(begin).ok_or("ends before it begins")?;
    if data_start.checked_add(end).is_none_or(|last| last > file_bytes) {
        return Err(format!("ends at byte {end} of the data, beyond the file"));
    }
    let elements = entry.shape.iter().try_fold(1_u64, |n, d| n.checked_mul(*d)).ok_or("is too large")?;
    if dtype.is_some_and(|d| elements.checked_mul(d.size() as u64) != Some(length)) {
        return Err(format!("shape {:?} of {} does not take {length} bytes", entry.shape, entry.dtype));
    }
    let shape = entry.shape.iter().map(|d| *d as usize).collect();
    Ok(TensorInfo { dtype, shape, offset: data_start + begin, length })
}

/// The weights of a model folder: `model.safetensors`, or the shards its index names.
#[derive(Debug)]
pub struct Weights {
    dir: PathBuf,
    shards: Vec<WeightsFile>,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Weights {
    /// Opens the weights of a model folder.
    ///
    /// # Errors
    /// When neither `model.safetensors` nor its index is there, or a file is malformed.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let single = dir.join(FILE);
        if single.exists() {
            return Ok(Self { dir: dir.to_path_buf(), shards: vec![WeightsFile::open(&single)?] });
        }
        let index_path = dir.join(INDEX_FILE);
        let Some(index) = files::read_json_if_present::<Index>(&index_path)? else {
            return Err(ModelError::weights(dir, format!("neither {FILE} nor {INDEX_FILE} is there")));
        };
        let mut names: Vec<String> = index.weight_map.into_values().collect();
        names.sort();
        names.dedup();
        // A shard's name is a plain file name: an index must not reach outside the folder.
        if names.len() > SHARDS_MAX || names.iter().any(|name| name.contains(['/', '\\'])) {
            return Err(ModelError::weights(&index_path, "too many shards, or a shard outside the folder"));
        }
        let shards = names.iter().map(|name| WeightsFile::open(&dir.join(name))).collect::<Result<_, _>>()?;
        Ok(Self { dir: dir.to_path_buf(), shards })
    }

    /// Whether some file has the tensor.
    pub fn contains(&self, name: &str) -> bool {
        self.shards.iter().any(|shard| shard.info(name).is_some())
    }

    /// Looks at a tensor as [`WeightsFile::require`] does, under either name.
    ///
    /// # Errors
    /// As [`WeightsFile::require`].
    pub fn require(&self, name: &str, shape: &[usize]) -> Result<(), ModelError> {
        let (candidate, shard) = self.find(name)?;
        self.shards[shard].require(candidate, shape).map(|_| ())
    }

    /// Reads a tensor as [`WeightsFile::read_f32`] does. A bare decoder's files lack the `model.` prefix; it is then
    /// looked for without. What is not asked for (`lm_head.weight` of a language model) is never read.
    ///
    /// # Errors
    /// As [`WeightsFile::read_f32`].
    pub fn read_f32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let (candidate, shard) = self.find(name)?;
        self.shards[shard].read_f32(candidate, shape)
    }

    /// The name under which a tensor is stored, and the shard that has it.
    fn find<'a>(&self, name: &'a str) -> Result<(&'a str, usize), ModelError> {
        let bare = name.strip_prefix("model.").unwrap_or(name);
        [name, bare]
            .into_iter()
            .find_map(|name| Some((name, self.shards.iter().position(|shard| shard.info(name).is_some())?)))
            .ok_or_else(|| ModelError::weights(&self.dir, format!("tensor {name} is missing")))
    }
}
