//! The data folder can be written to.

use super::Finding;
use nix::unistd::{AccessFlags, access};
use stash_infra::config::Settings;
use std::path::Path;

const CHECK: &str = "data folder";

/// Looks at the folder, or where it would be made.
pub(super) fn check(settings: &Settings) -> Finding {
    let folder = &settings.data.folder;
    let Some(existing) = nearest(folder) else {
        return Finding::broken(
            CHECK,
            format!("{} has no folder above it", folder.display()),
            "name another one with --data",
        );
    };
    let needed = AccessFlags::R_OK | AccessFlags::W_OK | AccessFlags::X_OK;
    match access(existing, needed) {
        Ok(()) if existing == folder => Finding::ok(CHECK, folder.display().to_string()),
        Ok(()) => Finding::ok(CHECK, format!("{} (made at first start)", folder.display())),
        Err(error) => Finding::broken(
            CHECK,
            format!("{} cannot be written to: {error}", existing.display()),
            format!(
                "give it to the user that runs Stash (chown), or name another folder with --data instead of {}",
                folder.display()
            ),
        ),
    }
}

/// The folder, or the first one above it that exists.
pub(super) fn nearest(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.is_dir())
}
