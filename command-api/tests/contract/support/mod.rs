//! A server in this process, with an account and keys of the test's own.

pub(crate) mod answer;
pub(crate) mod data;
pub(crate) mod database;
pub(crate) mod models;
pub(crate) mod request;
pub(crate) mod schema;

use answer::Answer;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use stash_command_api::import::Importer;
use stash_command_api::import::titles::Required;
use stash_command_api::{CommandParts, CommandState, IMPORTS_AT_ONCE};
use stash_domain::ids::OwnerId;
use stash_domain::redaction::{Kind, Redactor};
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::artifacts::{ArtifactStore, FolderStore};
use stash_infra::clock::SystemClock;
use stash_infra::event_log::EventLog;
use stash_infra::event_log::postgres::PostgresLog;
use stash_infra::http::{ReadGate, caller, position, with_common_layers};
use stash_infra::identity::{Identity, NewAccount, NewKey, Role, Scope};
use stash_infra::postgres::{PoolSizes, Pools, Purpose};
use stash_infra::subject_keys::{CacheSize, MasterKeyFile, SubjectKeys};
use stash_infra::submit::{Submitter, VerdictHub};
use stash_infra::watermark::Watermarks;
use stash_projections::{Deps, OnDifference, Projector, schema::GENERATION_FIRST};
use stash_query_api::types::LlmModels;
use stash_query_api::{QueryParts, QueryState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Partitions of the tests' logs.
const PARTITIONS: u16 = 4;

/// Bytes of a request of spans, inflated.
pub(crate) const OTLP_BYTES_MAX: usize = 1024 * 1024;

/// Longer than any wait of a test that goes well.
const LONG: Duration = Duration::from_secs(60);

/// How a test's server is set up.
pub(crate) struct Setup {
    /// `RM_COMPUTE`.
    pub(crate) compute: Option<&'static str>,
    /// How long commands and reads wait.
    pub(crate) wait_budget: Duration,
    /// Bytes of a raw body.
    pub(crate) import_bytes_max: u64,
    /// The model that writes titles.
    pub(crate) titles: Option<&'static str>,
    /// Who writes titles while an import waits.
    pub(crate) required_titles: Option<Required>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            compute: Some("local"),
            wait_budget: LONG,
            import_bytes_max: 64 * 1024 * 1024,
            titles: Some("hosted_vllm/titles"),
            required_titles: None,
        }
    }
}

/// The server.
pub(crate) struct World {
    pub(crate) app: Router,
    pub(crate) owner: OwnerId,
    pub(crate) key: String,
    pub(crate) identity: Arc<Identity>,
    pub(crate) pools: Pools,
    pub(crate) submitter: Arc<Submitter>,
    options: PgConnectOptions,
    log: Arc<dyn EventLog>,
    hub: Arc<VerdictHub>,
    marks: Arc<Watermarks>,
    deps: Deps,
    projector: Mutex<Option<(CancellationToken, JoinHandle<()>)>>,
    _data: tempfile::TempDir,
}

impl World {
    /// A server whose projector runs.
    pub(crate) async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    /// The same, set up otherwise.
    pub(crate) async fn with(setup: Setup) -> Self {
        Self::over(database::fresh().await, setup).await
    }

    /// The same, over a database that has its tables.
    pub(crate) async fn over(options: PgConnectOptions, setup: Setup) -> Self {
        let pools = Pools::connect(&options, PoolSizes { api: 6, system: 6 }).await.unwrap();
        let log = PostgresLog::open(Purpose::Log.pool(&options, 4), PARTITIONS).await.unwrap();
        let log: Arc<dyn EventLog> = Arc::new(log);
        let (hub, marks) = (Arc::new(VerdictHub::default()), Arc::new(Watermarks::new(log.partitions())));
        let data = tempfile::tempdir().unwrap();
        let file = MasterKeyFile::in_folder(data.path());
        let keys = SubjectKeys::open(pools.system.clone(), file, CacheSize::default()).await.unwrap();
        let (signer, base) = (LinkSigner::new(&keys.masters()), "/artifacts");
        let store: Arc<dyn ArtifactStore> =
            Arc::new(FolderStore::open(data.path().join("artifacts"), signer, base).await.unwrap());
        let keys = Arc::new(keys);
        let clock = Arc::new(SystemClock);
        let identity = Arc::new(Identity::new(pools.system.clone(), clock.clone()));
        let (owner, key) = account(&identity, "ada@example.org").await;
        let submitter = Arc::new(Submitter::new(
            Arc::clone(&log),
            Arc::clone(&hub),
            Arc::clone(&marks),
            pools.system.clone(),
            setup.wait_budget,
        ));
        let llm = LlmModels { titles: setup.titles.map(str::to_owned), learning: None };
        let gate = ReadGate { log: log.id(), marks: Arc::clone(&marks), wait_budget: setup.wait_budget };
        let commands = stash_command_api::router(CommandState::new(CommandParts {
            submitter: Arc::clone(&submitter),
            pools: pools.clone(),
            keys: Arc::clone(&keys),
            importer: Importer {
                keys: Arc::clone(&keys),
                store: Arc::clone(&store),
                pool: pools.system.clone(),
                redactor: Redactor::new(&Kind::DEFAULT, &[]).unwrap(),
                titles: setup.required_titles.clone(),
            },
            clock: clock.clone(),
            spool_folder: data.path().to_owned(),
            import_json_bytes_max: 16 * 1024 * 1024,
            import_bytes_max: setup.import_bytes_max,
            otlp_bytes_max: OTLP_BYTES_MAX,
            otlp_room: stash_command_api::otlp_room(),
            compute: setup.compute.map(str::to_owned),
            imports: Arc::new(Semaphore::new(IMPORTS_AT_ONCE)),
            llm: llm.clone(),
        }));
        let queries = stash_query_api::router(QueryState::new(QueryParts {
            pools: pools.clone(),
            gate: gate.clone(),
            log: Arc::clone(&log),
            artifacts: Arc::clone(&store),
            clock,
            llm,
        }));
        let routes = queries.merge(commands.route_layer(from_fn_with_state(gate, position::wait)));
        let closed = Router::new()
            .nest("/api/v1/rm", routes)
            .route_layer(from_fn_with_state(Arc::clone(&identity), caller::require))
            .layer(from_fn(stash_command_api::otlp::errors_in_kind));
        let world = Self {
            app: with_common_layers(closed),
            owner,
            key,
            identity,
            pools,
            submitter,
            options,
            log,
            hub,
            marks,
            deps: Deps { keys, store },
            projector: Mutex::new(None),
            _data: data,
        };
        world.start_projector().await;
        world
    }

    /// Starts the projector.
    pub(crate) async fn start_projector(&self) {
        let projector = Projector {
            log: Arc::clone(&self.log),
            pool: Purpose::Projector { schema: GENERATION_FIRST }.pool(&self.options, 2),
            deps: self.deps.clone(),
            hub: Arc::clone(&self.hub),
            marks: Arc::clone(&self.marks),
        };
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { projector.run(stopped).await.unwrap() });
        *self.projector.lock().await = Some((stop, task));
    }

    /// Stops the projector: from here on nothing is judged.
    pub(crate) async fn stop_projector(&self) {
        let (stop, task) = self.projector.lock().await.take().unwrap();
        stop.cancel();
        task.await.unwrap();
    }

    /// Makes the tables again from the log, beside those that are shown, and compares them.
    pub(crate) async fn rebuild(&self) {
        stash_projections::rebuild(&self.pools.system, &self.log, &self.deps, OnDifference::Keep, &mut |_, _| {})
            .await
            .unwrap();
    }

    /// Keys of content.
    pub(crate) fn keys(&self) -> &SubjectKeys {
        &self.deps.keys
    }

    /// Another account, and a key of it.
    pub(crate) async fn stranger(&self) -> (OwnerId, String) {
        account(&self.identity, "eve@example.org").await
    }

    /// A key of the test's account that may only read.
    pub(crate) async fn read_only_key(&self) -> String {
        new_key(&self.identity, self.owner, Scope::ReadOnly).await
    }

    /// Imports traces, waits until they are there, and gives their ids.
    pub(crate) async fn import(&self, traces: &[Value]) -> Vec<String> {
        let answer = self.post("/traces/import?format=stash").jsonl(&data::lines(traces)).send().await;
        let body = answer.ok(200).json();
        self.get("/traces?limit=1").after(&answer).send().await.ok(200);
        body["trace_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    /// Imports the sample trace and gives what a read says of it.
    pub(crate) async fn sample(&self) -> Value {
        let ids = self.import(&[data::sample("t-1")]).await;
        self.read(&format!("/traces/{}", ids[0])).await
    }

    /// What a read answers now.
    pub(crate) async fn read(&self, path: &str) -> Value {
        self.get(path).send().await.ok(200).json()
    }

    /// What a read answers once it knows of a command.
    pub(crate) async fn read_after(&self, path: &str, command: &Answer) -> Answer {
        self.get(path).after(command).send().await
    }

    /// Where the log's partition of the test's account ends.
    pub(crate) async fn tail(&self) -> u64 {
        let partition = stash_domain::position::partition_of(self.owner, PARTITIONS);
        self.log.tail(partition).await.unwrap().0
    }

    /// Counts rows of a table.
    pub(crate) async fn count(&self, table: &'static str) -> i64 {
        let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        sqlx::query_scalar(query).fetch_one(&self.pools.system).await.unwrap()
    }
}

async fn account(identity: &Identity, email: &str) -> (OwnerId, String) {
    let new = NewAccount { email: email.to_owned(), name: "Ada".to_owned(), role: Role::User };
    let (account, _) = identity.create_account_if_new(&new).await.unwrap();
    (account.id, new_key(identity, account.id, Scope::Full).await)
}

async fn new_key(identity: &Identity, account_id: OwnerId, scope: Scope) -> String {
    let new = NewKey { account_id, scope, name: String::new(), expires_at: None };
    identity.create_key(&new).await.unwrap().0.expose().to_owned()
}
