//! Ending what an earlier run left behind.
//!
//! The caller holds the data folder's lock, so a server that still runs on its cluster lost its parent. Only processes named
//! `postgres` whose working directory *is* this cluster's folder (same device and inode; every process of a server works there)
//! count, so another cluster is never touched, whatever its pid file says.
//!
//! 1. A live postmaster is asked for a fast shutdown, later for an immediate one.
//! 2. Backends without a postmaster (it was killed) are told to end at once: they would keep the shared memory.
//! 3. When no process is left, a pid file that remains is stale and goes, and so do the socket and its lock file. Postgres
//!    itself would refuse to start when the old pid now belongs to another process, or to a zombie that nobody reaps.

use super::error::EmbeddedError;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// A fast shutdown writes a checkpoint: at most `max_wal_size` of dirty pages, seconds on any disk.
const FAST_SHUTDOWN_MAX: Duration = Duration::from_secs(60);

/// An immediate shutdown only ends processes.
const IMMEDIATE_SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// Pause between looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Ends every process of this cluster and removes its stale files. Blocks.
///
/// # Errors
/// [`EmbeddedError::Lingering`] when a process survives all that.
pub(super) fn clear(cluster: &Path, socket_folder: &Path) -> Result<(), EmbeddedError> {
    let begin = Instant::now();
    let mut last_signal: Option<Signal> = None;
    while let Some(pid) = processes_of(cluster).into_iter().next() {
        let waited = begin.elapsed();
        if waited > FAST_SHUTDOWN_MAX + 2 * IMMEDIATE_SHUTDOWN_MAX {
            return Err(EmbeddedError::Lingering { pid });
        }
        let (targets, signal) = match postmaster_of(cluster) {
            Some(postmaster) if waited < FAST_SHUTDOWN_MAX => (vec![postmaster], Signal::SIGINT),
            Some(postmaster) => (vec![postmaster], Signal::SIGQUIT),
            None if waited < FAST_SHUTDOWN_MAX + IMMEDIATE_SHUTDOWN_MAX => (processes_of(cluster), Signal::SIGQUIT),
            None => (processes_of(cluster), Signal::SIGKILL),
        };
        if last_signal != Some(signal) {
            tracing::info!(?targets, %signal, "ending the Postgres that an earlier run left behind");
            for target in targets {
                // It may have ended since it was listed.
                let _ = kill(Pid::from_raw(target), signal);
            }
            last_signal = Some(signal);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    remove_if_there(&cluster.join("postmaster.pid"))?;
    for entry in std::fs::read_dir(socket_folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".s.PGSQL.") {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<(), EmbeddedError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(EmbeddedError::file("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The live postmaster of this cluster.
pub(super) fn postmaster_of(cluster: &Path) -> Option<i32> {
    let text = std::fs::read_to_string(cluster.join("postmaster.pid")).ok()?;
    let pid = text.lines().next()?.trim().parse().ok()?;
    works_in(pid, &std::fs::metadata(cluster).ok()?).then_some(pid)
}

/// All live processes of this cluster's server.
fn processes_of(cluster: &Path) -> Vec<i32> {
    let Ok(meta) = std::fs::metadata(cluster) else { return Vec::new() };
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| works_in(*pid, &meta))
        .collect()
}

/// Whether a process is a `postgres` that works in this folder. A zombie is not: it holds nothing any more.
fn works_in(pid: i32, folder: &std::fs::Metadata) -> bool {
    let proc = Path::new("/proc").join(pid.to_string());
    // Follows the link to the folder itself, so a renamed folder is still the same one.
    let Ok(cwd) = std::fs::metadata(proc.join("cwd")) else { return false };
    if (cwd.dev(), cwd.ino()) != (folder.dev(), folder.ino()) {
        return false;
    }
    // "postgres (deleted)" after an upgrade of the package.
    let exe = std::fs::read_link(proc.join("exe")).unwrap_or_default();
    exe.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_of_another_process_is_stale_and_its_process_lives_on() {
        let cluster = tempfile::tempdir().unwrap();
        let other = std::process::id();
        std::fs::write(cluster.path().join("postmaster.pid"), format!("{other}\n/elsewhere\n")).unwrap();
        assert_eq!(postmaster_of(cluster.path()), None);
        clear(cluster.path(), cluster.path()).unwrap();
        assert!(!cluster.path().join("postmaster.pid").exists());
    }
}
