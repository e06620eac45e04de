//! Nothing secret or personal in the log, whatever the level, over a real connection.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use serde::Deserialize;
use stash_infra::clock::SystemClock;
use stash_infra::http::{Idempotency, JsonBody, caller, with_common_layers};
use stash_infra::identity::{Identity, NewAccount, NewKey, Role, Scope};
use stash_infra::postgres::{self, PoolSizes};
use stash_infra::telemetry::{self, LogFormat, Metrics};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// What a person wrote.
const CONTENT: &str = "mydoctorsaysitisserious";

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl std::io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Deserialize)]
struct Comment {
    comment: String,
}

async fn keep(_: Idempotency, body: JsonBody<Comment>) -> String {
    format!("kept {} characters", body.comment.len())
}

async fn slip(body: JsonBody<Comment>) -> String {
    // Slicing inside a character panics with a text that quotes the string.
    body.comment[..1].to_owned()
}

async fn broken(_: Request) -> Result<String, stash_infra::http::Problem> {
    Err(sqlx::Error::RowNotFound.into())
}

/// Sends one request over a connection of its own and returns the whole answer.
async fn send(address: std::net::SocketAddr, head: &str, body: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let text = format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn converse(captured: &Captured) -> String {
    let database = stash_infra::testing::postgres().database().await;
    let pools = postgres::open(&database.connect_options(), PoolSizes { api: 2, system: 2 }).await.unwrap();
    let identity = Arc::new(Identity::new(pools.system, Arc::new(SystemClock)));
    let new = NewAccount { email: "ada@example.org".into(), name: "Ada Lovelace".into(), role: Role::User };
    let account = identity.create_account_if_new(&new).await.unwrap().0.id;
    let new = NewKey { account_id: account, scope: Scope::Full, name: "laptop".into(), expires_at: None };
    let key = identity.create_key(&new).await.unwrap().0;
    let api = Router::new()
        .route("/things/{name}", post(keep))
        .route("/slip", post(slip))
        .route("/broken", get(broken))
        .layer(from_fn(caller::require_reward_models))
        .layer(from_fn_with_state(identity, caller::require));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, with_common_layers(api)).await });

    let auth = format!("Authorization: Bearer {}\r\nContent-Type: application/json", key.expose());
    let body = format!("{{\"comment\": \"{CONTENT}\"}}");
    let path = format!("/things/{CONTENT}?q={CONTENT}");
    let head = format!("POST {path} HTTP/1.1\r\nIdempotency-Key: {CONTENT}\r\nX-Request-Id: the-id\r\n{auth}");
    assert!(send(address, &head, &body).await.starts_with("HTTP/1.1 200"));
    let wrong = format!("{{\"comment\": [\"{CONTENT}\"]}}");
    assert!(send(address, &head, &wrong).await.starts_with("HTTP/1.1 422"));
    let bad_key = format!("GET /broken HTTP/1.1\r\nAuthorization: Bearer {}0", key.expose());
    assert!(send(address, &bad_key, "").await.starts_with("HTTP/1.1 401"));
    let head = format!("POST /slip HTTP/1.1\r\n{auth}");
    let slippery = format!("{{\"comment\": \"é{CONTENT}\"}}");
    assert!(send(address, &head, &slippery).await.starts_with("HTTP/1.1 500"));
    let head = format!("GET /broken HTTP/1.1\r\nX-Request-Id: broken-one\r\n{auth}");
    assert!(send(address, &head, "").await.starts_with("HTTP/1.1 500"));
    server.abort();

    let log = captured.text();
    for secret in [CONTENT, &key.expose()[28..], "ada@example.org", "Lovelace"] {
        let place = log.find(secret).map(|at| &log[at.saturating_sub(300)..at + secret.len()]);
        assert_eq!(place, None, "{secret} stands in the log");
    }
    log
}

/// One thread, so that everything the server does is seen by this thread's subscriber.
fn run(format: LogFormat) -> String {
    telemetry::log_panics();
    let captured = Captured::default();
    let writer = captured.clone();
    let subscriber = telemetry::subscriber("trace", format, false, move || writer.clone()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || runtime.block_on(converse(&captured)))
}

#[test]
fn text_lines_hold_the_request_and_nothing_of_what_it_said() {
    let log = run(LogFormat::Text);
    assert!(log.contains("request_id=\"the-id\" method=\"POST\" route=\"/things/{name}\" status=200"), "{log}");
    assert!(log.contains("tests/telemetry.rs:"), "the place of the panic is logged");
    // A fault is found by the id that its answer gave.
    let fault = log.lines().find(|line| line.contains("ERROR") && line.contains("broken-one"));
    assert!(fault.is_some_and(|line| line.contains("no rows returned")), "{fault:?}");
}

#[test]
fn json_lines_are_json_and_hold_the_same() {
    let log = run(LogFormat::Json);
    let mut answered = 0;
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect(line);
        if line["message"] == "answered" && line["span"]["request_id"] == "the-id" {
            assert_eq!(line["span"]["route"], "/things/{name}");
            assert!(line["span"]["latency_ms"].as_f64().unwrap() >= 0.0);
            answered += 1;
        }
    }
    assert_eq!(answered, 2);
}

#[test]
fn a_filter_that_cannot_be_read_is_refused() {
    let refused = telemetry::subscriber("info,=nonsense=", LogFormat::Text, false, std::io::stderr);
    assert!(refused.err().unwrap().to_string().starts_with("RUST_LOG"));
}

#[test]
fn requests_are_counted_by_pattern_and_closed_sets_of_labels() {
    let (recorder, metrics) = Metrics::recorder();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    ::metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let router = with_common_layers(Router::new().route("/things/{name}", get(async || "a thing")));
            for (method, path) in [("GET", "/things/a"), ("GET", "/things/b"), ("WILD", "/things/a"), ("GET", "/none")]
            {
                let request = Request::builder().method(method).uri(path).body(axum::body::Body::empty()).unwrap();
                tower::ServiceExt::oneshot(router.clone(), request).await.unwrap();
            }
        });
    });
    let text = metrics.render();
    for line in [
        r#"stash_http_requests_total{method="GET",route="/things/{name}",status="200"} 2"#,
        r#"stash_http_requests_total{method="other",route="/things/{name}",status="405"} 1"#,
        r#"stash_http_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        "stash_http_requests_in_flight 0",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
