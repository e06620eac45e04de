//! Trainings have a place to run.

use super::Finding;
use stash_infra::config::{Compute, ComputeSettings, Settings};

const CHECK: &str = "compute";

/// Looks at the setting.
pub(super) fn check(settings: &Settings) -> Finding {
    match settings.compute.compute {
        Some(Compute::Local) => Finding::ok(CHECK, "trainings run on the worker's machine"),
        Some(Compute::Remote) => Finding::ok(
            CHECK,
            "trainings wait for a worker elsewhere: `stash serve --role worker` with RM_COMPUTE=remote takes them",
        ),
        None => Finding::warning(
            CHECK,
            format!(
                "{} is not set: `stash up` trains on this machine, `stash serve` refuses trainings",
                ComputeSettings::COMPUTE_NAME
            ),
            format!("for `stash serve`, set {}=local", ComputeSettings::COMPUTE_NAME),
        ),
    }
}
