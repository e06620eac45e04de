//! A client as the documentation asks for: each change has an idempotency key and is sent again, unchanged, until its outcome
//! is known.

use super::site::Account;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long one request may take before the client gives it up.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a change may stay without an outcome. Longer than any outage of the tests.
const OUTCOME_MAX: Duration = Duration::from_secs(180);

/// Pause before a request is sent again.
const AGAIN: Duration = Duration::from_millis(50);

/// What the clients of a test saw, together.
#[derive(Default)]
pub(crate) struct Seen {
    /// Requests that were answered with an outcome.
    pub(crate) outcomes: AtomicU64,
    /// Requests without an answer: the connection was refused or broke.
    pub(crate) broken: AtomicU64,
    /// Answers 503 with `Retry-After`.
    pub(crate) unavailable: AtomicU64,
    /// Of them, those with the code `storage_full`.
    pub(crate) storage_full: AtomicU64,
    /// Answers 202.
    pub(crate) pending: AtomicU64,
    /// Answers that must not be, in words.
    pub(crate) wrong: Mutex<Vec<String>>,
}

impl Seen {
    /// Notes an answer that must not be.
    fn note_wrong(&self, what: String) {
        let mut wrong = self.wrong.lock().expect("no test panics while it holds this");
        if wrong.len() < 20 {
            wrong.push(what);
        }
    }

    /// Fails if there was any answer that must not be.
    pub(crate) fn assert_nothing_wrong(&self) {
        let wrong = self.wrong.lock().expect("no test panics while it holds this");
        assert!(wrong.is_empty(), "wrong answers:\n{}", wrong.join("\n"));
    }

    /// For the test's output.
    pub(crate) fn summary(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        format!(
            "{} outcomes, {} broken connections, {} times 503 ({} for want of space), {} times 202",
            of(&self.outcomes),
            of(&self.broken),
            of(&self.unavailable),
            of(&self.storage_full),
            of(&self.pending)
        )
    }
}

/// A change.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Method.
    pub(crate) method: Method,
    /// Path below `/api/v1/rm`.
    pub(crate) path: String,
    /// JSON body.
    pub(crate) body: Option<Value>,
    /// `If-Match`.
    pub(crate) if_match: Option<u64>,
    /// `Idempotency-Key`.
    pub(crate) key: String,
}

/// The outcome of a change.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Its status: 2xx, or 4xx.
    pub(crate) status: StatusCode,
    /// Its body; null for none.
    pub(crate) body: Value,
    /// The command that a 202 on the way named.
    pub(crate) command: Option<uuid::Uuid>,
}

/// One client of one account. It reads its own writes: every request names the newest position it was told.
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    account: Account,
    position: Option<String>,
    seen: Arc<Seen>,
}

impl Client {
    /// A client of the API at `url`.
    pub(crate) fn new(url: String, account: Account, seen: Arc<Seen>) -> Self {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build().expect("an HTTP client");
        Self { http, url, account, position: None, seen }
    }

    /// Makes a change, however often it must be sent.
    pub(crate) async fn change(&mut self, change: &Change) -> Outcome {
        let begin = Instant::now();
        let mut command = None;
        loop {
            match self.send(change).await {
                Sent::Outcome(status, body) => {
                    self.seen.outcomes.fetch_add(1, Ordering::Relaxed);
                    return Outcome { status, body, command };
                }
                Sent::Pending(id) => command = id.or(command),
                Sent::Nothing => {}
            }
            assert!(begin.elapsed() < OUTCOME_MAX, "no outcome of {change:?} within {OUTCOME_MAX:?}");
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Reads, as often as needed until there is an answer.
    pub(crate) async fn read(&mut self, path: &str) -> (StatusCode, Value) {
        let change =
            Change { method: Method::GET, path: path.to_owned(), body: None, if_match: None, key: "read".to_owned() };
        let outcome = self.change(&change).await;
        (outcome.status, outcome.body)
    }

    async fn send(&mut self, change: &Change) -> Sent {
        let mut request = self.http.request(change.method.clone(), format!("{}/api/v1/rm{}", self.url, change.path));
        request = request.bearer_auth(&self.account.key);
        if change.method != Method::GET {
            request = request.header("Idempotency-Key", &change.key);
        }
        if let Some(position) = &self.position {
            request = request.header("X-Stash-Min-Position", position);
        }
        if let Some(version) = change.if_match {
            request = request.header("If-Match", format!("\"{version}\""));
        }
        if let Some(body) = &change.body {
            request = request.json(body);
        }
        let begin = Instant::now();
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return self.no_answer(change, &error, begin),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let bytes = match response.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return self.no_answer(change, &error, begin),
        };
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if let Some(position) = header("x-stash-position") {
            self.position = Some(position);
        }
        match status {
            StatusCode::ACCEPTED if body["state"] == "pending" => {
                self.seen.pending.fetch_add(1, Ordering::Relaxed);
                Sent::Pending(body["command_id"].as_str().and_then(|id| id.parse().ok()))
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                if header("retry-after").is_none() {
                    self.seen.note_wrong(format!("503 without Retry-After: {} {}: {body}", change.method, change.path));
                }
                if body["type"].as_str().is_some_and(|kind| kind.ends_with("/storage_full")) {
                    self.seen.storage_full.fetch_add(1, Ordering::Relaxed);
                }
                self.seen.unavailable.fetch_add(1, Ordering::Relaxed);
                Sent::Nothing
            }
            status if status.is_success() || status.is_client_error() => Sent::Outcome(status, body),
            status => {
                self.seen.note_wrong(format!("{status}: {} {}: {body}", change.method, change.path));
                Sent::Nothing
            }
        }
    }

    fn no_answer(&self, change: &Change, error: &reqwest::Error, begin: Instant) -> Sent {
        self.seen.broken.fetch_add(1, Ordering::Relaxed);
        if error.is_timeout() {
            let waited = begin.elapsed();
            self.seen.note_wrong(format!("no answer within {waited:?}: {} {}", change.method, change.path));
        }
        Sent::Nothing
    }
}

/// What became of one request.
enum Sent {
    /// It is decided.
    Outcome(StatusCode, Value),
    /// It will be.
    Pending(Option<uuid::Uuid>),
    /// It may be or not.
    Nothing,
}
