//! One request to one host: bounded, not too many at once, and sent again where that may help.
//!
//! - [`http`]: the request itself; [`gate`]: a host's limit, and its pauses
//! - [`retry`]: what is sent again, and when

mod gate;
mod http;
mod retry;
#[cfg(test)]
mod tests;

pub use http::HttpPost;
pub use retry::Pace;

use super::error::LlmError;
use crate::clock::Clock;
use crate::telemetry::metrics::LLM_REQUESTS;
use async_trait::async_trait;
use bytes::Bytes;
use gate::Gates;
use reqwest::Url;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A request.
pub struct Outgoing<'a> {
    /// Whom it goes to, as figures call it.
    pub provider: &'static str,
    /// Where to.
    pub url: &'a Url,
    /// Its headers, the key among them.
    pub headers: &'a [(&'static str, String)],
    /// Its body.
    pub body: Bytes,
}

/// A response, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// HTTP status.
    pub status: u16,
    /// `Retry-After`, as it stands there.
    pub retry_after: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The server cannot be reached, or hung up.
    #[error("{0}")]
    Connection(String),
    /// It took too long.
    #[error("no whole answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// Its answer is larger than any answer may be.
    #[error("its answer has more than {0} bytes")]
    TooLarge(usize),
}

/// Sends requests. A seam for tests: retries can then be watched without a network and without time.
#[async_trait]
pub trait Post: Send + Sync {
    /// Sends one, once.
    ///
    /// # Errors
    /// [`Fault`].
    async fn post(&self, request: Outgoing<'_>) -> Result<Incoming, Fault>;
}

/// Sends requests, with all that is between a call and the network.
pub struct Transport {
    post: Arc<dyn Post>,
    gates: Gates,
    pace: Pace,
    clock: Arc<dyn Clock>,
}

impl Transport {
    /// One with at most `concurrency` requests at once per host.
    pub fn new(post: Arc<dyn Post>, concurrency: usize, pace: Pace, clock: Arc<dyn Clock>) -> Self {
        Self { post, gates: Gates::new(concurrency), pace, clock }
    }

    /// Sends a request until `read` takes its response, or nothing more can be hoped for. A response of another status than 200
    /// is returned as it is when sending again would not change it.
    ///
    /// # Errors
    /// [`LlmError::RateLimited`], [`LlmError::Unavailable`], [`LlmError::BadResponse`].
    pub(super) async fn send<T>(
        &self,
        host: &str,
        request: Outgoing<'_>,
        read: impl Fn(&[u8]) -> Result<T, String> + Send,
    ) -> Result<Result<T, Incoming>, LlmError> {
        let gate = self.gates.of(host);
        let mut tried: u32 = 0;
        loop {
            tried = tried.saturating_add(1);
            let outgoing = Outgoing { body: request.body.clone(), ..request };
            let outcome = {
                let _place = gate.enter().await;
                let began = Instant::now();
                let outcome = self.post.post(outgoing).await;
                let status = outcome.as_ref().map_or("none".to_owned(), |response| response.status.to_string());
                tracing::debug!(
                    host,
                    status,
                    tried,
                    seconds = began.elapsed().as_secs_f64(),
                    "a model's server answered"
                );
                let provider = request.provider;
                metrics::counter!(LLM_REQUESTS.name, "provider" => provider, "status" => status).increment(1);
                outcome
            };
            let failed = match outcome {
                Ok(response) if response.status == 200 => match read(&response.body) {
                    Ok(heard) => return Ok(Ok(heard)),
                    Err(reason) => Failed::soon(LlmError::BadResponse { host: host.to_owned(), reason }),
                },
                Ok(response) if !retry::may_pass(response.status) => return Ok(Err(response)),
                Ok(response) => self.failed(host, &response),
                Err(Fault::TooLarge(bytes)) => {
                    let reason = Fault::TooLarge(bytes).to_string();
                    return Err(LlmError::BadResponse { host: host.to_owned(), reason });
                }
                Err(fault) => Failed::soon(LlmError::Unavailable { host: host.to_owned(), reason: fault.to_string() }),
            };
            match failed.next(&self.pace, tried) {
                Next::Stop => return Err(failed.error),
                // What one request was told holds for all of them.
                Next::WaitTogether(wait) => gate.pause(wait),
                Next::Wait(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    fn failed(&self, host: &str, response: &Incoming) -> Failed {
        let wait = response.retry_after.as_deref().and_then(|text| retry::wait_of(text, self.clock.now()));
        let host = host.to_owned();
        let error = match response.status {
            429 => LlmError::RateLimited { host, retry_after: wait },
            status => LlmError::Unavailable { host, reason: format!("it answers with status {status}") },
        };
        Failed { error, wait }
    }
}

/// An attempt that failed and may be repeated.
struct Failed {
    error: LlmError,
    /// How long the server asked to wait.
    wait: Option<Duration>,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nothing.
    Stop,
    /// Another, after a pause of ours.
    Wait(Duration),
    /// Another, after the pause that the server asked of everybody.
    WaitTogether(Duration),
}

impl Failed {
    /// What follows after so many attempts.
    fn next(&self, pace: &Pace, tried: u32) -> Next {
        match self.wait {
            _ if tried > pace.retries_max => Next::Stop,
            // Waiting longer than this holds up whoever waits for the job: it is tried again as a whole.
            Some(asked) if asked > pace.wait_max => Next::Stop,
            Some(asked) => Next::WaitTogether(asked),
            None => Next::Wait(pace.pause(tried)),
        }
    }

    fn soon(error: LlmError) -> Self {
        Self { error, wait: None }
    }
}
