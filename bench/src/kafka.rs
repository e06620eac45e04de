//! A broker for the figures whose log is in Kafka, started by the repository's own script and gone with this program.

use anyhow::{Context as _, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A running broker.
#[derive(Debug)]
pub(crate) struct Kafka {
    scripts: PathBuf,
    folder: PathBuf,
    bootstrap: String,
}

impl Kafka {
    /// Starts one with its data in `folder`.
    pub(crate) fn start(repository: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        let scripts = repository.join("infra/kafka");
        let output = Command::new(scripts.join("start.sh"))
            .args(["--brokers", "1", "--port", "0", "--owner", &std::process::id().to_string(), "--dir"])
            .arg(&folder)
            .stdin(Stdio::null())
            .output()
            .context("infra/kafka/start.sh cannot be run")?;
        if !output.status.success() {
            bail!("no Kafka broker: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let bootstrap = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { scripts, folder, bootstrap })
    }

    /// Its address, for clients.
    pub(crate) fn bootstrap(&self) -> &str {
        &self.bootstrap
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        let mut stop = Command::new(self.scripts.join("stop.sh"));
        // If this fails, the script that was told our process id ends the broker.
        let _ = stop.args(["--kill", "--dir"]).arg(&self.folder).stdout(Stdio::null()).status();
    }
}
