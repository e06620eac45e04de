//! Where the weights of a checkpoint lie, for a graph that points at them instead of holding them.

use std::collections::BTreeMap;
use std::path::Path;

use super::proto::data_type;
use crate::arch;
use crate::config::ModelConfig;
use crate::error::ModelError;
use crate::safetensors::{Dtype, FILE, WeightsFile};

/// A tensor in `model.safetensors`.
#[derive(Debug, Clone)]
pub(super) struct External {
    pub(super) name: String,
    pub(super) dims: Vec<i64>,
    pub(super) data_type: i32,
    pub(super) file: String,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// Every tensor of the checkpoint by its key, each checked against the config.
pub(super) fn locate(dir: &Path, config: &ModelConfig) -> Result<BTreeMap<String, External>, ModelError> {
    let path = dir.join(FILE);
    let file = WeightsFile::open(&path)?;
    let mut found = BTreeMap::new();
    for spec in arch::tensors(config) {
        let Some(info) = file.info(&spec.name) else {
            return Err(ModelError::weights(&path, format!("tensor {} is missing", spec.name)));
        };
        let data_type = match info.dtype {
            Some(Dtype::F32) => data_type::FLOAT,
            Some(Dtype::Bf16) => data_type::BFLOAT16,
            Some(Dtype::F16) => data_type::FLOAT16,
            None => return Err(ModelError::weights(&path, format!("tensor {} is of an unsupported type", spec.name))),
        };
        if info.shape != spec.shape {
            let detail = format!("tensor {} has shape {:?}, the config says {:?}", spec.name, info.shape, spec.shape);
            return Err(ModelError::weights(&path, detail));
        }
        let external = External {
            name: spec.name.clone(),
            dims: spec.shape.iter().map(|d| *d as i64).collect(),
            data_type,
            file: FILE.to_owned(),
            offset: info.offset,
            length: info.length,
        };
        found.insert(spec.name, external);
    }
    Ok(found)
}
