//! The state of a training between two steps, so that one that was killed goes on where it was last saved.
//!
//! `resume/<step>/` in the job directory holds `state.json` and `state.safetensors`: the trained weights and the optimizer's
//! two numbers for each, in fp32, bit for bit. Order and learning rates follow from the job, so nothing else is needed, and a
//! training that was killed ends with the weights and the losses of one that was not.
//!
//! Invariants: a folder named by a number is whole, since it is renamed to that name after both files were synced; at most one
//! stays, and none when the training has ended. A state is used only by the job that left it: its fingerprint covers
//! every parameter that changes a number, the pairs, the base and the code's version.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stash_model::safetensors::{Dtype, WeightsFile, Writer};
use stash_model::{checksum, files};
use tch::{Device, Kind, TchError, Tensor, no_grad};

use crate::error::TrainError;
use crate::job::{Job, Precision};
use crate::optimizer::AdamW;
use crate::pairs;

/// Name of the folder in a job directory.
pub const DIR: &str = "resume";
/// The small file of a state.
const STATE_FILE: &str = "state.json";
/// The large one.
const TENSORS_FILE: &str = "state.safetensors";
/// Writing states takes at most one part in this many of the time.
const SHARE: u32 = 20;

/// How far a training was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Of the job, see [`fingerprint`].
    pub fingerprint: String,
    /// Mean loss of each step done; in the file its bits, since decimal digits may come back a bit off.
    #[serde(with = "bits")]
    pub losses: Vec<f64>,
    /// Tokens computed.
    pub tokens: usize,
    /// Seconds of training until then.
    pub seconds: f64,
}

mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        values.iter().map(|value| value.to_bits()).collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().map(f64::from_bits).collect())
    }
}

/// What must be equal for a saved state to be gone on from. The number of threads is left out: it may change the last bits,
/// and a machine with fewer cores should still go on.
///
/// # Errors
/// When the pairs cannot be read.
pub fn fingerprint(job_dir: &Path, job: &Job, precision: Precision, base_checksum: &str) -> Result<String, TrainError> {
    let job = Job { threads: None, base_model_dir: PathBuf::new(), resume_every_s: 0.0, ..job.clone() };
    let pairs = checksum::of_file(&job_dir.join(pairs::FILE))?;
    let mut hash = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), base_checksum, &format!("{job:?}"), &format!("{precision:?}")] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(pairs);
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Saves states of one training and finds the last one.
#[derive(Debug)]
pub struct Keeper {
    dir: PathBuf,
    fingerprint: String,
    every: Duration,
    written: Instant,
    took: Duration,
}

impl Keeper {
    /// A keeper that saves every `every`.
    pub fn new(job_dir: &Path, fingerprint: String, every: Duration) -> Self {
        Self { dir: job_dir.join(DIR), fingerprint, every, written: Instant::now(), took: Duration::ZERO }
    }

    /// Fills the optimizer's weights and state with what was saved last. `None`, and nothing is changed, when there is no
    /// state of this job.
    ///
    /// # Errors
    /// When a state that is whole by its name cannot be read, or libtorch fails.
    pub fn load(&self, optimizer: &mut AdamW) -> Result<Option<State>, TrainError> {
        let Some(step) = steps(&self.dir)?.into_iter().max() else { return Ok(None) };
        let dir = self.dir.join(step.to_string());
        let state: State = files::read_json(&dir.join(STATE_FILE))?;
        if state.fingerprint != self.fingerprint || state.losses.len() != step {
            return Ok(None);
        }
        let mut file = WeightsFile::open(&dir.join(TENSORS_FILE))?;
        no_grad(|| {
            for slot in optimizer.slots() {
                for (kind, tensor) in [("weight", &slot.weight), ("mean", &slot.mean), ("square", &slot.square)] {
                    let shape: Vec<usize> = tensor.size().iter().map(|d| *d as usize).collect();
                    let values = file.read_f32(&key(kind, &slot.name), &shape)?;
                    let read = Tensor::f_from_slice(&values)?.f_view(tensor.size().as_slice())?;
                    tensor.shallow_clone().f_copy_(&read)?;
                }
            }
            Ok::<(), TrainError>(())
        })?;
        optimizer.resume_after(step);
        Ok(Some(state))
    }

    /// Whether it is time to save.
    pub fn is_due(&self) -> bool {
        self.written.elapsed() >= self.every.max(self.took * SHARE)
    }

    /// Saves the state after the last step of `losses`, in place of the one before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&mut self, losses: &[f64], tokens: usize, seconds: f64, optimizer: &AdamW) -> Result<(), TrainError> {
        let begun = Instant::now();
        let (part, whole) = (self.dir.join("part"), self.dir.join(losses.len().to_string()));
        remove(&part)?;
        fs::create_dir_all(&part).map_err(TrainError::io("create", &part))?;
        write_tensors(&part.join(TENSORS_FILE), optimizer)?;
        let state = State { fingerprint: self.fingerprint.clone(), losses: losses.to_vec(), tokens, seconds };
        files::write_json(&part.join(STATE_FILE), &state)?;
        remove(&whole)?;
        fs::rename(&part, &whole).map_err(TrainError::io("rename", &part))?;
        for step in steps(&self.dir)?.into_iter().filter(|step| *step != losses.len()) {
            remove(&self.dir.join(step.to_string()))?;
        }
        (self.written, self.took) = (Instant::now(), begun.elapsed());
        Ok(())
    }
}

/// Removes every state of a job directory.
///
/// # Errors
/// When they cannot be removed.
pub fn clear(job_dir: &Path) -> Result<(), TrainError> {
    remove(&job_dir.join(DIR))
}

fn key(kind: &str, name: &str) -> String {
    format!("{kind}:{name}")
}

fn remove(dir: &Path) -> Result<(), TrainError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(TrainError::io("remove", dir)(error)),
        _ => Ok(()),
    }
}

/// The steps after which there is a state.
fn steps(dir: &Path) -> Result<Vec<usize>, TrainError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(TrainError::io("read", dir))?,
    };
    let mut steps = Vec::new();
    for entry in entries {
        let name = entry.map_err(TrainError::io("read", dir))?.file_name();
        steps.extend(name.to_str().and_then(|name| name.parse::<usize>().ok()));
    }
    Ok(steps)
}

fn write_tensors(path: &Path, optimizer: &AdamW) -> Result<(), TrainError> {
    let mut tensors: Vec<(String, &Tensor)> = Vec::new();
    for slot in optimizer.slots() {
        tensors.push((key("weight", &slot.name), &slot.weight));
        tensors.push((key("mean", &slot.name), &slot.mean));
        tensors.push((key("square", &slot.name), &slot.square));
    }
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let shape = |tensor: &Tensor| tensor.size().iter().map(|d| *d as usize).collect::<Vec<_>>();
    let shapes: Vec<_> = tensors.iter().map(|(name, tensor)| (name.clone(), shape(tensor))).collect();
    let mut writer = Writer::create(path, Dtype::F32, &shapes)?;
    // The writer wants them in order of name, as they are.
    for (name, tensor) in tensors {
        writer.tensor(&name, &values(tensor)?)?;
    }
    Ok(writer.finish()?)
}

fn values(tensor: &Tensor) -> Result<Vec<f32>, TchError> {
    let flat = tensor.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?.f_flatten(0, -1)?;
    Vec::<f32>::try_from(&flat)
}
