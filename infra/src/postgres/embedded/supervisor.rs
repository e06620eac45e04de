//! The thread that owns the server process.
//!
//! It must be one thread for the server's whole life: the kernel sends the parent-death signal when the *thread* that started
//! the child ends, not when its process does.
//!
//! 1. Start the server; its standard error goes to the log through a second thread.
//! 2. Wait for its end without reaping it, so that its process id cannot become another's while [`Supervisor::stop`] signals.
//! 3. Asked to stop: done. Ended by itself after having been ready (killed, say): clear what it left and start again, at most
//!    [`RESTARTS_MAX`] times per [`RESTARTS_WITHIN`]. Ended before it was ever ready: failed.

use super::binaries::Binaries;
use super::cluster::{Layout, server_command};
use super::user::ServerUser;
use super::{leftovers, server_log};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Restarts within [`RESTARTS_WITHIN`] before the server counts as broken.
const RESTARTS_MAX: usize = 10;

/// See [`RESTARTS_MAX`].
const RESTARTS_WITHIN: Duration = Duration::from_secs(60);

/// Pause before a restart, so that a server which always fails at once does not spin.
const RESTART_PAUSE: Duration = Duration::from_millis(50);

/// How the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// A process runs; it may still be recovering.
    Running {
        /// Process id of the postmaster.
        pid: u32,
    },
    /// It ended by itself and is being started again.
    Restarting,
    /// It was asked to stop, and did.
    Stopped,
    /// It could not be started, or ended too often.
    Failed(String),
}

/// What the thread and its owner share.
#[derive(Debug, Default)]
struct Shared {
    /// The server's process, until it is reaped.
    pid: Option<Pid>,
    /// Whether the owner wants it to end.
    stopping: bool,
    /// Whether it was ever ready: before that, an end is a failure and no accident.
    was_ready: bool,
}

/// Handle on the thread.
#[derive(Debug)]
pub(super) struct Supervisor {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    state: watch::Receiver<ServerState>,
}

/// What is started.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) binaries: Binaries,
    pub(super) layout: Layout,
    pub(super) user: Option<ServerUser>,
    pub(super) socket: PathBuf,
}

impl Supervisor {
    /// Starts the thread, and the server on it.
    pub(super) fn start(server: Server) -> std::io::Result<Self> {
        let shared = Arc::new((Mutex::new(Shared::default()), Condvar::new()));
        let (tell, state) = watch::channel(ServerState::Restarting);
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("stash-postgres".into()).spawn(move || supervise(&server, &theirs, &tell))?;
        Ok(Self { shared, state })
    }

    /// The server's state, to read or to wait on.
    pub(super) fn state(&self) -> watch::Receiver<ServerState> {
        self.state.clone()
    }

    /// From now on an unexpected end is mended by a restart.
    pub(super) fn set_ready(&self) {
        lock(&self.shared.0).was_ready = true;
    }

    /// Asks the server to end: with `SIGINT` for a fast shutdown (open transactions are rolled back, a checkpoint is
    /// written), with `SIGQUIT` for an immediate one (the next start recovers).
    pub(super) fn stop(&self, signal: Signal) {
        let mut shared = lock(&self.shared.0);
        shared.stopping = true;
        if let Some(pid) = shared.pid {
            // Not reaped yet, so the id is still this server's.
            let _ = kill(pid, signal);
        }
        self.shared.1.notify_all();
    }

    /// Blocks until the server has ended, or the time is over; says whether it has.
    pub(super) fn wait_ended(&self, at_most: Duration) -> bool {
        let deadline = Instant::now() + at_most;
        let mut shared = lock(&self.shared.0);
        while shared.pid.is_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            shared = self.shared.1.wait_timeout(shared, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

fn lock(mutex: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // The fields are plain values, valid whatever a panicking holder did.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn supervise(server: &Server, shared: &(Mutex<Shared>, Condvar), tell: &watch::Sender<ServerState>) {
    let mut ends: Vec<Instant> = Vec::new();
    loop {
        let mut child = {
            let mut shared = lock(&shared.0);
            if shared.stopping {
                break;
            }
            match spawn(server) {
                Ok(child) => {
                    shared.pid = i32::try_from(child.id()).ok().map(Pid::from_raw);
                    child
                }
                Err(error) => {
                    let _ = tell.send(ServerState::Failed(format!("it cannot be started: {error}")));
                    return;
                }
            }
        };
        let _ = tell.send(ServerState::Running { pid: child.id() });
        pump_log(server, &mut child);
        wait_for_end(&child);
        let (stopping, was_ready) = {
            let mut guard = lock(&shared.0);
            let status = child.wait();
            guard.pid = None;
            shared.1.notify_all();
            if !guard.stopping {
                tracing::warn!(?status, "the embedded Postgres ended by itself");
            }
            (guard.stopping, guard.was_ready)
        };
        if stopping {
            break;
        }
        ends.retain(|end| end.elapsed() < RESTARTS_WITHIN);
        ends.push(Instant::now());
        if !was_ready || ends.len() > RESTARTS_MAX {
            let why = if was_ready { "it ended too often" } else { "it ended before it was ready" };
            let _ = tell.send(ServerState::Failed(why.to_owned()));
            return;
        }
        let _ = tell.send(ServerState::Restarting);
        if let Err(error) = leftovers::clear(&server.layout.cluster, &server.socket) {
            let _ = tell.send(ServerState::Failed(error.to_string()));
            return;
        }
        let guard = lock(&shared.0);
        let _ = shared.1.wait_timeout_while(guard, RESTART_PAUSE, |shared| !shared.stopping);
    }
    let _ = tell.send(ServerState::Stopped);
}

fn spawn(server: &Server) -> std::io::Result<Child> {
    let mut command = server_command(&server.binaries, "postgres", server.user.as_ref());
    command.arg("-D").arg(&server.layout.cluster).current_dir(&server.layout.cluster);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    end_with_parent(&mut command);
    command.spawn()
}

/// Makes the kernel send the child a fast-shutdown signal when we end, however we end.
#[allow(unsafe_code, reason = "a parent-death signal can only be set in the child, between fork and exec")]
fn end_with_parent(command: &mut Command) {
    let parent = nix::unistd::getpid();
    let in_child = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGINT)?;
        // We may have ended before the line above, and then nobody would ever send the signal.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: the closure runs in the child of a possibly multi-threaded process, so it may only do what is safe in a signal
    // handler: it makes two system calls and builds error values that need no memory. It runs after the change of user, which
    // would reset the setting.
    unsafe {
        command.pre_exec(in_child);
    }
}

fn pump_log(server: &Server, child: &mut Child) {
    let Some(stderr) = child.stderr.take() else { return };
    let log = server.layout.log.clone();
    let pump = move || server_log::pump(stderr, &log);
    if let Err(error) = std::thread::Builder::new().name("stash-postgres-log".into()).spawn(pump) {
        tracing::warn!(%error, "the log of the embedded Postgres is lost");
    }
}

/// Blocks until the child has ended, and leaves it unreaped.
fn wait_for_end(child: &Child) {
    let Ok(pid) = i32::try_from(child.id()) else { return };
    loop {
        match waitid(Id::Pid(Pid::from_raw(pid)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
            Err(nix::errno::Errno::EINTR) => {}
            _ => return,
        }
    }
}
