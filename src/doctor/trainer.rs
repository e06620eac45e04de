//! The trainer is there and runs.

use super::Finding;
use crate::wiring::default_trainer;
use stash_infra::config::{ComputeSettings, Settings};

const CHECK: &str = "trainer";

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
    // Its library, libtorch, is looked for when it starts.
    match std::process::Command::new(&trainer).arg("--version").output() {
        Ok(output) if output.status.success() => Finding::ok(CHECK, trainer.display().to_string()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next_back().unwrap_or("no reason given").to_owned();
            Finding::broken(CHECK, format!("{} does not run: {said}", trainer.display()), cure)
        }
        Err(error) => Finding::broken(CHECK, format!("{} does not run: {error}", trainer.display()), cure),
    }
}
