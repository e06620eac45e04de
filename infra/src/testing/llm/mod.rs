//! A server of language models that answers by script: both wire formats, on loopback, and as slow, wrong or hostile as a test
//! wants. It keeps what it was asked.
//!
//! ```ignore
//! let server = LlmServer::start(|asked| match asked.form {
//!     Form::Schema => Answer::refuses("response_format is not supported"),
//!     _ => Answer::says(r#"{"title": "A title"}"#),
//! }).await;
//! // … HOSTED_VLLM_API_BASE=server.base(), model hosted_vllm/any …
//! assert_eq!(server.asked().len(), 2);
//! ```

mod answer;
mod asked;
pub mod judge;

pub use answer::{Answer, Held};
pub use asked::Asked;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

struct Shared {
    script: Box<Script>,
    asked: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
    running: AtomicUsize,
    running_most: AtomicUsize,
}

/// A running server; it stops when it is dropped.
pub struct LlmServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl LlmServer {
    /// Starts one whose answers are what `script` says to each request.
    pub async fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            script: Box::new(script),
            asked: Mutex::default(),
            count: watch::Sender::new(0),
            running: AtomicUsize::new(0),
            running_most: AtomicUsize::new(0),
        });
        let listener = super::made(tokio::net::TcpListener::bind(("127.0.0.1", 0)).await, "a port for a model server");
        let address = super::made(listener.local_addr(), "its address");
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let task = tokio::spawn(async move {
            // Ends with the task.
            let _ = axum::serve(listener, router).await;
        });
        Self { address, shared, task }
    }

    /// Its address for variables that hold one with the version: OpenAI's and those of servers like it.
    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Its address for `ANTHROPIC_BASE_URL`.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order in which they came.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until so many requests have come.
    pub async fn wait_for(&self, requests: usize) {
        // The sender lives as long as the server does, so this ends with a count.
        let _ = self.shared.count.subscribe().wait_for(|count| *count >= requests).await;
    }

    /// The most requests that were answered at the same time.
    pub fn at_once_most(&self) -> usize {
        self.shared.running_most.load(Ordering::Acquire)
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Counts a request as running, also when its client goes away.
struct RunningGuard(Arc<Shared>);

impl RunningGuard {
    fn begin(shared: &Arc<Shared>) -> Self {
        let now = shared.running.fetch_add(1, Ordering::AcqRel) + 1;
        shared.running_most.fetch_max(now, Ordering::AcqRel);
        Self(shared.clone())
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Pin<Box<dyn Future<Output = Response> + Send>> {
    Box::pin(async move {
        let _running = RunningGuard::begin(&shared);
        let asked = {
            let mut all = shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = Asked::read(all.len(), uri.path(), &headers, &body);
            all.push(asked.clone());
            asked
        };
        let answer = (shared.script)(&asked);
        shared.count.send_modify(|count| *count += 1);
        answer.respond(&asked).await
    })
}
