//! Variables that look like settings and are none. (A setting with a wrong value stops every command.)

use super::Finding;
use stash_infra::config::{Environment, unknown_settings};

const CHECK: &str = "settings";

/// Looks at the environment.
pub(super) fn check() -> Vec<Finding> {
    let unknown = unknown_settings(&Environment::of_process());
    if unknown.is_empty() {
        return vec![Finding::ok(CHECK, "all are known and allowed")];
    }
    unknown.into_iter().map(|what| Finding::warning(CHECK, what, "see docs/settings.md")).collect()
}
