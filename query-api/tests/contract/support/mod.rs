//! A database with the read models, rows put into it by SQL, and the router in front of it.
//!
//! All tests of this binary share one database; each has owners of its own, which is also what keeps them apart in production.

pub(crate) mod log;
pub(crate) mod rows;
pub(crate) mod schema;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use log::FixedLog;
use serde_json::Value;
use sqlx::PgPool;
use stash_domain::ids::{ApiKeyId, OwnerId};
use stash_domain::position::Offset;
use stash_domain::time::Timestamp;
use stash_infra::artifacts::FolderStore;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::clock::ManualClock;
use stash_infra::event_log::EventLog as _;
use stash_infra::http::{ReadGate, with_common_layers};
use stash_infra::identity::{Caller, Role, Scope};
use stash_infra::postgres::{PoolSizes, Pools, migrate};
use stash_infra::subject_keys::{MasterKey, MasterKeys};
use stash_infra::testing::postgres;
use stash_infra::watermark::Watermarks;
use stash_query_api::types::LlmModels;
use stash_query_api::{ArtifactLinks, QueryParts, QueryState, artifacts_router, router};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tower::ServiceExt as _;
use uuid::Uuid;

/// When the tests' clock stands: 2026-09-29T03:12:00Z.
pub(crate) const NOW: i64 = 1_790_651_520_000_000;

/// The server, with an owner of the test's own.
pub(crate) struct World {
    pub(crate) owner: OwnerId,
    pub(crate) pools: Pools,
    pub(crate) marks: Arc<Watermarks>,
    pub(crate) log: Arc<FixedLog>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<FolderStore>,
    app: Router,
    _folder: tempfile::TempDir,
}

/// An answer, read whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body as JSON lines.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The answer, once it is known to be a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 200, "{}", self.text());
        self
    }

    /// Checks that it is a problem with this code, and gives its detail.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let body = self.json();
        assert_eq!(body["type"], format!("/docs/errors/{code}"));
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"], self.headers["x-request-id"].to_str().unwrap());
        body["detail"].as_str().unwrap().to_owned()
    }
}

impl World {
    /// A fresh owner and router.
    pub(crate) async fn new() -> Self {
        let options = postgres().options(database().await);
        let pools = Pools::connect(&options, PoolSizes { api: 6, system: 2 }).await.unwrap();
        let log = Arc::new(FixedLog::default());
        let marks = Arc::new(Watermarks::new(log.partitions()));
        let clock = Arc::new(ManualClock::at(Timestamp(NOW)));
        let masters = MasterKeys::new(MasterKey::generate().unwrap(), Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let base = "http://localhost:8080/artifacts";
        let store = FolderStore::open(folder.path(), LinkSigner::new(&masters), base).await.unwrap();
        let store = Arc::new(store);
        let gate = ReadGate { log: log.id(), marks: Arc::clone(&marks), wait_budget: Duration::ZERO };
        let state = QueryState::new(QueryParts {
            pools: pools.clone(),
            gate,
            log: log.clone(),
            artifacts: store.clone(),
            clock: clock.clone(),
            llm: LlmModels { titles: Some("anthropic/claude-haiku-4-5".to_owned()), learning: None },
        });
        let links = ArtifactLinks { store: store.clone(), signer: LinkSigner::new(&masters), clock: clock.clone() };
        let app = Router::new().nest("/api/v1/rm", router(state)).merge(artifacts_router(links));
        let app = with_common_layers(app);
        Self { owner: fresh_owner(), pools, marks, log, clock, store, app, _folder: folder }
    }

    /// Connections without row-level security, to put rows in.
    pub(crate) fn rows(&self) -> &PgPool {
        &self.pools.system
    }

    /// Asks as the test's owner.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_as(self.owner, path).await
    }

    /// Asks as somebody.
    pub(crate) async fn get_as(&self, owner: OwnerId, path: &str) -> Answer {
        self.send(caller(owner), path, &[]).await
    }

    /// Asks as a caller, with headers.
    pub(crate) async fn send(&self, caller: Caller, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::get(format!("/api/v1/rm{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        // What the layer that finds the caller does in the server.
        request.extensions_mut().insert(caller);
        self.answer(request).await
    }

    /// Asks from the server's root, without a key.
    pub(crate) async fn get_root(&self, path: &str) -> Answer {
        self.answer(Request::get(path).body(Body::empty()).unwrap()).await
    }

    async fn answer(&self, request: Request<Body>) -> Answer {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Says that the read models hold everything below this offset, in every partition.
    pub(crate) fn applied(&self, next: u64) {
        for number in 0..self.log.partitions() {
            self.marks.applied(stash_domain::position::Partition(number), Offset(next));
        }
    }
}

/// Somebody who may do everything.
pub(crate) fn caller(owner: OwnerId) -> Caller {
    Caller {
        owner_id: owner,
        api_key_id: ApiKeyId(Uuid::nil()),
        scope: Scope::Full,
        role: Role::User,
        reward_models_enabled: true,
        name: "Ada".to_owned(),
    }
}

/// Somebody new.
pub(crate) fn fresh_owner() -> OwnerId {
    OwnerId(Uuid::now_v7())
}

/// The name of the shared database, made by the first test that asks.
async fn database() -> &'static str {
    static NAME: OnceCell<String> = OnceCell::const_new();
    NAME.get_or_init(|| async {
        let pool = postgres().database().await;
        let options = (*pool.connect_options()).clone();
        pool.close().await;
        migrate(&options).await.unwrap();
        let pools = Pools::connect(&options, PoolSizes::default()).await.unwrap();
        let mut connection = pools.system.acquire().await.unwrap();
        stash_projections::schema::ensure(&mut connection).await.unwrap();
        drop(connection);
        pools.close().await;
        options.get_database().unwrap().to_owned()
    })
    .await
}
