//! There is room where the data are kept.

use super::Finding;
use super::data_folder::nearest;
use nix::sys::statvfs::statvfs;
use stash_infra::config::Settings;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

const CHECK: &str = "disk space";

/// Below this, Postgres cannot even keep its own log of changes (`max_wal_size`) for long.
const BYTES_LOW: u64 = 512 * MIB;

/// Below this, a large import or a training may fill the disk.
const BYTES_SCARCE: u64 = 4096 * MIB;

const MIB: u64 = 1024 * 1024;

/// Looks at the file system of the data folder, and at that of the artifacts where it is another one.
pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    let data = nearest(&settings.data.folder);
    let artifacts = settings.data.artifacts();
    let artifacts = nearest(&artifacts).filter(|folder| device(folder) != data.and_then(device));
    match data {
        Some(data) => [Some(data), artifacts].into_iter().flatten().map(room).collect(),
        None => vec![Finding::warning(CHECK, "unknown: there is no data folder", "see the check above")],
    }
}

/// Which file system a folder is on.
fn device(folder: &Path) -> Option<u64> {
    std::fs::metadata(folder).ok().map(|facts| facts.dev())
}

/// How much room there is.
fn room(folder: &Path) -> Finding {
    let facts = match statvfs(folder) {
        Ok(facts) => facts,
        Err(error) => {
            return Finding::warning(CHECK, format!("unknown at {}: {error}", folder.display()), "look with: df -h");
        }
    };
    // What is free for others than root.
    let free = facts.blocks_available().saturating_mul(facts.fragment_size());
    let found = format!("{} MiB free at {}", free / MIB, folder.display());
    let cure =
        "free some, or move the folder to a larger disk: while it is full, what needs room is refused; nothing is lost";
    match free {
        free if free < BYTES_LOW => Finding::broken(CHECK, found, cure),
        free if free < BYTES_SCARCE => Finding::warning(CHECK, found, cure),
        _ => Finding::ok(CHECK, found),
    }
}
