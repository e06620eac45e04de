//! Which code was measured, and on what.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Both.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The commit; `+changes` behind it when files differ from it.
    pub(crate) commit: String,
    /// Processor, cores, memory, kernel.
    pub(crate) description: String,
}

impl Machine {
    /// This one, at the repository's commit.
    pub(crate) fn look(repository: &Path) -> Self {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        // Its own results do not make the code another one.
        let changed =
            git(&["status", "--porcelain", "--", ":!bench/results.json"]).is_some_and(|text| !text.is_empty());
        let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
        Self { commit: if changed { format!("{commit}+changes") } else { commit }, description: describe() }
    }
}

/// Runnable processes over the last minute: what else the machine is doing before we begin.
pub(crate) fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// Cores that this program may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn describe() -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let kib = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let memory = kib.unwrap_or(0.0) / f64::from(1 << 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{processor}, {} cores, {memory:.0} GiB, Linux {}", cores(), kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_description() {
        let machine = Machine::look(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(machine.description.contains(" cores, "), "{machine:?}");
        assert!(!machine.commit.is_empty());
    }
}
