//! A Postgres server of our own, for the embedded default: made in the data folder, started with us, ended with us.
//!
//! ```text
//! DATA/stash.lock      held by the one process that works on the folder
//! DATA/pg              the cluster; stash.cluster in it says that it is ours
//! DATA/pg.socket       private folder of the Unix socket (in /tmp when the path would be too long); there is no TCP port
//! DATA/pg.log, .log.1  what the server says, bounded
//! ```
//!
//! What holds, and the tests check:
//! - starting never touches a cluster that is not ours, nor a process of another cluster;
//! - the server ends with this process, even by `kill -9` of either, and the next start recovers;
//! - an acknowledged transaction survives all that (`fsync`, `full_page_writes` and `synchronous_commit` are on);
//! - a second opener of the same folder is refused and told who holds it.

mod binaries;
mod cluster;
mod error;
mod leftovers;
mod lock;
mod server_log;
mod supervisor;
mod user;

pub use binaries::{Binaries, MAJOR_MIN, Search};
pub use error::EmbeddedError;
pub use supervisor::ServerState;

use cluster::{Layout, NAME, PORT};
use lock::FolderLock;
use nix::sys::signal::Signal;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use supervisor::{Server, Supervisor};
use tokio::sync::watch;
use user::ServerUser;

/// How long a server may take to accept connections when it does not say that it is recovering.
const READY_MAX: Duration = Duration::from_secs(30);

/// How long a recovery after a crash may take: at most `max_wal_size` of WAL is replayed, a minute on a slow disk.
const RECOVERY_MAX: Duration = Duration::from_secs(600);

/// Pause between attempts to connect.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(15);

/// How long a fast shutdown may take before an immediate one is asked for.
const STOP_FAST_MAX: Duration = Duration::from_secs(30);

/// How long an immediate shutdown may take.
const STOP_IMMEDIATE_MAX: Duration = Duration::from_secs(5);

/// The running server. Dropping it stops the server (fast shutdown) and waits for its end; [`EmbeddedPostgres::stop`] does so
/// without blocking the runtime.
#[derive(Debug)]
pub struct EmbeddedPostgres {
    supervisor: Supervisor,
    layout: Layout,
    socket: PathBuf,
    binaries: Binaries,
    /// Released last: the next opener may come when the server has ended.
    _lock: FolderLock,
}

impl EmbeddedPostgres {
    /// Starts the server on a data folder, which is made if it does not exist, and returns when it accepts connections.
    ///
    /// # Errors
    /// [`EmbeddedError`]; each says what to do. Nothing is left running.
    pub async fn start(data: &Path) -> Result<Self, EmbeddedError> {
        Self::start_with(data, Search::from_environment()).await
    }

    /// [`EmbeddedPostgres::start`] with the server's programs looked for elsewhere.
    ///
    /// # Errors
    /// As [`EmbeddedPostgres::start`].
    pub async fn start_with(data: &Path, search: Search) -> Result<Self, EmbeddedError> {
        let data = data.to_path_buf();
        let prepared = tokio::task::spawn_blocking(move || prepare(&data, &search)).await;
        let (lock, server) = match prepared {
            Ok(prepared) => prepared?,
            Err(error) => return Err(not_ready(format!("preparing it failed: {error}"), String::new())),
        };
        let (layout, socket) = (server.layout.clone(), server.socket.clone());
        let binaries = server.binaries.clone();
        let supervisor = Supervisor::start(server)
            .map_err(|error| not_ready(format!("no thread for it: {error}"), String::new()))?;
        let this = Self { supervisor, layout, socket, binaries, _lock: lock };
        if let Err(error) = this.wait_ready().await {
            this.stop().await;
            return Err(error);
        }
        this.supervisor.set_ready();
        Ok(this)
    }

    /// How to connect to it, as its superuser.
    pub fn connect_options(&self) -> PgConnectOptions {
        options(&self.socket)
    }

    /// The same as a URL, for a process of ours that is given `DATABASE_URL`.
    pub fn url(&self) -> String {
        url(&self.socket)
    }

    /// The server's state, to read or to wait on.
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.supervisor.state()
    }

    /// The server's programs.
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// Stops the server in order: open transactions are rolled back and a checkpoint is written, so that the next start is
    /// quick.
    pub async fn stop(self) {
        // The drop blocks, so it goes where blocking is allowed.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }

    async fn wait_ready(&self) -> Result<(), EmbeddedError> {
        let begin = Instant::now();
        let mut recovering = false;
        loop {
            let failure = match connect_or_create(&self.connect_options()).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if let ServerState::Failed(reason) = &*self.supervisor.state().borrow() {
                return Err(self.not_ready(reason.clone()));
            }
            if is_starting_up(&failure) && !recovering {
                recovering = true;
                tracing::info!("the embedded Postgres is starting up; after an unclean end it recovers first");
            }
            let at_most = if recovering { RECOVERY_MAX } else { READY_MAX };
            if begin.elapsed() > at_most {
                return Err(self.not_ready(format!("no connection within {} s: {failure}", at_most.as_secs())));
            }
            tokio::time::sleep(ATTEMPT_PAUSE).await;
        }
    }

    fn not_ready(&self, reason: String) -> EmbeddedError {
        not_ready(reason, server_log::tail(&self.layout.log))
    }
}

impl Drop for EmbeddedPostgres {
    fn drop(&mut self) {
        self.supervisor.stop(Signal::SIGINT);
        if self.supervisor.wait_ended(STOP_FAST_MAX) {
            return;
        }
        tracing::warn!("the embedded Postgres does not end; it is ended at once, and recovers when it starts next");
        self.supervisor.stop(Signal::SIGQUIT);
        self.supervisor.wait_ended(STOP_IMMEDIATE_MAX);
    }
}

/// How to connect to the server that another process runs on this data folder right now, if one does: for commands that work
/// beside a running Stash.
pub fn running(data: &Path) -> Option<PgConnectOptions> {
    running_socket(data).map(|socket| options(&socket))
}

/// [`running`] as a URL.
pub fn running_url(data: &Path) -> Option<String> {
    running_socket(data).map(|socket| url(&socket))
}

fn running_socket(data: &Path) -> Option<PathBuf> {
    let layout = Layout::of(&data.canonicalize().ok()?);
    leftovers::postmaster_of(&layout.cluster)?;
    // Line 5 of the pid file is the first socket folder.
    let text = std::fs::read_to_string(layout.cluster.join("postmaster.pid")).ok()?;
    text.lines().nth(4).filter(|line| !line.is_empty()).map(PathBuf::from)
}

/// Everything that comes before the server's process. Blocks.
fn prepare(data: &Path, search: &Search) -> Result<(FolderLock, Server), EmbeddedError> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(EmbeddedError::file("make", data))?;
    let data = data.canonicalize().map_err(EmbeddedError::file("find", data))?;
    let lock = FolderLock::acquire(&data)?;
    let layout = Layout::of(&data);
    let existing = layout.existing_major()?;
    let user = ServerUser::choose(&layout.cluster, &data)?;
    if let Some(user) = &user {
        user.let_into(&data)?;
    }
    let binaries = search.find(existing)?;
    if existing.is_none() {
        tracing::info!(folder = %layout.cluster.display(), version = binaries.major, "making a Postgres cluster");
        layout.make(&binaries, user.as_ref())?;
    } else if let Some(user) = &user {
        user.check_reach(&binaries, &layout.cluster)?;
    }
    let socket = layout.socket_folder(user.as_ref())?;
    leftovers::clear(&layout.cluster, &socket)?;
    layout.configure(binaries.major, &socket, user.as_ref())?;
    Ok((lock, Server { binaries, layout, user, socket }))
}

/// Connects once; makes the database if the cluster is new.
async fn connect_or_create(options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    match PgConnection::connect_with(options).await {
        Ok(connection) => connection.close().await,
        Err(error) if code_of(&error).as_deref() == Some("3D000") => {
            let mut connection = PgConnection::connect_with(&options.clone().database("postgres")).await?;
            sqlx::raw_sql(include_str!("create_database.sql")).execute(&mut connection).await?;
            connection.close().await
        }
        Err(error) => Err(error),
    }
}

/// Whether the server says that it is starting up or recovering: `cannot_connect_now`.
fn is_starting_up(error: &sqlx::Error) -> bool {
    code_of(error).as_deref() == Some("57P03")
}

fn code_of(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

fn options(socket: &Path) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket)
        .port(PORT)
        .username(NAME)
        .database(NAME)
        .application_name("stash")
        .disable_statement_logging()
}

fn url(socket: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let encoded: String = socket
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("postgres://{NAME}@localhost:{PORT}/{NAME}?host={encoded}")
}

fn not_ready(reason: String, log: String) -> EmbeddedError {
    EmbeddedError::NotReady { reason, log }
}
