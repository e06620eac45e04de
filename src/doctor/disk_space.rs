//! There is room where the data are kept.

use super::Finding;
use super::data_folder::nearest;
use nix::sys::statvfs::statvfs;
use stash_infra::config::Settings;

const CHECK: &str = "disk space";

/// Below this, Postgres cannot even keep its own log of changes (`max_wal_size`) for long.
const BYTES_LOW: u64 = 512 * MIB;

/// Below this, a large import or a training may fill the disk.
const BYTES_SCARCE: u64 = 4096 * MIB;

const MIB: u64 = 1024 * 1024;

/// Looks at the file system of the data folder.
pub(super) fn check(settings: &Settings) -> Finding {
    let Some(folder) = nearest(&settings.data.folder) else {
        return Finding::warning(CHECK, "unknown: there is no data folder", "see the check above");
    };
    let facts = match statvfs(folder) {
        Ok(facts) => facts,
        Err(error) => return Finding::warning(CHECK, format!("unknown: {error}"), "look with: df -h"),
    };
    // What is free for others than root.
    let free = u64::from(facts.blocks_available()).saturating_mul(u64::from(facts.fragment_size()));
    let found = format!("{} MiB free at {}", free / MIB, folder.display());
    let cure = "free some, or move the data folder to a larger disk: until then, imports are refused when it is full";
    match free {
        free if free < BYTES_LOW => Finding::broken(CHECK, found, cure),
        free if free < BYTES_SCARCE => Finding::warning(CHECK, found, cure),
        _ => Finding::ok(CHECK, found),
    }
}
