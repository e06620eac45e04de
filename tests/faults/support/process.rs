//! A process of the deployment, and the trainers that its worker starts.

use super::VARIABLES;
use super::site::Site;
use super::small_disk::SmallDisk;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a role to answer that it is ready.
const READY_MAX: Duration = Duration::from_secs(60);

/// A role of `stash serve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Answers requests.
    Api,
    /// Writes the read models.
    Projector,
    /// Trains and scores.
    Worker,
}

impl Role {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Api, Self::Projector, Self::Worker];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Projector => "projector",
            Self::Worker => "worker",
        }
    }
}

/// A running role. Killed when dropped; if the test itself is killed, the site's janitor does it.
pub(crate) struct Process {
    role: Role,
    url: String,
    log: PathBuf,
    child: Child,
}

impl Process {
    /// Starts a role of the site; it has the same address each time.
    pub(crate) fn spawn(site: &Site, role: Role) -> Self {
        let mut command = SmallDisk::command();
        command.args(["serve", "--role", role.name(), "--listen", &site.address(role)]);
        Self::start(command, site, role, site.folder())
    }

    /// Starts everything in one process, with a Postgres of its own.
    pub(crate) fn up(site: &Site) -> Self {
        let mut command = SmallDisk::command();
        command.args(["up", "--no-sample", "--listen", &site.address(Role::Api)]);
        // Its log on the same disk, as in a small installation: a full one must not stop it for want of a line.
        Self::start(command, site, Role::Api, &site.data())
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn start(mut command: Command, site: &Site, role: Role, logs: &Path) -> Self {
        let log = logs.join(format!("{}.log", role.name()));
        let out = File::options().create(true).append(true).open(&log).expect("the role's log");
        for name in VARIABLES {
            command.env_remove(name);
        }
        // In a group of its own, so that Ctrl-C in a terminal leaves its end to the janitor.
        command.envs(site.environment()).stdin(Stdio::null()).process_group(0);
        command.stdout(out.try_clone().expect("the role's log")).stderr(out);
        let child = command.spawn().expect("the program stash starts");
        Self { role, url: format!("http://{}", site.address(role)), log, child }
    }

    /// Kills it as `kill -9` does and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.assert_alive();
        self.child.kill().expect("a signal");
        self.child.wait().expect("the end of a killed process");
    }

    /// Fails if it has ended by itself.
    pub(crate) fn assert_alive(&mut self) {
        if let Some(status) = self.child.try_wait().expect("the state of a process") {
            panic!("the {} ended by itself ({status}):\n{}", self.role.name(), tail(&self.log));
        }
    }

    /// Waits until it says that it is ready.
    pub(crate) async fn ready(&mut self, http: &reqwest::Client) {
        let begin = Instant::now();
        loop {
            self.assert_alive();
            let answer = http.get(format!("{}/readyz", self.url)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            assert!(
                begin.elapsed() < READY_MAX,
                "the {} was not ready within {READY_MAX:?}:\n{}",
                self.role.name(),
                tail(&self.log)
            );
            tokio::time::sleep(super::LOOK).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a log, for a failed test.
fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Process ids of the site's trainers, found by the data folder in their environment, whoever their parent is by now.
pub(crate) fn trainers(site: &Site) -> Vec<i32> {
    let mark = format!("STASH_DATA={}", site.data().display());
    let ours = |pid: &i32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        name.trim() == "stash-trainer" && environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(ours).collect()
}

/// Kills one of the site's trainers. `false`: it has ended already.
pub(crate) fn kill_trainer(site: &Site, pid: i32) -> bool {
    trainers(site).contains(&pid) && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok()
}
