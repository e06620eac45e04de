//! The worker of this process.

use super::{Foundation, data_folder};
use stash_infra::config::{LlmSettings, Settings};
use stash_infra::llm::{Llm, Llms};
use stash_workers::context::Worker;
use stash_workers::extraction::{Judge, Judging};
use stash_workers::scoring::Precision;
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;

/// File name of the trainer.
const TRAINER: &str = "stash-trainer";

impl Foundation {
    /// A worker that takes the jobs of its compute class.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        Arc::new(Worker {
            // Part of the ids of its claims, so never used again.
            name: format!("{}-{}-{}", host_name(), std::process::id(), Uuid::now_v7().simple()),
            classes: vec![self.settings.compute.worker_class().name().to_owned()],
            submitter: Arc::clone(&self.submitter),
            pool: self.pools.system.clone(),
            keys: Arc::clone(&self.keys),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            scratch: data_folder::jobs(&self.settings.data.folder),
            trainer: self.settings.compute.trainer.clone().or_else(default_trainer),
            bases: bases(&self.settings),
            judge: self.judge(),
            titles: self.title_model().inspect_err(|why| tracing::info!(why, "titles are derived")).ok(),
            lease: self.settings.compute.job_lease,
            threads: threads(&self.settings),
            precision: self.settings.compute.precision.map(precision),
        })
    }

    /// The model that writes titles; why there is none, if there is none.
    pub(super) fn title_model(&self) -> Result<Arc<dyn Llm>, String> {
        let settings = &self.settings.llm;
        let name = LlmSettings::TITLE_MODEL_NAME;
        let Some(model) = settings.title_model.as_deref() else { return Err(format!("{name} is `none`")) };
        let opened = Llms::new(settings.clone(), Arc::clone(&self.clock)).and_then(|models| models.open(model, None));
        opened.map_err(|error| error.to_string())
    }

    /// The model that judges what agents did, if one is configured. Without, models learn from ratings alone.
    fn judge(&self) -> Judging {
        let settings = &self.settings.llm;
        let name = LlmSettings::LEARNING_MODEL_NAME;
        let Some(model) = settings.learning_model.as_deref() else {
            return Judging::Nobody(format!("no language model judges here; the operator names one in {name}"));
        };
        let opened = Llms::new(settings.clone(), Arc::clone(&self.clock)).and_then(|models| models.open(model, None));
        match opened {
            Ok(llm) => Judging::By(Arc::new(Judge {
                llm,
                tokens_max: settings.learning_tokens_max,
                cost_microusd_max: settings.learning_cost_microusd_max,
            })),
            Err(error) => {
                tracing::info!(%error, "models learn from ratings alone");
                Judging::Nobody(format!("{error} (for the operator; {name} names the model)"))
            }
        }
    }
}

/// Folders in which base models are looked for by name.
pub(crate) fn bases(settings: &Settings) -> Vec<PathBuf> {
    vec![data_folder::bases(&settings.data.folder)]
}

/// The trainer beside this program, if it is there.
pub(crate) fn default_trainer() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(TRAINER);
    beside.is_file().then_some(beside)
}

fn precision(set: stash_infra::config::Precision) -> Precision {
    match set {
        stash_infra::config::Precision::Fp32 => Precision::Fp32,
        stash_infra::config::Precision::Bf16 => Precision::Bf16,
        stash_infra::config::Precision::Int8 => Precision::Int8,
    }
}

fn threads(settings: &Settings) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    settings.compute.threads.unwrap_or_else(cores)
}

fn host_name() -> String {
    nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_else(|| "unnamed".to_owned())
}
