//! `stash-trainer <job-dir>`: trains a reward model from a job directory. Exit codes: [`TrainError::exit_code`], 0 when
//! `model/` and `result.json` are there, 1 for a wrong command line.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
