//! A throw-away Kafka cluster in a temporary folder, started by `infra/kafka/start.sh`.

use super::{leash, made};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;

/// The scripts that start and stop brokers.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kafka");

/// Waits until the test process is gone, then ends the brokers and removes the folder.
const JANITOR: &str = r#"
read -r _
"$2/stop.sh" --dir "$1/brokers" --kill >/dev/null 2>&1
rm -rf "$1"
"#;

/// Running brokers. They end with the test process, or when dropped.
pub struct Kafka {
    folder: PathBuf,
    bootstrap: String,
    janitor: Child,
    leash: Option<ChildStdin>,
}

/// The single broker that all tests of this process share; started by the first that asks.
pub fn kafka() -> &'static Kafka {
    static SHARED: OnceLock<Kafka> = OnceLock::new();
    SHARED.get_or_init(|| Kafka::start(1))
}

impl Kafka {
    /// Starts a cluster of its own, of one broker or three. Takes seconds.
    ///
    /// # Panics
    /// When there is no Kafka or no Java, or it does not start; the text says what to do.
    pub fn start(brokers: u8) -> Self {
        let folder = made(tempfile::Builder::new().prefix("stash-kafka").tempdir(), "a temporary folder").keep();
        let mut janitor = Command::new("/bin/sh");
        janitor.args(["-c", JANITOR, "janitor"]).arg(&folder).arg(SCRIPTS);
        let (janitor, leash) = leash(janitor);
        let mut cluster = Self { folder, bootstrap: String::new(), janitor, leash: Some(leash) };
        cluster.bootstrap = cluster.run("start.sh", &["--brokers", &brokers.to_string(), "--port", "0"]);
        cluster
    }

    /// The brokers' addresses, for clients.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// The folder that the brokers' folder `brokers` is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kills one broker (1, 2 or 3); its data stay.
    ///
    /// # Panics
    /// When it cannot be stopped.
    pub fn kill(&self, broker: u8) {
        self.run("stop.sh", &["--node", &broker.to_string(), "--kill"]);
    }

    /// Starts every broker that does not run.
    ///
    /// # Panics
    /// When one does not come up.
    pub fn start_again(&self) {
        self.run("start.sh", &[]);
    }

    /// Runs a script on this cluster's folder and returns its output.
    fn run(&self, script: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(Path::new(SCRIPTS).join(script));
        command.arg("--dir").arg(self.folder.join("brokers")).args(arguments).stdin(Stdio::null());
        let Output { status, stdout, stderr } = made(command.output(), script);
        assert!(status.success(), "this test needs Kafka; {script} says: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8_lossy(&stdout).trim().to_owned()
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        drop(self.leash.take());
        // Nothing can be done here if the janitor fails.
        let _ = self.janitor.wait();
    }
}
