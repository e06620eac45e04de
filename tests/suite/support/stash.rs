//! The program.

use super::{Client, WAIT_MAX, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use stash_infra::testing::llm::LlmServer;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// The program with this data folder and nothing of the tester's own settings.
pub(crate) fn command(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stash"));
    command.args(arguments).stdin(Stdio::null());
    for name in
        ["STASH_URL", "STASH_API_KEY", "STASH_LISTEN", "STASH_LOG", "DATABASE_URL", "RM_COMPUTE", "RM_WORKER_COMPUTE"]
    {
        command.env_remove(name);
    }
    // Nothing of a test goes to a provider whose key the tester has set.
    command.env("RM_LEARNING_MODEL", "none").env("RM_TITLE_MODEL", "none");
    if std::env::var_os("RUST_LOG").is_none() {
        command.env("RUST_LOG", "warn");
    }
    command.env("STASH_DATA", data).env("XDG_STATE_HOME", data.with_extension("state"));
    if let Some(trainer) = std::env::var_os("STASH_TRAINER_BIN") {
        command.env("RM_TRAINER", trainer);
    }
    command
}

/// Runs a command to its end. Fails with what it said if it fails.
pub(crate) fn run(data: &Path, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = command(data, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "stash {} ended with {status}: {said}", arguments.join(" "));
    String::from_utf8(stdout).unwrap()
}

/// [`run`] with `--json`.
pub(crate) fn run_json(data: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&run(data, &[arguments, &["--json"]].concat())).unwrap()
}

/// A running server. Killed when dropped.
pub(crate) struct Stash {
    child: Child,
    data: PathBuf,
    lines: Receiver<String>,
    url: Option<String>,
}

impl Stash {
    /// `stash up` on a folder, on a free port, without the sample; ready when it returns.
    pub(crate) async fn up(data: &Path) -> Self {
        Self::up_with(data, &["--no-sample"]).await
    }

    /// `stash up` with further arguments.
    pub(crate) async fn up_with(data: &Path, arguments: &[&str]) -> Self {
        Self::up_at(data, "127.0.0.1:0", arguments).await
    }

    /// `stash up` with a model that judges, at this server, and a lease of jobs that soon runs out.
    pub(crate) async fn up_judged(data: &Path, judge: &LlmServer) -> Self {
        Self::up_asking(data, judge, &[("RM_LEARNING_MODEL", "hosted_vllm/judge"), ("STASH_JOB_LEASE_S", "3")]).await
    }

    /// `stash up` with language models at this server, and these settings of what for.
    pub(crate) async fn up_asking(data: &Path, llm: &LlmServer, settings: &[(&str, &str)]) -> Self {
        let mut command = command(data, &["up", "--listen", "127.0.0.1:0", "--no-sample"]);
        command.env("HOSTED_VLLM_API_BASE", llm.base()).envs(settings.iter().copied());
        Self::ready(Self::spawn(command, data)).await
    }

    /// Stops it in order and starts it again where it was.
    pub(crate) async fn restart(self) -> Self {
        let (data, address) = (self.data.clone(), self.url().replace("http://localhost", "127.0.0.1"));
        assert_eq!(self.terminate().code(), Some(0));
        Self::up_at(&data, address.trim_start_matches("http://"), &["--no-sample"]).await
    }

    async fn up_at(data: &Path, address: &str, arguments: &[&str]) -> Self {
        Self::ready(Self::spawn(command(data, &[&["up", "--listen", address], arguments].concat()), data)).await
    }

    /// Waits until it is ready.
    async fn ready(mut up: Self) -> Self {
        up.served();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let ready = format!("{}/readyz", up.url());
        eventually("readiness", async || {
            http.get(&ready).send().await.ok().filter(|answer| answer.status().is_success())
        })
        .await;
        up
    }

    /// A process whose standard output is read; its standard error is the test's.
    pub(crate) fn spawn(mut command: Command, data: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, data: data.to_owned(), lines, url: None }
    }

    /// What stands behind these words in the first line that has them.
    pub(crate) fn line(&mut self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(WAIT_MAX).expect("the program ended, or does not say what it should");
            if let Some((_, rest)) = line.split_once(words) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Waits until it says where it is.
    pub(crate) fn served(&mut self) {
        let address = self.line("Stash is at ");
        self.url = Some(address);
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap()
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// A client with the operator's key, as `stash up` left it in the data folder.
    pub(crate) fn operator(&self) -> Client {
        let text = std::fs::read_to_string(self.data.join("connection.json")).unwrap();
        let connection: Value = serde_json::from_str(&text).unwrap();
        self.client(connection["key"].as_str().unwrap())
    }

    /// A client with a key.
    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(self.url(), Some(key))
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    /// Stops it in order.
    pub(crate) fn terminate(self) -> ExitStatus {
        kill(self.pid(), Signal::SIGTERM).unwrap();
        self.ended()
    }

    /// How it ended; waits for it.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// `kill -9`
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Stash {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
