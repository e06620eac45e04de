//! The checkpoint: a folder that transformers opens, and that says how it was made.

use std::fs;
use std::path::Path;

use stash_model::manifest::{Manifest, RENDERING_VERSION, TruncationRule};
use stash_model::safetensors::{self, Dtype, Weights, Writer};
use stash_model::tokenize::{self, TextTokenizer};
use stash_model::{config, files};

use crate::error::TrainError;
use crate::job::Job;
use crate::model::{Learnt, Model, Named};

/// Name of the checkpoint's folder in a job directory.
pub const DIR: &str = "model";
/// Where it is written before it is renamed.
const PART_DIR: &str = "model.part";

/// Removes what an earlier attempt left, finished or not.
///
/// # Errors
/// When it cannot be removed.
pub fn clear(job_dir: &Path) -> Result<(), TrainError> {
    for name in [DIR, PART_DIR] {
        let dir = job_dir.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(TrainError::io("remove", &dir))?;
        }
    }
    Ok(())
}

/// Writes `model/` into a job directory, whole or not at all.
///
/// # Errors
/// When a file of the base cannot be read, or one of the checkpoint written.
pub fn write(
    job_dir: &Path,
    job: &Job,
    model: &Model,
    tokenizer: &TextTokenizer,
    base_checksum: String,
) -> Result<(), TrainError> {
    let part = job_dir.join(PART_DIR);
    fs::create_dir(&part).map_err(TrainError::io("create", &part))?;
    let json = model.config.to_reward_model_json(tokenizer.pad().id, Dtype::F32.torch_name());
    files::write_json(&part.join(config::FILE), &json)?;
    write_weights(&part, &job.base_model_dir, model)?;
    tokenize::write_files(&job.base_model_dir, &part, tokenizer.pad(), job.max_tokens)?;
    let manifest = Manifest {
        rendering_version: RENDERING_VERSION,
        form: tokenizer.form(),
        token_limit: job.max_tokens,
        truncation: TruncationRule::Strict,
        base_checksum,
        seed: job.seed,
        code_version: env!("CARGO_PKG_VERSION").to_owned(),
        precision: None,
    };
    manifest.write(&part)?;
    let whole = job_dir.join(DIR);
    fs::rename(&part, &whole).map_err(TrainError::io("rename", &part))
}

/// What was not trained is read from the base once more: it may be held in a shorter number type here.
fn write_weights(dir: &Path, base: &Path, model: &Model) -> Result<(), TrainError> {
    let shape = |weight: &Named| weight.tensor.size().iter().map(|d| *d as usize).collect::<Vec<_>>();
    let shapes: Vec<_> = model.weights().iter().map(|weight| (weight.name.clone(), shape(weight))).collect();
    let mut base = Weights::open(base)?;
    let mut writer = Writer::create(&dir.join(safetensors::FILE), Dtype::F32, &shapes)?;
    while let Some(name) = writer.next_name().map(str::to_owned) {
        let Some(weight) = model.weights().iter().find(|weight| weight.name == name) else { break };
        let values = match model.learnt(weight)? {
            Some(Learnt::Whole(values)) => values,
            Some(Learnt::Added(added)) => {
                let mut values = base.read_f32(&name, &shape(weight))?;
                values.iter_mut().zip(added).for_each(|(value, added)| *value += added);
                values
            }
            None => base.read_f32(&name, &shape(weight))?,
        };
        writer.tensor(&name, &values)?;
    }
    Ok(writer.finish()?)
}
