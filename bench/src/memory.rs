//! What processes take of the machine's memory, read from `/proc`.

use anyhow::{Context as _, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Bytes of the unit of figures in MB.
const MB: f64 = 1e6;

/// Starts the peak of a process anew (see proc_pid_clear_refs(5)). Where that is not allowed the peak counts from its start.
pub(crate) fn reset_peak(pid: u32) -> bool {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}

/// The most resident memory that a process had, in MB.
///
/// # Errors
/// When the process is gone.
pub(crate) fn peak_mb(pid: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the server is gone")?;
    Ok(kib_of(&status, "VmHWM:").context("the kernel tells no peak")? * 1024.0 / MB)
}

/// Proportional memory of one process, in MB; none if it has ended.
///
/// # Errors
/// When it may not be looked at.
pub(crate) fn of_one_mb(pid: u32) -> anyhow::Result<Option<f64>> {
    match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => Ok(Some(kib_of(&text, "Pss:").unwrap_or(0.0) * 1024.0 / MB)),
        // It has ended: its folder is gone, or stands empty until its parent has looked.
        Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => Ok(None),
        Err(_) if !Path::new(&format!("/proc/{pid}")).exists() => Ok(None),
        Err(error) => bail!("the memory of process {pid} cannot be read ({error}); run this as root"),
    }
}

/// Proportional memory, in MB, of a process, of its descendants, and of every process that names `folder` on its command line
/// with the descendants of those: a server of the folder that does not stand below us in the tree counts as well.
///
/// # Errors
/// When one of them may not be looked at.
pub(crate) fn proportional_mb(root: u32, folder: &Path) -> anyhow::Result<(f64, usize)> {
    let mut sum = 0.0;
    let processes = family(root, folder)?;
    for pid in &processes {
        sum += of_one_mb(*pid)?.unwrap_or(0.0);
    }
    Ok((sum, processes.len()))
}

fn family(root: u32, folder: &Path) -> anyhow::Result<BTreeSet<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut open = vec![root];
    let folder = folder.as_os_str().as_encoded_bytes();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        if let Some(parent) = parent_of(&stat) {
            children.entry(parent).or_default().push(pid);
        }
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if command.windows(folder.len()).any(|part| part == folder) {
            open.push(pid);
        }
    }
    let mut all = BTreeSet::new();
    while let Some(pid) = open.pop() {
        if all.insert(pid) {
            open.extend(children.remove(&pid).unwrap_or_default());
        }
    }
    Ok(all)
}

/// The parent in `/proc/PID/stat`: the second field after the name, which stands in parentheses and may hold anything.
fn parent_of(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The number of a line such as `VmHWM:   1234 kB`.
fn kib_of(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_read() {
        assert_eq!(parent_of("12 (a (b) c) S 7 12 12 0"), Some(7));
        assert_eq!(kib_of("VmPeak:\t 9 kB\nVmHWM:\t   1234 kB\n", "VmHWM:"), Some(1234.0));
        assert_eq!(kib_of("", "VmHWM:"), None);
    }

    #[test]
    fn this_process_has_a_size() {
        let own = std::process::id();
        assert!(peak_mb(own).unwrap() > 0.5);
        let (sum, count) = proportional_mb(own, Path::new("/no such folder")).unwrap();
        assert!(sum > 0.5 && count >= 1);
    }
}
