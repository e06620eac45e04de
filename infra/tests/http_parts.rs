//! The parts that all routes share, put together as the servers do, on a real database.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use stash_domain::ids::OwnerId;
use stash_domain::position::{LogId, Offset, Partition, Position, PositionToken};
use stash_domain::time::Timestamp;
use stash_infra::clock::SystemClock;
use stash_infra::event_log::{EventLog, LogError, LogReader, NewRecord};
use stash_infra::http::checks::{DatabaseCheck, LagCheck, LogCheck};
use stash_infra::http::health::{Check, Health};
use stash_infra::http::{At, BodyLimit, ETag, Idempotency, IfMatch, JsonBody, Patch, ReadGate};
use stash_infra::http::{caller, health, position, with_common_layers};
use stash_infra::identity::{Caller, Identity, KeyText, NewAccount, NewKey, Role, Scope};
use stash_infra::postgres::{self, PoolSizes};
use stash_infra::watermark::Watermarks;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tower::ServiceExt as _;
use uuid::Uuid;

const LOG: LogId = LogId(Uuid::from_u128(0x5f0c_9a31 << 96));

#[derive(Deserialize)]
struct Input {
    rating: i64,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    comment: Patch<String>,
    #[serde(default)]
    metadata: Value,
}

async fn take(body: JsonBody<Input>) -> Json<Value> {
    let comment = match &body.comment {
        Patch::Absent => "absent".into(),
        Patch::Null => "null".into(),
        Patch::Value(text) => format!("value {text}"),
    };
    Json(json!({ "rating": body.rating, "tags": body.tags, "comment": comment, "metadata": body.metadata }))
}

async fn command(caller: Caller, idempotency: Idempotency, version: IfMatch, bytes: Bytes) -> (At, ETag, String) {
    let at = Position { partition: Partition(7), offset: Offset(41) };
    let id = idempotency.command_id(caller.owner_id);
    (At(Some(PositionToken::new(LOG, at))), ETag(4), format!("{id} {} {:?}", idempotency.digest(&bytes), version.0))
}

fn break_down(_: Request<Body>) -> std::future::Ready<&'static str> {
    panic!("{}", "the deepest secret");
}

struct Server {
    router: Router,
    identity: Arc<Identity>,
    marks: Arc<Watermarks>,
    account: OwnerId,
}

impl Server {
    async fn start() -> Self {
        let database = stash_infra::testing::postgres().database().await;
        Self::on(&database.connect_options()).await
    }

    async fn on(options: &sqlx::postgres::PgConnectOptions) -> Self {
        let pools = postgres::open(options, PoolSizes { api: 2, system: 2 }).await.unwrap();
        let identity = Arc::new(Identity::new(pools.system, Arc::new(SystemClock)));
        let new = NewAccount { email: "ada@example.org".into(), name: "Ada".into(), role: Role::User };
        let account = identity.create_account_if_new(&new).await.unwrap().0.id;
        let marks = Arc::new(Watermarks::new(16));
        let gate = ReadGate { log: LOG, marks: marks.clone(), wait_budget: Duration::from_millis(20) };
        let api = Router::new()
            .route("/api/v1/rm/things/{id}", get(async || "a thing").post(command))
            .route("/api/v1/rm/query", post(async || "rows"))
            .route("/api/v1/rm/take", post(take))
            .route("/api/v1/rm/small", post(take).layer(Extension(BodyLimit(40))))
            .route("/api/v1/rm/panic", get(break_down))
            .layer(from_fn_with_state(gate, position::wait))
            .layer(from_fn(caller::require_reward_models))
            .layer(from_fn_with_state(identity.clone(), caller::require));
        Self { router: with_common_layers(api), identity, marks, account }
    }

    async fn key(&self, scope: Scope) -> KeyText {
        let new = NewKey { account_id: self.account, scope, name: String::new(), expires_at: None };
        self.identity.create_key(&new).await.unwrap().0
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }
}

fn request(method: Method, path: &str, key: &KeyText) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header(header::AUTHORIZATION, format!("Bearer {}", key.expose()))
}

async fn text(response: Response<Body>) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks the shape of an error answer and returns its body.
async fn problem(response: Response<Body>, status: u16, code: &str) -> Value {
    let found = response.status().as_u16();
    let headers = response.headers().clone();
    let body = text(response).await;
    assert_eq!(found, status, "{body}");
    assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["type"], format!("/docs/errors/{code}"), "{body}");
    assert_eq!(body["status"], status);
    assert_eq!(body["request_id"], headers["x-request-id"].to_str().unwrap());
    assert!(!body["title"].as_str().unwrap().is_empty() && !body["detail"].as_str().unwrap().is_empty());
    body
}

#[tokio::test]
async fn unknown_paths_and_methods_are_answered_in_the_usual_shape() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let response = server.send(request(Method::GET, "/nowhere", &key).body(Body::empty()).unwrap()).await;
    problem(response, 404, "not_found").await;
    let response = server.send(request(Method::PUT, "/api/v1/rm/query", &key).body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()[header::ALLOW], "POST");
    problem(response, 405, "method_not_allowed").await;
}

#[tokio::test]
async fn a_request_id_is_taken_over_when_it_is_harmless() {
    let server = Server::start().await;
    let with = |id: &str| Request::get("/nowhere").header("x-request-id", id).body(Body::empty()).unwrap();
    assert_eq!(problem(server.send(with("job-7")).await, 404, "not_found").await["request_id"], "job-7");
    let fresh = problem(server.send(with("two words")).await, 404, "not_found").await["request_id"].clone();
    assert_eq!(Uuid::parse_str(fresh.as_str().unwrap()).unwrap().get_version_num(), 7);
}

#[tokio::test]
async fn without_a_working_key_nobody_gets_in_and_the_body_is_not_read() {
    let server = Server::start().await;
    let revoked = server.key(Scope::Full).await;
    let key = server.identity.keys(server.account).await.unwrap().remove(0).id;
    server.identity.revoke_key(server.account, key).await.unwrap();
    let working = server.key(Scope::Full).await;
    let headers: Vec<Vec<String>> = vec![
        vec![],
        vec![String::new()],
        vec!["Bearer".into()],
        vec!["Bearer stash_nonsense".into()],
        vec![format!("Basic {}", working.expose())],
        vec![working.expose().into()],
        vec![format!("Bearer {}", revoked.expose())],
        vec![format!("Bearer {}", working.expose()), format!("Bearer {}", working.expose())],
    ];
    for values in headers {
        let touched = Arc::new(AtomicBool::new(false));
        let theirs = touched.clone();
        let body = Body::from_stream(futures::stream::poll_fn(move |_| {
            theirs.store(true, Ordering::SeqCst);
            std::task::Poll::Ready(None::<Result<Bytes, std::io::Error>>)
        }));
        let mut request = Request::post("/api/v1/rm/take").header(header::CONTENT_TYPE, "application/json");
        for value in &values {
            request = request.header(header::AUTHORIZATION, value);
        }
        let response = server.send(request.body(body).unwrap()).await;
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer realm=\"stash\"");
        let body = problem(response, 401, "unauthorized").await;
        assert!(!touched.load(Ordering::SeqCst), "{values:?}");
        assert!(!body.to_string().contains(&working.expose()[28..]));
    }
    let lower_case = format!("bearer {}", working.expose());
    let request =
        Request::get("/api/v1/rm/things/1").header(header::AUTHORIZATION, lower_case).body(Body::empty()).unwrap();
    assert_eq!(server.send(request).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_read_only_key_reads_and_queries_and_nothing_else() {
    let server = Server::start().await;
    let key = server.key(Scope::ReadOnly).await;
    for (method, path) in [
        (Method::GET, "/api/v1/rm/things/1"),
        (Method::HEAD, "/api/v1/rm/things/1"),
        (Method::POST, "/api/v1/rm/query"),
    ] {
        let response = server.send(request(method.clone(), path, &key).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{method} {path}");
    }
    for (method, path) in [(Method::POST, "/api/v1/rm/things/1"), (Method::POST, "/api/v1/rm/take")] {
        let response = server.send(request(method, path, &key).body(Body::empty()).unwrap()).await;
        problem(response, 403, "forbidden_scope").await;
    }
}

#[tokio::test]
async fn an_account_without_reward_models_is_refused() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    server.identity.set_reward_models_enabled(server.account, false).await.unwrap();
    let response = server.send(request(Method::GET, "/api/v1/rm/things/1", &key).body(Body::empty()).unwrap()).await;
    problem(response, 403, "reward_models_disabled").await;
}

#[tokio::test]
async fn a_json_body_is_taken_or_refused_with_what_is_wrong_and_where() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let deep = format!("{{\"rating\": 1, \"metadata\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let json = "application/json";
    let cases: Vec<(&str, &str, u16, &str, &str)> = vec![
        ("application/x-www-form-urlencoded", "rating=1", 415, "unsupported_media_type", "x-www-form-urlencoded"),
        ("text/plain", "{}", 415, "unsupported_media_type", "text/plain"),
        (json, "", 400, "invalid_request", "empty"),
        (json, "  \n", 400, "invalid_request", "empty"),
        (json, "{\"rating\": ", 400, "invalid_request", "line 1 column"),
        (json, "{\"rating\": 1} trailing", 400, "invalid_request", "trailing characters"),
        (json, "{\"rating\": NaN}", 400, "invalid_request", "line 1 column"),
        (json, "{\"rating\": 1, \"comment\": \"\\ud800\"}", 400, "invalid_request", "hex escape"),
        (json, &deep, 400, "invalid_request", "recursion limit"),
        (json, "[]", 422, "invalid_field", "the body"),
        (json, "{}", 422, "invalid_field", "missing field `rating`"),
        (json, "{\"rating\": \"good\"}", 422, "invalid_field", "`rating`: invalid type: string"),
        (json, "{\"rating\": 1.5}", 422, "invalid_field", "`rating`"),
        (json, "{\"rating\": 99999999999999999999}", 422, "invalid_field", "`rating`"),
        (json, "{\"rating\": 1, \"tags\": [\"a\", 7]}", 422, "invalid_field", "`tags[1]`"),
        (json, "{\"rating\": 1, \"rating\": 2}", 422, "invalid_field", "duplicate field"),
    ];
    for (kind, body, status, code, says) in cases {
        let request = request(Method::POST, "/api/v1/rm/take", &key).header(header::CONTENT_TYPE, kind);
        let response = server.send(request.body(Body::from(body.to_owned())).unwrap()).await;
        let body_of_answer = problem(response, status, code).await;
        assert!(body_of_answer["detail"].as_str().unwrap().contains(says), "{body}: {body_of_answer}");
    }
    for (body, comment) in [
        ("{\"rating\": 1, \"unknown\": true}", "absent"),
        ("{\"rating\": 1, \"comment\": null}", "null"),
        ("{\"rating\": 1, \"comment\": \"é\"}", "value é"),
    ] {
        let kind = "application/json; charset=utf-8";
        let request = request(Method::POST, "/api/v1/rm/take", &key).header(header::CONTENT_TYPE, kind);
        let response = server.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let answer: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(answer["comment"], comment);
    }
    let not_utf8 = request(Method::POST, "/api/v1/rm/take", &key).header(header::CONTENT_TYPE, json);
    let body = Body::from(b"{\"rating\": 1, \"comment\": \"\xff\"}".to_vec());
    problem(server.send(not_utf8.body(body).unwrap()).await, 400, "invalid_request").await;
    let coded = request(Method::POST, "/api/v1/rm/take", &key).header(header::CONTENT_TYPE, json);
    let coded = coded.header(header::CONTENT_ENCODING, "gzip").body(Body::from("{}")).unwrap();
    problem(server.send(coded).await, 415, "unsupported_media_type").await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_declared_or_not() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let post = || request(Method::POST, "/api/v1/rm/small", &key).header(header::CONTENT_TYPE, "application/json");
    let fits = format!("{{\"rating\": 1{}}}", " ".repeat(27));
    assert_eq!(fits.len(), 40);
    assert_eq!(server.send(post().body(Body::from(fits.clone())).unwrap()).await.status(), StatusCode::OK);
    // Declared: refused unread.
    let declared = post().header(header::CONTENT_LENGTH, "41").body(Body::from_stream(futures::stream::poll_fn(
        |_| -> std::task::Poll<Option<Result<Bytes, std::io::Error>>> { panic!("the body was read") },
    )));
    problem(server.send(declared.unwrap()).await, 413, "too_large").await;
    // In pieces, without a length.
    let pieces = fits.into_bytes().into_iter().chain([b' ']).map(|byte| Ok::<_, std::io::Error>(vec![byte]));
    let streamed = post().body(Body::from_stream(futures::stream::iter(pieces))).unwrap();
    problem(server.send(streamed).await, 413, "too_large").await;
    let broken = futures::stream::iter([Ok(Bytes::from("{")), Err(std::io::Error::other("gone"))]);
    let response = server.send(post().body(Body::from_stream(broken)).unwrap()).await;
    problem(response, 400, "invalid_request").await;
}

#[tokio::test]
async fn a_read_waits_for_the_position_that_it_is_given() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let read = |token: String| {
        request(Method::GET, "/api/v1/rm/things/1", &key)
            .header("x-stash-min-position", token)
            .body(Body::empty())
            .unwrap()
    };
    let token = PositionToken::new(LOG, Position { partition: Partition(7), offset: Offset(41) }).to_string();
    let response = server.send(read(token.clone())).await;
    assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    problem(response, 503, "unavailable").await;
    server.marks.applied(Partition(7), Offset(42));
    assert_eq!(server.send(read(token.clone())).await.status(), StatusCode::OK);
    let detail = problem(server.send(read("yesterday".into())).await, 400, "invalid_request").await;
    assert!(detail["detail"].as_str().unwrap().starts_with("X-Stash-Min-Position"));
    problem(server.send(read(token.replace("5f0c9a31", "00000001"))).await, 400, "invalid_request").await;
    let twice = request(Method::GET, "/api/v1/rm/things/1", &key)
        .header("x-stash-min-position", &token)
        .header("x-stash-min-position", &token)
        .body(Body::empty())
        .unwrap();
    problem(server.send(twice).await, 400, "invalid_request").await;
}

#[tokio::test]
async fn a_command_carries_its_key_its_version_and_its_position() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let post = |path: &str| request(Method::POST, path, &key);
    let send = async |builder: axum::http::request::Builder, body: &'static str| {
        server.send(builder.body(Body::from(body)).unwrap()).await
    };
    let one = send(post("/api/v1/rm/things/1").header("idempotency-key", "k"), "a").await;
    assert_eq!(one.headers()["x-stash-position"], "5f0c9a31-7-41");
    assert_eq!(one.headers()[header::ETAG], "\"4\"");
    let one = text(one).await;
    assert_eq!(text(send(post("/api/v1/rm/things/1").header("idempotency-key", "k"), "a").await).await, one);
    // The same command, found to be another request by its digest.
    for (path, body) in [("/api/v1/rm/things/1", "b"), ("/api/v1/rm/things/2", "a")] {
        let other = text(send(post(path).header("idempotency-key", "k"), body).await).await;
        assert_eq!(other.split(' ').next(), one.split(' ').next());
        assert_ne!(other, one);
    }
    let first = text(send(post("/api/v1/rm/things/1"), "a").await).await;
    assert_ne!(text(send(post("/api/v1/rm/things/1"), "a").await).await, first);
    for bad in ["", "two words", &"k".repeat(256)] {
        let response = send(post("/api/v1/rm/things/1").header("idempotency-key", bad), "a").await;
        problem(response, 400, "invalid_request").await;
    }
    let longest = "k".repeat(255);
    assert_eq!(send(post("/api/v1/rm/things/1").header("idempotency-key", longest), "").await.status(), StatusCode::OK);

    for (tag, version) in [("\"3\"", "Some(3)"), ("*", "None")] {
        let answer = text(send(post("/api/v1/rm/things/1").header(header::IF_MATCH, tag), "").await).await;
        assert!(answer.ends_with(version), "{answer}");
    }
    for bad in ["3", "\"x\"", "W/\"3\"", "\"-1\""] {
        let response = send(post("/api/v1/rm/things/1").header(header::IF_MATCH, bad), "").await;
        problem(response, 400, "invalid_request").await;
    }
}

#[tokio::test]
async fn a_panic_is_a_500_that_tells_nothing() {
    let server = Server::start().await;
    let key = server.key(Scope::Full).await;
    let response = server.send(request(Method::GET, "/api/v1/rm/panic", &key).body(Body::empty()).unwrap()).await;
    let body = problem(response, 500, "internal").await;
    assert!(!body.to_string().contains("secret"), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_a_503_and_no_401() {
    let database =
        tokio::task::spawn_blocking(|| stash_infra::testing::Postgres::start(stash_infra::testing::Durability::None))
            .await
            .unwrap();
    let pool = database.database().await;
    let server = Server::on(&pool.connect_options()).await;
    let key = server.key(Scope::Full).await;
    tokio::task::block_in_place(|| database.stop());
    let response = server.send(request(Method::GET, "/api/v1/rm/things/1", &key).body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    problem(response, 503, "unavailable").await;
    tokio::task::block_in_place(|| database.start_again());
    let response = server.send(request(Method::GET, "/api/v1/rm/things/1", &key).body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    tokio::task::block_in_place(move || drop(database));
}

struct Switch(Arc<AtomicBool>);

#[async_trait::async_trait]
impl Check for Switch {
    fn name(&self) -> &'static str {
        "switch"
    }

    async fn check(&self) -> Result<(), String> {
        if self.0.load(Ordering::SeqCst) { Ok(()) } else { Err("it is off".into()) }
    }
}

#[tokio::test]
async fn readiness_is_the_sum_of_its_checks_and_liveness_needs_none() {
    for on in [true, false] {
        let checks: Vec<Box<dyn Check>> =
            vec![Box::new(Switch(Arc::new(AtomicBool::new(true)))), Box::new(Switch(Arc::new(AtomicBool::new(on))))];
        let router = with_common_layers(health::router(Arc::new(Health::new(checks))));
        let ask = async |path: &str| {
            let response = router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
            (response.status().as_u16(), serde_json::from_str::<Value>(&text(response).await).unwrap())
        };
        assert_eq!(ask("/healthz").await, (200, json!({ "status": "ok" })));
        let (status, found) = ask("/readyz").await;
        assert_eq!(status, if on { 200 } else { 503 });
        let detail = if on { Value::Null } else { json!("it is off") };
        let second = json!({ "name": "switch", "ok": on, "detail": detail });
        let first = json!({ "name": "switch", "ok": true, "detail": null });
        assert_eq!(found, json!({ "ready": on, "checks": [first, second] }));
    }
}

/// A log whose two partitions hold 10 records each, or that is away.
struct Tails(Arc<AtomicBool>);

#[async_trait::async_trait]
impl EventLog for Tails {
    fn id(&self) -> LogId {
        LOG
    }

    fn partitions(&self) -> u16 {
        2
    }

    async fn append(&self, _: Vec<NewRecord>) -> Result<Vec<Position>, LogError> {
        Err(LogError::Unavailable("read only".into()))
    }

    async fn read(&self, _: &[(Partition, Offset)]) -> Result<Box<dyn LogReader>, LogError> {
        Err(LogError::Unavailable("no reader".into()))
    }

    async fn tail(&self, _: Partition) -> Result<Offset, LogError> {
        if self.0.load(Ordering::SeqCst) {
            Ok(Offset(10))
        } else {
            Err(LogError::Unavailable("broker 10.0.0.7".into()))
        }
    }

    async fn offset_for_time(&self, _: Partition, _: Timestamp) -> Result<Offset, LogError> {
        Ok(Offset(0))
    }
}

#[tokio::test]
async fn the_log_and_the_lag_are_checked_in_words_that_may_be_public() {
    let reachable = Arc::new(AtomicBool::new(true));
    let log: Arc<dyn EventLog> = Arc::new(Tails(reachable.clone()));
    let marks = Arc::new(Watermarks::new(2));
    let lag = LagCheck { log: log.clone(), marks: marks.clone(), records_max: 5 };
    assert_eq!(lag.check().await.unwrap_err(), "the read models are 20 records behind");
    marks.applied(Partition(0), Offset(10));
    marks.applied(Partition(1), Offset(4));
    assert_eq!(lag.check().await.unwrap_err(), "the read models are 6 records behind");
    marks.applied(Partition(1), Offset(5));
    lag.check().await.unwrap();
    LogCheck(log.clone()).check().await.unwrap();
    reachable.store(false, Ordering::SeqCst);
    for check in [&LogCheck(log.clone()) as &dyn Check, &lag] {
        assert!(!check.check().await.unwrap_err().contains("10.0.0.7"));
    }
}

#[tokio::test]
async fn the_database_is_checked() {
    let database = stash_infra::testing::postgres().database().await;
    DatabaseCheck(database.clone()).check().await.unwrap();
    database.close().await;
    assert!(DatabaseCheck(database).check().await.is_err());
}
