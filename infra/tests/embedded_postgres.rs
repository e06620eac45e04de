//! The embedded Postgres under real conditions: real server, real signals, and the process that holds it killed for real.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Row as _};
use stash_infra::config::{Environment, PostgresSettings};
use stash_infra::postgres::Database;
use stash_infra::postgres::embedded::{self, EmbeddedError, EmbeddedPostgres, ServerState};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Set for the process that other tests start and kill: the data folder it holds.
const HOLD: &str = "STASH_TEST_HOLD_DATA";

/// Not a test by itself: the body of the process that the tests below start from this same binary.
#[test]
fn holder() {
    let Some(data) = std::env::var_os(HOLD) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match runtime.block_on(EmbeddedPostgres::start(Path::new(&data))) {
        Ok(server) => {
            let ServerState::Running { pid } = *server.state().borrow() else { panic!("not running") };
            // Straight to the file descriptor: the test harness swallows what goes through print.
            writeln!(std::io::stdout(), "\nREADY {pid}").unwrap();
            let mut line = String::new();
            let _ = std::io::stdin().read_line(&mut line);
            runtime.block_on(server.stop());
        }
        Err(error) => writeln!(std::io::stdout(), "\nREFUSED {error}").unwrap(),
    }
}

struct Holder {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    /// What it said: READY with the postmaster's id, or REFUSED with the reason.
    said: String,
}

impl Holder {
    fn start(data: &Path) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), data)
    }

    fn spawn(mut command: Command, data: &Path) -> Self {
        command.args(["holder", "--exact", "--nocapture"]).env(HOLD, data);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = stdout
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.starts_with("READY") || line.starts_with("REFUSED"))
            .expect("the holder ended without a word");
        Self { stdin: child.stdin.take(), child, stdout, said }
    }

    fn postmaster(&self) -> i32 {
        self.said.strip_prefix("READY ").expect(&self.said).parse().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn stop(mut self) {
        drop(self.stdin.take());
        self.stdout.by_ref().for_each(drop);
        assert!(self.child.wait().unwrap().success());
    }
}

async fn connect(server: &EmbeddedPostgres) -> PgConnection {
    PgConnection::connect_with(&server.connect_options()).await.unwrap()
}

async fn write_row(connection: &mut PgConnection, number: i64) {
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS kept (number BIGINT PRIMARY KEY)")
        .execute(&mut *connection)
        .await
        .unwrap();
    sqlx::query("INSERT INTO kept VALUES ($1)").bind(number).execute(&mut *connection).await.unwrap();
}

async fn rows(connection: &mut PgConnection) -> Vec<i64> {
    sqlx::query_scalar("SELECT number FROM kept ORDER BY number").fetch_all(connection).await.unwrap()
}

/// Waits until the process is gone or a zombie; a bound makes a failure a failure instead of a hang.
fn wait_gone(pid: i32) {
    for _ in 0..60_000 {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return,
            Ok(stat) if stat.contains(") Z ") => return,
            Ok(_) => std::thread::yield_now(),
        }
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    panic!("process {pid} still runs");
}

#[tokio::test]
async fn a_fresh_folder_gets_a_private_durable_cluster_and_keeps_its_data() {
    let data = tempfile::tempdir().unwrap();
    let server = EmbeddedPostgres::start(data.path()).await.unwrap();
    let mut connection = connect(&server).await;
    for (setting, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("jit", "off"),
    ] {
        let found: String =
            sqlx::query_scalar("SELECT current_setting($1)").bind(setting).fetch_one(&mut connection).await.unwrap();
        assert_eq!(found, value, "{setting}");
    }
    let row = sqlx::query("SELECT current_database(), current_user::text").fetch_one(&mut connection).await.unwrap();
    assert_eq!((row.get::<String, _>(0), row.get::<String, _>(1)), ("stash".into(), "stash".into()));
    let socket = data.path().join("pg.socket");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o700);
    write_row(&mut connection, 1).await;
    connection.close().await.unwrap();

    // Another program on the machine finds it.
    let beside = embedded::running(data.path()).expect("a running server is found");
    PgConnection::connect_with(&beside).await.unwrap().close().await.unwrap();
    let url = embedded::running_url(data.path()).unwrap();
    assert_eq!(url, server.url());
    PgConnection::connect(&url).await.unwrap().close().await.unwrap();

    server.stop().await;
    assert!(embedded::running(data.path()).is_none());
    let server = EmbeddedPostgres::start(data.path()).await.unwrap();
    assert_eq!(rows(&mut connect(&server).await).await, [1]);
    server.stop().await;
}

#[tokio::test]
async fn a_killed_postmaster_comes_back_with_every_acknowledged_row() {
    let data = tempfile::tempdir().unwrap();
    let server = EmbeddedPostgres::start(data.path()).await.unwrap();
    for number in 1..=3 {
        write_row(&mut connect(&server).await, number).await;
        let mut state = server.state();
        let ServerState::Running { pid } = state.borrow_and_update().clone() else { panic!("not running") };
        kill(Pid::from_raw(pid.try_into().unwrap()), Signal::SIGKILL).unwrap();
        let again = state
            .wait_for(|state| matches!(state, ServerState::Running { pid: new } if *new != pid))
            .await
            .unwrap()
            .clone();
        assert_ne!(again, ServerState::Running { pid });
        // It may still be recovering: ask until it answers, as pools do.
        let mut connection = loop {
            match PgConnection::connect_with(&server.connect_options()).await {
                Ok(connection) => break connection,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        assert_eq!(rows(&mut connection).await, (1..=number).collect::<Vec<_>>());
    }
    server.stop().await;
}

#[test]
fn when_its_holder_is_killed_the_server_ends_and_the_next_one_recovers() {
    let data = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for number in 1..=3 {
        let holder = Holder::start(data.path());
        let postmaster = holder.postmaster();
        let options = embedded::running(data.path()).unwrap();
        runtime.block_on(async {
            let mut connection = PgConnection::connect_with(&options).await.unwrap();
            write_row(&mut connection, number).await;
            assert_eq!(rows(&mut connection).await, (1..=number).collect::<Vec<_>>());
        });
        holder.kill();
        if number % 2 == 0 {
            wait_gone(postmaster);
        } // else the next one meets a server that is still shutting down, and waits for it
    }
    let holder = Holder::start(data.path());
    holder.stop();
}

#[test]
fn holder_and_postmaster_killed_together_leave_nothing_that_blocks_the_next_start() {
    let data = tempfile::tempdir().unwrap();
    let holder = Holder::start(data.path());
    let postmaster = holder.postmaster();
    // The postmaster first, stopped, so that it cannot react to the end of its parent.
    kill(Pid::from_raw(postmaster), Signal::SIGSTOP).unwrap();
    holder.kill();
    kill(Pid::from_raw(postmaster), Signal::SIGKILL).unwrap();
    assert!(data.path().join("pg/postmaster.pid").exists());
    let again = Holder::start(data.path());
    assert_ne!(again.postmaster(), postmaster);
    again.stop();
}

#[test]
fn a_server_that_outlived_its_holder_is_stopped_and_replaced() {
    let data = tempfile::tempdir().unwrap();
    let holder = Holder::start(data.path());
    let orphan = holder.postmaster();
    kill(Pid::from_raw(orphan), Signal::SIGSTOP).unwrap();
    holder.kill();
    // It wakes up only now, as one would whose parent-death signal was lost.
    let waker = std::thread::spawn(move || kill(Pid::from_raw(orphan), Signal::SIGCONT).unwrap());
    let again = Holder::start(data.path());
    waker.join().unwrap();
    wait_gone(orphan);
    again.stop();
}

#[tokio::test]
async fn a_second_opener_is_refused_and_told_who_is_there() {
    let data = tempfile::tempdir().unwrap();
    let server = EmbeddedPostgres::start(data.path()).await.unwrap();
    let error = EmbeddedPostgres::start(data.path()).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::InUse { .. }));
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    let other = Holder::start(data.path());
    assert!(other.said.starts_with("REFUSED"), "{}", other.said);
    // The refusal did no harm.
    connect(&server).await.close().await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_cluster_that_stash_did_not_make_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    EmbeddedPostgres::start(data.path()).await.unwrap().stop().await;
    std::fs::remove_file(data.path().join("pg/stash.cluster")).unwrap();
    let error = EmbeddedPostgres::start(data.path()).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::NotOurs(_)), "{error}");
    assert!(data.path().join("pg/PG_VERSION").exists());
}

#[test]
fn an_ordinary_user_needs_no_root() {
    let data = tempfile::tempdir().unwrap();
    let holder = if nix::unistd::geteuid().is_root() {
        // The build folder may be out of that user's reach.
        let programs = tempfile::tempdir().unwrap();
        std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let copy = programs.path().join("holder");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
        nix::unistd::chown(data.path(), Some(nobody.uid), Some(nobody.gid)).unwrap();
        let mut command = Command::new(&copy);
        command.uid(nobody.uid.as_raw()).gid(nobody.gid.as_raw()).current_dir("/");
        Holder::spawn(command, data.path())
    } else {
        Holder::start(data.path())
    };
    holder.postmaster();
    holder.stop();
}

#[tokio::test]
async fn as_root_a_folder_that_the_server_user_cannot_reach_is_named() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let data = closed.path().join("data");
    let error = EmbeddedPostgres::start(&data).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, EmbeddedError::NotReachable { .. }), "{text}");
    assert!(text.contains(&format!("chmod o+x {}", closed.path().canonicalize().unwrap().display())), "{text}");
    // Once it is mended, the same folder does.
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    EmbeddedPostgres::start(&data).await.unwrap().stop().await;
}

#[tokio::test]
async fn a_data_folder_with_a_long_path_is_no_obstacle() {
    let data = tempfile::tempdir().unwrap();
    let deep = data.path().join("x".repeat(100));
    let server = EmbeddedPostgres::start(&deep).await.unwrap();
    connect(&server).await.close().await.unwrap();
    let socket = server.connect_options().get_socket().unwrap().clone();
    assert!(socket.starts_with("/tmp"), "{}", socket.display());
    server.stop().await;
    std::fs::remove_dir_all(socket).unwrap();
}

#[tokio::test]
async fn a_command_uses_the_running_server_or_starts_one_for_itself() {
    let data = tempfile::tempdir().unwrap();
    let settings = PostgresSettings::read(&Environment::default()).unwrap();
    let own = Database::reach(&settings, data.path()).await.unwrap();
    assert!(own.embedded().is_some());
    let beside = Database::reach(&settings, data.path()).await.unwrap();
    assert!(beside.embedded().is_none());
    PgConnection::connect_with(beside.options()).await.unwrap().close().await.unwrap();
    let second = Database::start(&settings, data.path()).await.unwrap_err();
    assert!(second.to_string().contains("is in use by process"), "{second}");
    own.stop().await;

    // A server that is named wins, and nothing is started.
    let named = [("DATABASE_URL", "postgres://db.invalid/stash")];
    let settings = PostgresSettings::read(&Environment::of(named)).unwrap();
    let named = Database::start(&settings, data.path()).await.unwrap();
    assert!(named.embedded().is_none());
    assert_eq!(named.options().get_host(), "db.invalid");
    assert!(embedded::running(data.path()).is_none());
}

#[tokio::test]
async fn as_root_the_server_runs_as_the_owner_of_the_data_folder() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    nix::unistd::chown(data.path(), Some(nobody.uid), Some(nobody.gid)).unwrap();
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let server = EmbeddedPostgres::start(data.path()).await.unwrap();
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(data.path().join("pg")).unwrap());
    assert_eq!(owner, nobody.uid.as_raw());
    server.stop().await;
    let mode = std::fs::metadata(data.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "a folder of somebody else is not opened up");
}
