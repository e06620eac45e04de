//! There is a base model to train from.

use super::Finding;
use crate::first_start::BASE_NAME;
use crate::wiring::bases;
use stash_infra::config::Settings;

const CHECK: &str = "base models";

/// Lists the bases.
pub(super) fn check(settings: &Settings) -> Finding {
    let names = stash_workers::bases::list(&bases(settings));
    if names.is_empty() {
        return Finding::ok(CHECK, format!("{BASE_NAME} is made when `stash up` starts"));
    }
    Finding::ok(CHECK, names.join(", "))
}
