//! Training and scoring.

use super::environment::{Environment, SettingError};
use super::kinds::{Choice, Count, OptionalCount, Place, Setting};
use std::path::PathBuf;
use std::time::Duration;

/// Class of a job, and of the workers that take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compute {
    /// Workers beside the API.
    Local,
    /// Workers on other machines, such as one with a GPU.
    Remote,
}

impl Compute {
    /// Its name, as it stands in jobs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// Values of the settings that name a class.
const CLASSES: &[(&str, Compute)] = &[("local", Compute::Local), ("remote", Compute::Remote)];

/// Arithmetic of scoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats.
    Fp32,
    /// Bfloat16, accumulated in 32 bits.
    Bf16,
    /// 8-bit integers.
    Int8,
}

const COMPUTE: Choice<Compute> = Choice {
    name: "RM_COMPUTE",
    default: "not set: a training is refused; `stash up` sets `local`",
    choices: CLASSES,
    doc: "Class of the jobs that this API asks for, trainings and scorings: only workers of the same class take them. The deployment \
          decides, never a request.",
};

const WORKER_COMPUTE: Choice<Compute> = Choice {
    name: "RM_WORKER_COMPUTE",
    default: "`RM_COMPUTE` for `stash serve --role worker`, and `local` where that is not set; `local` for `stash up`",
    choices: CLASSES,
    doc: "Class of the jobs that this process's worker takes.",
};

const TRAINER: Place = Place {
    name: "RM_TRAINER",
    default: "`stash-trainer` beside the program `stash`",
    what: "program",
    doc: "The program that trains, run once per job.",
};

const ONNX_RUNTIME: Place = Place {
    name: "ORT_DYLIB_PATH",
    default: "found in `.deps`",
    what: "library (`libonnxruntime.so`)",
    doc: "ONNX Runtime, which scores.",
};

const OPENVINO: Place = Place {
    name: "ORT_EP_OPENVINO_PATH",
    default: "found in `.deps`",
    what: "library (`libonnxruntime_providers_openvino_plugin.so`)",
    doc: "ONNX Runtime's OpenVINO plugin, which scores in bfloat16. Optional.",
};

const PRECISION: Choice<Precision> = Choice {
    name: "RM_SCORE_PRECISION",
    default: "`bf16` where the OpenVINO plugin is found and the processor computes in bfloat16, else `fp32`",
    choices: &[("fp32", Precision::Fp32), ("bf16", Precision::Bf16), ("int8", Precision::Int8)],
    doc: "Arithmetic of scoring. A model is scored in the one its statistics were made in, where the worker can. `int8` is for \
          processors that compute in 8-bit integers and not in bfloat16: faster than `fp32` there, less exact than both; a model's \
          card says by how much.",
};

const THREADS: OptionalCount = OptionalCount {
    name: "RM_THREADS",
    default: "as many as the machine has cores",
    min: 1,
    max: 1024,
    unit: "threads",
    doc: "Threads of a training or scoring.",
};

const JOB_LEASE_S: Count = Count {
    name: "STASH_JOB_LEASE_S",
    default: 60,
    // Heartbeats come a second apart at the least, and one may be lost.
    min: 3,
    max: 3600,
    unit: "seconds",
    doc: "How long a worker may be silent before its job counts as lost and is tried again.",
};

pub(super) const SETTINGS: &[&dyn Setting] =
    &[&COMPUTE, &WORKER_COMPUTE, &TRAINER, &ONNX_RUNTIME, &OPENVINO, &PRECISION, &THREADS, &JOB_LEASE_S];

/// Training and scoring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeSettings {
    /// Class of the jobs that are asked for; `None`: a request for one is refused.
    pub compute: Option<Compute>,
    /// Class of the jobs that the worker takes; `None`: as the role says.
    pub worker_compute: Option<Compute>,
    /// The program that trains; `None`: look beside `stash`.
    pub trainer: Option<PathBuf>,
    /// ONNX Runtime's library; `None`: look in the fetched dependencies.
    pub onnx_runtime: Option<PathBuf>,
    /// The OpenVINO plugin's library; `None`: look in the fetched dependencies.
    pub openvino: Option<PathBuf>,
    /// Arithmetic of scoring; `None`: the fastest that the machine has.
    pub precision: Option<Precision>,
    /// Threads of a training or scoring; `None`: all cores.
    pub threads: Option<usize>,
    /// How long an attempt holds without a sign of life.
    pub job_lease: Duration,
}

impl ComputeSettings {
    /// Names the setting that a training needs, for the refusal of one without it.
    pub const COMPUTE_NAME: &'static str = COMPUTE.name;

    /// Class of the jobs that this process's worker takes.
    pub fn worker_class(&self) -> Compute {
        self.worker_compute.or(self.compute).unwrap_or(Compute::Local)
    }

    /// Names the setting that says where the trainer is.
    pub const TRAINER_NAME: &'static str = TRAINER.name;

    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self {
            compute: COMPUTE.read(environment)?,
            worker_compute: WORKER_COMPUTE.read(environment)?,
            trainer: TRAINER.read(environment),
            onnx_runtime: ONNX_RUNTIME.read(environment),
            openvino: OPENVINO.read(environment),
            precision: PRECISION.read(environment)?,
            threads: THREADS.read(environment)?.and_then(|threads| usize::try_from(threads).ok()),
            job_lease: Duration::from_secs(JOB_LEASE_S.read(environment)?),
        })
    }
}
