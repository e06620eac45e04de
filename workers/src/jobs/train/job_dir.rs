//! The job directory: what the trainer is given.

use super::dataset::Dataset;
use crate::jobs::engine::ends_of;
use serde::Serialize;
use stash_domain::events::TrainingOptions;
use stash_domain::ids::{StepId, TraceId};
use stash_domain::learning::frame::{Granularity, Source, Split};
use stash_domain::limits::TOKENS_MAX;
use stash_domain::trace::ActionType;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Parameters of a training.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Folder of the base.
    pub base: &'a Path,
    /// Passes over the pairs.
    pub epochs: i32,
    /// Peak learning rate; none means the trainer's default for the base.
    pub learning_rate: Option<f64>,
    /// The other choices; none means the trainer's default.
    pub training: TrainingOptions,
    /// Seed.
    pub seed: i64,
    /// CPU threads.
    pub threads: usize,
}

#[derive(Serialize)]
struct JobFile<'a> {
    kind: &'static str,
    base_model_dir: &'a Path,
    epochs: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    learning_rate: Option<f64>,
    #[serde(flatten)]
    training: &'a TrainingOptions,
    seed: u64,
    max_tokens: u32,
    threads: usize,
}

/// A line of `pairs.jsonl`.
#[derive(Serialize)]
struct PairLine<'a> {
    chosen: &'a str,
    rejected: &'a str,
    chosen_cuts: Vec<u32>,
    rejected_cuts: Vec<u32>,
    trace_ids: Vec<TraceId>,
    step_ids: Vec<StepId>,
    granularity: Granularity,
    action_type: Option<ActionType>,
    source: Source,
    split: Split,
}

/// Makes an empty job directory; leftovers of an earlier try are removed.
///
/// # Errors
/// Those of the disk.
pub fn make(folder: &Path) -> io::Result<()> {
    remove(folder)?;
    fs::create_dir_all(folder)
}

/// Removes a job directory if there is one.
///
/// # Errors
/// Those of the disk.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file of pairs in a job directory.
pub const PAIRS: &str = "pairs.jsonl";

/// Where the trainer saves how far it is, in a job directory. It tells by itself whether a state is of the same job.
const RESUME: &str = "resume";

/// Takes what the trainer saved in an earlier attempt's directory, unless a newer attempt left something, and removes the rest.
///
/// # Errors
/// Those of the disk.
pub fn take_over(earlier: &Path, folder: &Path) -> io::Result<()> {
    let (from, to) = (earlier.join(RESUME), folder.join(RESUME));
    if from.is_dir() && !to.exists() {
        fs::rename(&from, &to)?;
    }
    remove(earlier)
}

/// Removes a job directory when it is dropped.
pub struct Cleaned {
    folder: PathBuf,
    is_kept: bool,
}

impl Cleaned {
    /// Removes this one.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, is_kept: false }
    }

    /// Leaves it, for the next attempt to take over and remove.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Cleaned {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, "a job directory could not be removed");
        }
    }
}

/// Writes `job.json` and `pairs.jsonl`. Excluded pairs are not part of it.
///
/// # Errors
/// Those of the disk.
pub fn write(folder: &Path, settings: &Settings<'_>, dataset: &Dataset) -> io::Result<()> {
    let mut pairs = BufWriter::new(File::create(folder.join(PAIRS))?);
    for pair in dataset.pairs.iter().filter(|pair| pair.split != Split::Excluded) {
        let (chosen, rejected) = (&dataset.targets[pair.chosen], &dataset.targets[pair.rejected]);
        let (Some(chosen_at), Some(rejected_at)) = (chosen.text, rejected.text) else { continue };
        let (chosen_text, rejected_text) = (dataset.spool.get(chosen_at)?, dataset.spool.get(rejected_at)?);
        let mut trace_ids = vec![chosen.rated.key.trace_id, rejected.rated.key.trace_id];
        trace_ids.dedup();
        let line = PairLine {
            chosen: &chosen_text.text,
            rejected: &rejected_text.text,
            chosen_cuts: ends_of(&chosen_text.cuts, chosen_text.text.len()),
            rejected_cuts: ends_of(&rejected_text.cuts, rejected_text.text.len()),
            trace_ids,
            step_ids: [chosen.rated.key.step_id, rejected.rated.key.step_id].into_iter().flatten().collect(),
            granularity: pair.granularity,
            action_type: pair.action_type,
            source: pair.source,
            split: pair.split,
        };
        serde_json::to_writer(&mut pairs, &line)?;
        pairs.write_all(b"\n")?;
    }
    pairs.flush()?;
    let job = JobFile {
        kind: "train",
        base_model_dir: settings.base,
        epochs: settings.epochs,
        learning_rate: settings.learning_rate,
        training: &settings.training,
        seed: settings.seed.cast_unsigned(),
        max_tokens: TOKENS_MAX,
        threads: settings.threads,
    };
    fs::write(folder.join("job.json"), serde_json::to_vec_pretty(&job)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory of an attempt, with a state when `state` names one.
    fn attempt(scratch: &Path, name: &str, state: Option<&str>) -> PathBuf {
        let folder = scratch.join(name);
        make(&folder).unwrap();
        if let Some(state) = state {
            fs::create_dir_all(folder.join(RESUME).join(state)).unwrap();
        }
        folder
    }

    #[test]
    fn an_attempt_takes_over_the_newest_state_and_removes_the_others() {
        let scratch = tempfile::tempdir().unwrap();
        let first = attempt(scratch.path(), "job-1", Some("7"));
        let second = attempt(scratch.path(), "job-2", Some("40"));
        let third = attempt(scratch.path(), "job-3", None);
        for earlier in [&second, &first] {
            take_over(earlier, &third).unwrap();
            assert!(!earlier.exists());
        }
        take_over(&scratch.path().join("job-0"), &third).unwrap();
        let states: Vec<_> =
            fs::read_dir(third.join(RESUME)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(states, ["40"]);
    }

    #[test]
    fn a_directory_goes_with_its_attempt_unless_it_is_kept() {
        let scratch = tempfile::tempdir().unwrap();
        for is_kept in [false, true] {
            let folder = attempt(scratch.path(), "job-1", Some("7"));
            let mut clean = Cleaned::new(folder.clone());
            if is_kept {
                clean.keep();
            }
            drop(clean);
            assert_eq!(folder.exists(), is_kept);
        }
    }
}
