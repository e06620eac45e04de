//! The trainer is there and runs.

use super::Finding;
use crate::wiring::default_trainer;
use stash_infra::config::{ComputeSettings, Settings};

const CHECK: &str = "trainer";

/// What a trainer that runs says when it is given no job.
const USAGE: &str = "usage: stash-trainer";

/// Looks for the program.
pub(super) fn check(settings: &Settings) -> Finding {
    let name = ComputeSettings::TRAINER_NAME;
    let cure = format!("build it with `make build`, or name it in {name}; without it, nothing can be trained");
    let Some(trainer) = settings.compute.trainer.clone().or_else(default_trainer) else {
        return Finding::warning(CHECK, "no stash-trainer beside this program", cure);
    };
    if !trainer.is_file() {
        return Finding::broken(CHECK, format!("{name} names {}, which is no file", trainer.display()), cure);
    }
    // Its library, libtorch, is looked for when it starts; without a job, it then only says what it takes.
    match std::process::Command::new(&trainer).output() {
        Ok(output) if said_by(&output).contains(USAGE) => Finding::ok(CHECK, trainer.display().to_string()),
        Ok(output) => {
            let said = said_by(&output);
            let said = said.lines().next_back().unwrap_or("no reason given").to_owned();
            Finding::broken(CHECK, format!("{} does not run: {said}", trainer.display()), cure)
        }
        Err(error) => Finding::broken(CHECK, format!("{} does not run: {error}", trainer.display()), cure),
    }
}

fn said_by(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
