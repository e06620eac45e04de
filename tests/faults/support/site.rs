//! A deployment of its own for one test: database, log, data folder, addresses.

use super::process::Role;
use super::programs;
use serde_json::Value;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use stash_domain::ids::OwnerId;
use stash_infra::event_log::EventLog;
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::postgres::embedded;
use stash_infra::testing::{Durability, Kafka, Postgres};
use stash_model::tiny_base;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

/// Name of the base that trainings of the tests begin with.
pub(crate) const BASE: &str = "stash/tiny";

/// Partitions of the log: few, since each costs a broker memory, and more than the accounts.
const PARTITIONS: u16 = 4;

/// Lines of each role's log that a failed test shows.
const WARNINGS_SHOWN: usize = 15;

/// The topic of a log in Kafka.
const TOPIC: &str = "faults";

/// Kills everything that works on the folder and removes it, once the test is gone however it ended. A process belongs to the
/// folder when its environment says so, which trainers inherit.
const JANITOR: &str = r#"
read -r _
for entry in /proc/[0-9]*; do
  grep -qzxF "STASH_DATA=$1/data" "$entry/environ" 2>/dev/null && kill -9 "${entry##*/}" 2>/dev/null
done
umount -l "$1/data/artifacts" "$1/data" 2>/dev/null
rm -rf "$1"
"#;

/// Where the event log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// In the deployment's Postgres.
    Postgres,
    /// In a Kafka broker of its own.
    Kafka,
}

/// A service that a deployment works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// The database.
    Postgres,
    /// The Kafka broker.
    Broker,
}

/// An account's key and id.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The key's text.
    pub(crate) key: String,
    /// The owner.
    pub(crate) owner: OwnerId,
}

/// A deployment. Its processes are started by the tests.
pub(crate) struct Site {
    folder: PathBuf,
    /// The database server, unless it is the embedded one.
    pub(crate) postgres: Option<Postgres>,
    /// The broker, where the log is in Kafka.
    pub(crate) kafka: Option<Kafka>,
    /// Connections as the database's owner.
    pub(crate) pool: PgPool,
    addresses: [String; 3],
    environment: BTreeMap<String, String>,
    _janitor: Janitor,
}

/// The process that cleans up, which waits for the end of its input.
struct Janitor {
    folder: PathBuf,
    process: Child,
    leash: Option<ChildStdin>,
}

impl Site {
    /// Makes one with a database server beside it, and a broker if the log is in Kafka.
    pub(crate) async fn start(log: Log) -> Self {
        let (postgres, kafka) = tokio::task::spawn_blocking(move || {
            (Postgres::start(Durability::None), (log == Log::Kafka).then(|| Kafka::start(1)))
        })
        .await
        .expect("the services");
        let mut site = Self::bare(postgres.database().await);
        let options = site.pool.connect_options();
        let socket = options.get_socket().expect("a socket").display();
        let database = options.get_database().expect("a database");
        site.set(
            "DATABASE_URL",
            format!("postgres:///{database}?host={socket}&port={}&user=stash", options.get_port()),
        );
        if let Some(kafka) = &kafka {
            site.set("STASH_LOG", "kafka");
            site.set("STASH_KAFKA_BROKERS", kafka.bootstrap());
            site.set("STASH_KAFKA_TOPIC", TOPIC);
        }
        let base = site.data().join("bases").join(BASE);
        tokio::task::spawn_blocking(move || tiny_base::make(&base, 1)).await.expect("a thread").expect("the base");
        Self { postgres: Some(postgres), kafka, ..site }
    }

    /// Makes one for `stash up` with its embedded database; see [`Self::join_embedded`].
    pub(crate) fn embedded() -> Self {
        let nowhere = PgConnectOptions::new_without_pgpass();
        Self::bare(PgPoolOptions::new().connect_lazy_with(nowhere))
    }

    /// Connects to the embedded database, once it runs.
    pub(crate) fn join_embedded(&mut self) {
        let options = embedded::running(&self.data()).expect("the embedded Postgres runs");
        self.pool = PgPoolOptions::new().max_connections(4).connect_lazy_with(options);
    }

    fn bare(pool: PgPool) -> Self {
        let folder = tempfile::Builder::new().prefix("stash-faults").tempdir().expect("a temporary folder").keep();
        let folder = folder.canonicalize().expect("the temporary folder");
        // An embedded Postgres runs as another user where the test runs as root.
        fs::set_permissions(&folder, Permissions::from_mode(0o711)).expect("the folder's mode");
        let mut janitor = Command::new("/bin/sh");
        janitor.args(["-c", JANITOR, "janitor"]).arg(&folder).stdin(Stdio::piped()).process_group(0);
        let mut janitor = janitor.spawn().expect("the process that cleans up");
        let leash = janitor.stdin.take();
        let addresses = [(); 3].map(|()| free_address());
        let environment = environment_of(&folder);
        let janitor = Janitor { folder: folder.clone(), process: janitor, leash };
        Self { folder, postgres: None, kafka: None, pool, addresses, environment, _janitor: janitor }
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.insert(name.to_owned(), value.into());
    }

    /// The test's folder; the data folder is in it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Address of a role.
    pub(crate) fn address(&self, role: Role) -> String {
        self.addresses[role as usize].clone()
    }

    /// Address of the API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address(Role::Api))
    }

    /// Settings of all processes.
    pub(crate) fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// Runs a command of the program that prints JSON; fails the test if it fails.
    pub(crate) async fn stash(&self, arguments: &[&str]) -> Value {
        let (success, out, err) = self.try_stash(arguments).await;
        assert!(success, "stash {arguments:?} failed:\n{out}\n{err}");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("stash {arguments:?} printed no JSON:\n{out}\n{err}"))
    }

    /// Runs a command of the program: whether it succeeded, and what it printed.
    pub(crate) async fn try_stash(&self, arguments: &[&str]) -> (bool, String, String) {
        let mut command = tokio::process::Command::new(programs::stash());
        command.args(arguments).envs(&self.environment).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.expect("the program stash starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    /// Makes an account with a key.
    pub(crate) async fn account(&self, email: &str) -> Account {
        let made = self.stash(&["keys", "create", "--owner", email, "--scope", "full", "--json"]).await;
        let text = |field: &str| made[field].as_str().expect("a text").to_owned();
        Account { key: text("key"), owner: OwnerId(text("owner_id").parse().expect("an id")) }
    }

    /// The event log, read beside the deployment.
    pub(crate) async fn log(&self) -> Arc<dyn EventLog> {
        match &self.kafka {
            None => Arc::new(PostgresLog::open(self.pool.clone(), PARTITIONS).await.expect("the log")),
            Some(kafka) => {
                let settings = KafkaSettings::new(kafka.bootstrap(), TOPIC);
                Arc::new(KafkaLog::open(settings, PARTITIONS).await.expect("the log"))
            }
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for role in Role::ALL {
                let log = fs::read_to_string(self.folder.join(format!("{}.log", role.name()))).unwrap_or_default();
                let lines: Vec<&str> = log.lines().filter(|line| !line.contains(" INFO ")).collect();
                println!("--- last warnings of the {}", role.name());
                println!("{}", lines[lines.len().saturating_sub(WARNINGS_SHOWN)..].join("\n"));
            }
        }
        drop(self.leash.take());
        // Nothing can be done here if it fails.
        let _ = self.process.wait();
    }
}

/// The settings of a deployment on this folder.
fn environment_of(folder: &Path) -> BTreeMap<String, String> {
    let pairs = [
        ("STASH_DATA", folder.join("data").display().to_string()),
        ("STASH_LOG_PARTITIONS", PARTITIONS.to_string()),
        ("RM_COMPUTE", "local".to_owned()),
        ("RM_TRAINER", programs::trainer().display().to_string()),
        ("RM_THREADS", "1".to_owned()),
        ("STASH_JOB_LEASE_S", "3".to_owned()),
        ("RUST_LOG", "info".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An address on this machine that nobody listens on. Another program could take it before we do; the test then fails to
/// start and says so.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}
