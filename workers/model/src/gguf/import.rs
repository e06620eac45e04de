//! A GGUF file to a base folder.

use std::collections::BTreeSet;
use std::path::Path;

use super::names::{self, HEAD};
use super::quant::Encoding;
use super::read::GgufFile;
use super::{config, tokenizer};
use crate::arch::{self, SCORE};
use crate::config::{FILE as CONFIG_FILE, Family, ModelConfig};
use crate::error::ModelError;
use crate::files;
use crate::safetensors::{self, Dtype, Writer};
use serde_json::json;

/// A tensor to be written.
struct Planned {
    /// Key in `model.safetensors`.
    name: String,
    /// Name in the file.
    source: String,
    shape: Vec<usize>,
}

/// Writes the model of a GGUF file into a folder, which must be there: `config.json`, `model.safetensors`, `tokenizer.json`
/// and `tokenizer_config.json`. `progress` is told the share of the numbers written, 0 to 1.
///
/// Weights are stored as BF16 if that loses nothing, else as F32: quantised values are the products of halves and need more.
///
/// # Errors
/// When the file is malformed, holds another kind of model, or lacks a tensor; or when the folder cannot be written to.
pub fn import(path: &Path, dir: &Path, mut progress: impl FnMut(f64)) -> Result<(), ModelError> {
    let mut file = GgufFile::open(path)?;
    let mut config = config::make(&file)?;
    let plan = plan(&file, &config)?;
    let dtype = dtype(&mut file, &plan)?;
    config.raw.insert("torch_dtype".to_owned(), json!(dtype.torch_name()));
    files::write_json(&dir.join(CONFIG_FILE), &config.raw)?;
    tokenizer::write(&file, dir, config.max_positions)?;

    let shapes: Vec<_> = plan.iter().map(|planned| (planned.name.clone(), planned.shape.clone())).collect();
    let elements = |planned: &Planned| planned.shape.iter().product::<usize>();
    let (total, mut done) = (plan.iter().map(elements).sum::<usize>(), 0);
    let mut writer = Writer::create(&dir.join(safetensors::FILE), dtype, &shapes)?;
    while let Some(planned) = writer.next_name().and_then(|name| plan.iter().find(|planned| planned.name == name)) {
        let mut values = file.read_f32(&planned.source)?;
        if config.family == Family::Llama && names::is_interleaved(&planned.name) {
            let rows = planned.shape.first().copied().unwrap_or_default();
            values = names::deinterleave(&values, rows, config.head_dim);
        }
        if let Some(strange) = values.iter().find(|value| !value.is_finite()) {
            return Err(file.error(format!("tensor {} holds {strange}", planned.source)));
        }
        writer.tensor(&planned.name, &values)?;
        done += elements(planned);
        progress(done as f64 / total.max(1) as f64);
    }
    writer.finish()
}

/// Every tensor that the config asks for, each with the shape it must have; and no tensor of the file is left over, since one
/// that is not computed would change what the model says.
fn plan(file: &GgufFile, config: &ModelConfig) -> Result<Vec<Planned>, ModelError> {
    let mut specs: Vec<_> = arch::tensors(config).into_iter().map(|spec| (spec.name, spec.shape)).collect();
    specs.retain(|(name, _)| name != SCORE);
    specs.push((HEAD.to_owned(), vec![config.vocab_size, config.hidden_size]));
    let mut left: BTreeSet<&str> = file.tensors().map(|(name, _)| name).collect();
    let mut plan = Vec::with_capacity(specs.len());
    for (name, shape) in specs {
        let Some(source) = names::in_gguf(&name) else { continue };
        let Some(info) = file.info(&source) else {
            if name == HEAD {
                continue;
            }
            return Err(file.error(format!("the tensor {source} is missing")));
        };
        if info.shape != shape {
            let found = &info.shape;
            return Err(file.error(format!("tensor {source} has shape {found:?}, the metadata says {shape:?}")));
        }
        left.remove(source.as_str());
        plan.push(Planned { name, source, shape });
    }
    match left.first() {
        Some(name) => Err(file.error(format!("the tensor {name} belongs to no model that is computed here"))),
        None => Ok(plan),
    }
}

/// BF16 when every matrix is stored so and what is stored as F32 (norms and biases) loses nothing by it.
fn dtype(file: &mut GgufFile, plan: &[Planned]) -> Result<Dtype, ModelError> {
    for planned in plan {
        match file.info(&planned.source).map(|info| (info.encoding, info.shape.len())) {
            Some((Encoding::Bf16, _)) => {}
            Some((Encoding::F32, 1)) => {
                let values = file.read_f32(&planned.source)?;
                if values.iter().any(|value| value.to_bits() & 0xffff != 0) {
                    return Ok(Dtype::F32);
                }
            }
            _ => return Ok(Dtype::F32),
        }
    }
    Ok(Dtype::Bf16)
}
