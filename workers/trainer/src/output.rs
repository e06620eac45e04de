//! What a training tells while it runs: `progress.jsonl` for programs, `worker.log` for people.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Name of the progress file in a job directory.
pub const PROGRESS_FILE: &str = "progress.jsonl";
/// Name of the log in a job directory.
pub const LOG_FILE: &str = "worker.log";
/// Most lines of progress a training writes; the steps between are not told.
pub const PROGRESS_LINES_MAX: usize = 2_000;

/// A line of progress.
#[derive(Debug, Clone, Serialize)]
pub struct Progress {
    /// Optimizer steps done.
    pub step: usize,
    /// Steps of the job.
    pub of: usize,
    /// Mean loss of the step's pairs.
    pub loss: f64,
    /// Learning rate of the step.
    pub learning_rate: f64,
    /// Length of the gradient before it was scaled down.
    pub gradient_norm: f64,
    /// Tokens computed so far, each shared beginning once.
    pub tokens: usize,
    /// Seconds since the first step began.
    pub seconds: f64,
    /// Seconds the remaining steps will take at the pace so far.
    pub eta_s: f64,
}

/// The two files, open.
#[derive(Debug)]
pub struct Output {
    progress: File,
    progress_path: PathBuf,
    log: File,
    started: Instant,
}

impl Output {
    /// Opens the files of a job directory; what an earlier attempt said stays.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn begin(job_dir: &Path) -> Result<Self, TrainError> {
        let progress_path = job_dir.join(PROGRESS_FILE);
        let progress = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&progress_path)
            .map_err(TrainError::io("write", &progress_path))?;
        let log_path = job_dir.join(LOG_FILE);
        // Appended to: a second attempt keeps what the first one said.
        let log =
            OpenOptions::new().create(true).append(true).open(&log_path).map_err(TrainError::io("write", &log_path))?;
        Ok(Self { progress, progress_path, log, started: Instant::now() })
    }

    /// Drops the lines of steps after `step`, which will be made again.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn progress_after(&mut self, step: usize) -> Result<(), TrainError> {
        #[derive(Deserialize)]
        struct Line {
            step: usize,
        }
        let before = fs::read_to_string(&self.progress_path).map_err(TrainError::io("read", &self.progress_path))?;
        let is_kept = |line: &&str| serde_json::from_str::<Line>(line).is_ok_and(|line| line.step <= step);
        let kept: String = before.split_inclusive('\n').filter(is_kept).collect();
        self.progress.set_len(0).map_err(TrainError::io("write", &self.progress_path))?;
        self.progress.write_all(kept.as_bytes()).map_err(TrainError::io("write", &self.progress_path))
    }

    /// Writes a line of progress.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn progress(&mut self, line: &Progress) -> Result<(), TrainError> {
        // Numbers and fixed keys always serialise.
        let mut bytes = serde_json::to_vec(line).unwrap_or_default();
        bytes.push(b'\n');
        self.progress.write_all(&bytes).map_err(TrainError::io("write", &self.progress_path))
    }

    /// Writes a line of the log, after the seconds since the start. A log that cannot be written does not stop a
    /// training.
    pub fn log(&mut self, line: &str) {
        let _ = writeln!(self.log, "[{:9.3}] {line}", self.started.elapsed().as_secs_f64());
    }
}
