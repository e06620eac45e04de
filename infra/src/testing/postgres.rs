//! A throw-away Postgres cluster in a temporary folder, reachable by a Unix socket alone.

use super::{leash, made};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Longest wait for a server to answer: a cold machine with two busy cores needs a few seconds.
const START_DEADLINE: Duration = Duration::from_secs(60);

/// How often a starting server is tried.
const START_POLL: Duration = Duration::from_millis(20);

/// The event log's tables and functions.
const LOG_TABLES: &str = include_str!("../../../migrations/0001_event_log.sql");

/// Waits until the test process is gone (its end of the pipe closes however it dies), then ends the server and removes the
/// folder. Bounded: 100 × 0.1 s.
const JANITOR: &str = r#"
read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
rm -rf "$1"
"#;

/// Whether the server flushes what it acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// No flush: for tests that never cut the power. Several times faster.
    None,
    /// As in production.
    Full,
}

/// A running cluster. It ends with the test process, or when dropped.
pub struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    user: Option<(u32, u32)>,
    durability: Durability,
    server: Mutex<Option<Child>>,
    databases: AtomicU32,
    janitor: Child,
    /// Closing it is what the janitor waits for.
    leash: Option<ChildStdin>,
}

/// The cluster that all tests of this process share, without flushes; started by the first that asks.
pub fn postgres() -> &'static Postgres {
    static SHARED: OnceLock<Postgres> = OnceLock::new();
    SHARED.get_or_init(|| Postgres::start(Durability::None))
}

impl Postgres {
    /// Makes and starts a cluster of its own.
    ///
    /// # Panics
    /// When there is no Postgres, or it does not start; the text says what to do.
    pub fn start(durability: Durability) -> Self {
        let programs = find_programs();
        let user = unprivileged_user();
        let folder = made(tempfile::Builder::new().prefix("stash-pg").tempdir(), "a temporary folder").keep();
        if let Some((uid, gid)) = user {
            made(std::os::unix::fs::chown(&folder, Some(uid), Some(gid)), "the temporary folder's owner");
        }
        let mut janitor = command(Path::new("/bin/sh"), user, &folder);
        janitor.args(["-c", JANITOR, "janitor"]).arg(&folder);
        let (janitor, leash) = leash(janitor);

        let mut initdb = command(&programs.join("initdb"), user, &folder);
        initdb.arg("-D").arg(folder.join("data")).args([
            "-U",
            "stash",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        ]);
        let output = made(initdb.output(), "initdb");
        assert!(output.status.success(), "initdb failed: {}", String::from_utf8_lossy(&output.stderr));

        let server = Mutex::new(None);
        let databases = AtomicU32::new(0);
        let cluster = Self { folder, programs, user, durability, server, databases, janitor, leash: Some(leash) };
        cluster.launch();
        cluster
    }

    /// How to connect to one of its databases.
    pub fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass().socket(&self.folder).port(5432).username("stash").database(database)
    }

    /// A new database without tables.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn database(&self) -> PgPool {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let create = AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0"));
        let mut connection = made(PgConnection::connect_with(&self.options("postgres")).await, "a connection");
        made(sqlx::raw_sql(create).execute(&mut connection).await, "a database");
        made(connection.close().await, "the end of a connection");
        PgPoolOptions::new().max_connections(8).connect_lazy_with(self.options(&name))
    }

    /// A new database with the event log's tables.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn log_database(&self) -> PgPool {
        let pool = self.database().await;
        made(sqlx::raw_sql(LOG_TABLES).execute(&pool).await, "the event log's tables");
        pool
    }

    /// Crashes the server: nothing is written any more, and it recovers from its journal when it starts again.
    ///
    /// # Panics
    /// When it does not run.
    pub fn crash(&self) {
        self.end(nix::sys::signal::Signal::SIGQUIT);
    }

    /// Ends the server as an administrator's fast shutdown does; its data stay.
    ///
    /// # Panics
    /// When it does not run.
    pub fn stop(&self) {
        self.end(nix::sys::signal::Signal::SIGINT);
    }

    /// Starts the server again after [`Self::crash`] or [`Self::stop`].
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start_again(&self) {
        self.launch();
    }

    fn end(&self, signal: nix::sys::signal::Signal) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = server.take() else { panic!("Postgres does not run") };
        let pid = nix::unistd::Pid::from_raw(made(i32::try_from(child.id()), "a process id"));
        made(nix::sys::signal::kill(pid, signal), "a signal to Postgres");
        made(child.wait(), "the end of Postgres");
    }

    fn launch(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(server.is_none(), "Postgres runs already");
        let log = made(std::fs::OpenOptions::new().create(true).append(true).open(self.log()), "Postgres' log");
        let mut postgres = command(&self.programs.join("postgres"), self.user, &self.folder);
        postgres.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        let flush = if self.durability == Durability::Full { "on" } else { "off" };
        for setting in [
            "listen_addresses=",
            "max_connections=200",
            "jit=off",
            &format!("fsync={flush}"),
            &format!("full_page_writes={flush}"),
        ] {
            postgres.arg("-c").arg(setting);
        }
        let mut child = made(postgres.stderr(log).process_group(0).spawn(), "postgres");
        self.wait_until_it_answers(&mut child);
        *server = Some(child);
    }

    /// Tries to connect, outside any runtime of the caller, until the server answers a query.
    fn wait_until_it_answers(&self, server: &mut Child) {
        let options = self.options("postgres");
        let answers = || async {
            let mut connection = PgConnection::connect_with(&options).await?;
            connection.ping().await?;
            connection.close().await
        };
        std::thread::scope(|scope| {
            let tries = scope.spawn(|| {
                let runtime = made(tokio::runtime::Builder::new_current_thread().enable_all().build(), "a runtime");
                let give_up = std::time::Instant::now() + START_DEADLINE;
                while runtime.block_on(answers()).is_err() {
                    let ended = made(server.try_wait(), "the state of Postgres");
                    if ended.is_some() || std::time::Instant::now() > give_up {
                        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
                        panic!("Postgres did not start ({ended:?}):\n{log}");
                    }
                    std::thread::sleep(START_POLL);
                }
            });
            if let Err(failure) = tries.join() {
                std::panic::resume_unwind(failure);
            }
        });
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.server.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            self.crash();
        }
        drop(self.leash.take());
        // The janitor removes the folder; nothing can be done here if it fails.
        let _ = self.janitor.wait();
    }
}

/// A command that runs as `user` when that is given, in `folder`, without input or output of its own.
fn command(program: &Path, user: Option<(u32, u32)>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).env_remove("PGDATA");
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

/// Postgres refuses to run as root: then it runs as `postgres`, or else as `nobody`.
fn unprivileged_user() -> Option<(u32, u32)> {
    if !nix::unistd::Uid::effective().is_root() {
        return None;
    }
    let user = ["postgres", "nobody"].iter().find_map(|name| nix::unistd::User::from_name(name).ok().flatten());
    let Some(user) = user else { panic!("no user postgres or nobody to run Postgres as: it refuses to run as root") };
    Some((user.uid.as_raw(), user.gid.as_raw()))
}

/// The folder of `initdb` and `postgres`: STASH_POSTGRES_BIN, else PATH, else Debian's newest.
fn find_programs() -> PathBuf {
    let named = std::env::var_os("STASH_POSTGRES_BIN").filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    debian.sort();
    let places = match named {
        Some(folder) => vec![folder],
        None => std::env::split_paths(&path).chain(debian.into_iter().rev()).collect(),
    };
    let found = places.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file());
    match found {
        Some(folder) => folder,
        None => panic!(
            "this test needs Postgres: no initdb and postgres in STASH_POSTGRES_BIN, PATH or /usr/lib/postgresql; \
             on Debian: apt-get install postgresql"
        ),
    }
}
