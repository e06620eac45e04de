//! The trainer's process: started on the job directory, watched, asked to stop.

use super::progress::Teller;
use crate::jobs::{Failure, Running};
use stash_domain::error::Code;
use stash_domain::reward::metrics::TrainingFigures;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// Tells the trainer whose it is: it ends when this process is gone, however that ended.
const WORKER: &str = "STASH_TRAINER_OF";

/// How often the trainer's progress is read.
const LOOK: Duration = Duration::from_millis(500);

/// How long a trainer that was asked to stop may take.
const GRACE: Duration = Duration::from_secs(20);

/// Share of the whole job at which training begins and ends.
const FROM: f64 = 0.1;
const TO: f64 = 0.6;

/// Trains. The process is killed when the future is dropped.
///
/// # Errors
/// [`Failure`], by the trainer's exit code.
pub(super) async fn run(running: &Running, folder: &Path) -> Result<TrainingFigures, Failure> {
    let program = running.worker.trainer.as_ref().ok_or_else(|| {
        Failure::of_input(
            Code::NotConfigured,
            "the worker's setting RM_TRAINER is missing, and no stash-trainer lies beside the stash program; the operator sets it to \
             the trainer's path",
        )
    })?;
    let log = std::fs::File::create(folder.join("trainer.err")).map_err(Failure::may_pass)?;
    let mut child = Command::new(program)
        .arg(folder)
        .env(WORKER, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            Failure::of_input(Code::NotConfigured, format!("the trainer (RM_TRAINER) cannot be started: {error}"))
        })?;
    let status = watch(running, folder, &mut child).await?;
    if status.success() {
        return figures(folder);
    }
    let said = std::fs::read_to_string(folder.join("trainer.err")).unwrap_or_default();
    let last = said.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    tracing::warn!(job = %running.job.job, %status, error = last, "the trainer ended without success");
    Err(failure(status, last))
}

/// Waits for the end; tells progress ([`Teller`]); passes on a request to stop.
async fn watch(running: &Running, folder: &Path, child: &mut Child) -> Result<ExitStatus, Failure> {
    let mut teller = Teller::default();
    loop {
        let ended = tokio::select! {
            status = child.wait() => Some(status.map_err(Failure::may_pass)?),
            () = running.cancel.cancelled() => return stop(child).await,
            () = tokio::time::sleep(LOOK) => None,
        };
        let text = tokio::fs::read_to_string(folder.join("progress.jsonl")).await.unwrap_or_default();
        if let Some(told) = teller.next(&text, ended.is_some(), Instant::now()) {
            let share = f64::from(told.step) / f64::from(told.steps.max(1));
            running.training(FROM + (TO - FROM) * share.clamp(0.0, 1.0), told).await?;
        }
        if let Some(status) = ended {
            return Ok(status);
        }
    }
}

async fn stop(child: &mut Child) -> Result<ExitStatus, Failure> {
    if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
        // An error means that it has ended already.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGTERM);
    }
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        child.kill().await.map_err(Failure::may_pass)?;
    }
    Err(Failure::cancelled())
}

fn figures(folder: &Path) -> Result<TrainingFigures, Failure> {
    let text = std::fs::read(folder.join("result.json")).map_err(Failure::internal)?;
    serde_json::from_slice(&text).map_err(Failure::internal)
}

/// What an exit status means (see the trainer's documentation).
fn failure(status: ExitStatus, said: String) -> Failure {
    match status.code() {
        Some(2) => Failure::of_input(Code::UnknownBaseModel, format!("the training cannot begin: {said}")),
        Some(3) => Failure::of_input(Code::TrainingDiverged, format!("{said}; nothing was published")),
        Some(4) => Failure::cancelled(),
        Some(_) => Failure::may_pass("the trainer failed; the worker's log has the cause"),
        None => Failure::may_pass("the trainer was killed, perhaps for want of memory"),
    }
}
