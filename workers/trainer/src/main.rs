//! `stash-trainer <job-dir>`: trains a reward model from a job directory. Exit codes: [`TrainError::exit_code`], 0 when
//! `model/` and `result.json` are there, 1 for a wrong command line.

use std::os::unix::process::{CommandExt, parent_id};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use stash_trainer::error::EXIT_DONE;
use stash_trainer::run;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(job_dir), None) = (args.next().map(PathBuf::from), args.next()) else {
        eprintln!("usage: stash-trainer <job-dir>");
        return ExitCode::FAILURE;
    };
    restart_with_sleeping_threads();
    end_with_the_worker();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        if let Err(error) = flag::register(signal, Arc::clone(&stop)) {
            eprintln!("error: cannot handle signal {signal}: {error}");
            return ExitCode::FAILURE;
        }
    }
    match run::run(&job_dir, &stop) {
        Ok(_) => ExitCode::from(EXIT_DONE),
        Err(error) => {
            // The last line of stderr is what the coordinator shows.
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// A worker names itself here, by its process id, when it starts the trainer.
const WORKER: &str = "STASH_TRAINER_OF";

/// Exit code then: nobody reads it, so that of a cancelled training.
const EXIT_ORPHANED: i32 = 4;

/// How often the trainer looks whether its worker still lives.
const WORKER_LOOK: Duration = Duration::from_millis(500);

/// A trainer whose worker was killed has nobody to train for: its attempt is lost, and the next one wants the cores and the
/// memory. Looked for by the parent's id, since the kernel's own signal follows the thread that started us, not its process.
/// Started by hand it goes on, whatever becomes of the shell.
fn end_with_the_worker() {
    let Some(worker) = std::env::var(WORKER).ok().and_then(|id| id.parse::<u32>().ok()) else { return };
    let watch = move || {
        while parent_id() == worker {
            std::thread::sleep(WORKER_LOOK);
        }
        eprintln!("error: the worker is gone");
        std::process::exit(EXIT_ORPHANED);
    };
    if let Err(error) = std::thread::Builder::new().name("worker-watch".into()).spawn(watch) {
        eprintln!("warning: cannot watch the worker: {error}");
    }
}

/// libtorch's threads spin while they wait, for as long as other processes would need the cores most: with the rest of
/// the platform busy on the same machine a training was seen to take fifty times as long. Only the variable below tells
/// them to sleep, and it is read before `main`, so the trainer replaces itself once. If that fails it trains as it is.
fn restart_with_sleeping_threads() {
    const VARIABLE: &str = "OMP_WAIT_POLICY";
    if std::env::var_os(VARIABLE).is_none()
        && let Ok(trainer) = std::env::current_exe()
    {
        let _ = Command::new(trainer).args(std::env::args_os().skip(1)).env(VARIABLE, "passive").exec();
    }
}
