//! The real `stash`, started on a data folder of its own and stopped with this program.

use crate::http::{Access, Connection};
use crate::kafka::Kafka;
use anyhow::{Context as _, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a start may take.
const READY_MAX: Duration = Duration::from_secs(120);

/// Pause between two looks at whether it is ready; small beside the seconds that a start takes.
const LOOK: Duration = Duration::from_millis(5);

/// How long one look may take: the port is bound before anything answers on it.
const LOOK_MAX: Duration = Duration::from_secs(30);

/// How long it may take to stop before it is killed.
const STOP_MAX: Duration = Duration::from_secs(60);

/// Bytes of its log that are shown when it fails.
const LOG_SHOWN_BYTES: usize = 4000;

/// A data folder and how Stash runs on it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    program: PathBuf,
    /// The data folder.
    pub(crate) data: PathBuf,
    /// Settings that differ from the defaults.
    settings: Vec<(&'static str, String)>,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Its address, and a key once there is one.
    pub(crate) access: Access,
    /// From its start to the first 200 of `/readyz`.
    pub(crate) ready_after: Duration,
}

#[derive(Deserialize)]
struct NewKey {
    key: String,
}

impl Place {
    /// A folder whose log is in its Postgres, or in Kafka.
    pub(crate) fn new(program: &Path, data: PathBuf, log: Option<(&Kafka, String)>) -> Self {
        let settings = match log {
            None => vec![("STASH_LOG", "postgres".to_owned())],
            Some((kafka, topic)) => vec![
                ("STASH_LOG", "kafka".to_owned()),
                ("STASH_KAFKA_BROKERS", kafka.bootstrap().to_owned()),
                ("STASH_KAFKA_TOPIC", topic),
            ],
        };
        Self { program: program.to_owned(), data, settings }
    }

    /// With a setting of its own.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.settings.push((name, value.to_owned()));
        self
    }

    /// A command of the program on this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // What the caller's shell sets for its own server must not reach ours.
        for name in ["STASH_DATA", "STASH_LISTEN", "DATABASE_URL", "STASH_URL", "STASH_API_KEY"] {
            command.env_remove(name);
        }
        command.args(arguments).arg("--data").arg(&self.data).envs(self.settings.clone()).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end and returns what it prints.
    pub(crate) fn output(&self, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let output = self.command(arguments).output().context("stash cannot be run")?;
        if !output.status.success() {
            bail!("stash {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output.stdout)
    }

    /// Starts the server, waits until it is ready, and makes a key.
    pub(crate) async fn start(&self) -> anyhow::Result<Server> {
        let mut server = self.start_without_key().await?;
        let key: NewKey = serde_json::from_slice(&self.output(&["keys", "create", "--scope", "full", "--json"])?)
            .context("stash keys create printed something else than a key")?;
        server.access.key = key.key;
        Ok(server)
    }

    /// Starts the server and waits until it is ready.
    pub(crate) async fn start_without_key(&self) -> anyhow::Result<Server> {
        let address = free_address()?;
        let log = self.log();
        let begin = Instant::now();
        let mut command = self.command(&["up", "--no-sample", "--listen", &address.to_string()]);
        let child = command
            .stdout(Stdio::null())
            .stderr(File::options().create(true).append(true).open(&log)?)
            .spawn()
            .with_context(|| format!("{} cannot be run", self.program.display()))?;
        let access = Access { address, key: String::new() };
        let mut server = Server { child, access, ready_after: Duration::ZERO };
        while !is_ready(&server.access).await {
            if let Some(status) = server.child.try_wait()? {
                bail!("stash up ended with {status}:\n{}", self.log_end());
            }
            if begin.elapsed() > READY_MAX {
                bail!("stash up was not ready within {} s:\n{}", READY_MAX.as_secs(), self.log_end());
            }
            tokio::time::sleep(LOOK).await;
        }
        server.ready_after = begin.elapsed();
        Ok(server)
    }

    /// What the server says of itself goes beside the folder.
    fn log(&self) -> PathBuf {
        self.data.with_extension("log")
    }

    /// The end of it.
    fn log_end(&self) -> String {
        let bytes = std::fs::read(self.log()).unwrap_or_default();
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LOG_SHOWN_BYTES)..]).into_owned()
    }
}

impl Server {
    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        self.end()
    }

    fn end(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM)?;
        let begin = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begin.elapsed() > STOP_MAX {
                self.child.kill()?;
                self.child.wait()?;
                bail!("stash did not stop within {} s", STOP_MAX.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("{error:#}");
        }
    }
}

/// A port that was free a moment ago.
fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?)
}

async fn is_ready(access: &Access) -> bool {
    let look = async { Connection::open(access).await?.get_plain("/readyz").await };
    matches!(tokio::time::timeout(LOOK_MAX, look).await, Ok(Ok(answer)) if answer.status == 200)
}
