//! A deployment of its own for one test: database, log, data folder, addresses.

use super::process::Role;
use super::programs;
use serde_json::Value;
use sqlx::PgPool;
use stash_domain::ids::OwnerId;
use stash_infra::event_log::EventLog;
use stash_infra::event_log::kafka::{KafkaLog, KafkaSettings};
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::testing::{Durability, Kafka, Postgres};
use stash_model::tiny_base;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

/// Name of the base that trainings of the tests begin with.
pub const BASE: &str = "stash/tiny";

/// Partitions of the log: few, since each costs a broker memory, and more than the accounts.
const PARTITIONS: u16 = 4;

/// The topic of a log in Kafka.
const TOPIC: &str = "faults";

/// Kills everything that works on the folder and removes it, once the test is gone however it ended. A process belongs to the
/// folder when its environment says so, which trainers inherit.
const JANITOR: &str = r#"
read -r _
for entry in /proc/[0-9]*; do
  grep -qzxF "STASH_DATA=$1/data" "$entry/environ" 2>/dev/null && kill -9 "${entry##*/}" 2>/dev/null
done
rm -rf "$1"
"#;

/// Where the event log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// In the deployment's Postgres.
    Postgres,
    /// In a Kafka broker of its own.
    Kafka,
}

/// An account's key and id.
#[derive(Clone, Debug)]
pub struct Account {
    /// The key's text.
    pub key: String,
    /// The owner.
    pub owner: OwnerId,
}

/// A deployment. Its processes are started by the tests.
pub struct Site {
    folder: PathBuf,
    /// The database server.
    pub postgres: Postgres,
    /// The broker, where the log is in Kafka.
    pub kafka: Option<Kafka>,
    /// Connections as the database's owner.
    pub pool: PgPool,
    addresses: [String; 3],
    environment: BTreeMap<String, String>,
    janitor: Child,
    leash: Option<ChildStdin>,
}

impl Site {
    /// Makes one. `further` settings win over the tests' own.
    pub async fn start(log: Log, further: &[(&str, String)]) -> Self {
        let folder = tempfile::Builder::new().prefix("stash-faults").tempdir().expect("a temporary folder").keep();
        let folder = folder.canonicalize().expect("the temporary folder");
        let mut janitor = Command::new("/bin/sh");
        janitor.args(["-c", JANITOR, "janitor"]).arg(&folder).stdin(Stdio::piped()).process_group(0);
        let mut janitor = janitor.spawn().expect("the process that cleans up");
        let leash = janitor.stdin.take();

        let (postgres, kafka) = tokio::task::spawn_blocking(move || {
            (Postgres::start(Durability::None), (log == Log::Kafka).then(|| Kafka::start(1)))
        })
        .await
        .expect("the services");
        let pool = postgres.database().await;
        let addresses = [(); 3].map(|()| free_address());
        let mut environment = environment_of(&folder, &pool);
        if let Some(kafka) = &kafka {
            environment.insert("STASH_LOG".into(), "kafka".into());
            environment.insert("STASH_KAFKA_BROKERS".into(), kafka.bootstrap().into());
            environment.insert("STASH_KAFKA_TOPIC".into(), TOPIC.into());
        }
        environment.extend(further.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let base = folder.join("data/bases").join(BASE);
        tokio::task::spawn_blocking(move || tiny_base::make(&base, 1)).await.expect("a thread").expect("the base");
        Self { folder, postgres, kafka, pool, addresses, environment, janitor, leash }
    }

    /// The test's folder; the data folder is in it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Address of a role.
    pub fn address(&self, role: Role) -> String {
        self.addresses[role as usize].clone()
    }

    /// Address of the API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address(Role::Api))
    }

    /// Settings of all processes.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// Runs a command of the program that prints JSON; fails the test if it fails.
    pub async fn stash(&self, arguments: &[&str]) -> Value {
        let (success, out, err) = self.try_stash(arguments).await;
        assert!(success, "stash {arguments:?} failed:\n{out}\n{err}");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("stash {arguments:?} printed no JSON:\n{out}\n{err}"))
    }

    /// Runs a command of the program: whether it succeeded, and what it printed.
    pub async fn try_stash(&self, arguments: &[&str]) -> (bool, String, String) {
        let mut command = tokio::process::Command::new(programs::stash());
        command.args(arguments).envs(&self.environment).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.expect("the program stash starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    /// Makes an account with a key.
    pub async fn account(&self, email: &str) -> Account {
        let made = self.stash(&["keys", "create", "--owner", email, "--scope", "full", "--json"]).await;
        let text = |field: &str| made[field].as_str().expect("a text").to_owned();
        Account { key: text("key"), owner: OwnerId(text("owner_id").parse().expect("an id")) }
    }

    /// The event log, read beside the deployment.
    pub async fn log(&self) -> Arc<dyn EventLog> {
        match &self.kafka {
            None => Arc::new(PostgresLog::open(self.pool.clone(), PARTITIONS).await.expect("the log")),
            Some(kafka) => {
                let settings = KafkaSettings::new(kafka.bootstrap(), TOPIC);
                Arc::new(KafkaLog::open(settings, PARTITIONS).await.expect("the log"))
            }
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for role in Role::ALL {
                let log = std::fs::read_to_string(self.folder.join(format!("{}.log", role.name()))).unwrap_or_default();
                let lines: Vec<&str> = log.lines().filter(|line| !line.contains(" INFO ")).collect();
                let shown = &lines[lines.len().saturating_sub(15)..];
                println!("--- last warnings of the {}\n{}", role.name(), shown.join("\n"));
            }
        }
        drop(self.leash.take());
        // Nothing can be done here if it fails.
        let _ = self.janitor.wait();
    }
}

/// The settings of a deployment on this folder and database.
fn environment_of(folder: &Path, pool: &PgPool) -> BTreeMap<String, String> {
    let options = pool.connect_options();
    let socket = options.get_socket().expect("a socket").display();
    let database = options.get_database().expect("a database");
    let pairs = [
        ("STASH_DATA", folder.join("data").display().to_string()),
        ("DATABASE_URL", format!("postgres:///{database}?host={socket}&port={}&user=stash", options.get_port())),
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
