//! A small client of the API, for the commands and the sample.
//!
//! - Every command carries an idempotency key, so that one whose answer was lost or late is simply sent again.
//! - The position of the last command is remembered per server, and sent with every read: what one did is seen by the next
//!   command, whichever process answers.

mod error;
mod find;
mod position;
mod stream;

pub(crate) use error::{ApiError, is_broken_off, is_unreachable};
pub(crate) use find::{ConnectionFile, find, load_local};
pub(crate) use position::state_folder;
pub(crate) use stream::Upload;

use anyhow::{Context as _, bail};
use position::Memory;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;
use stash_domain::ids::derive;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a command goes on trying when the server is there and cannot answer now.
const TRY_MAX: Duration = Duration::from_secs(60);

/// Longest pause between two tries, whatever the server says.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Pause where the server names none.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(10);

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
const POSITION: &str = "X-Stash-Position";
const MIN_POSITION: &str = "X-Stash-Min-Position";

/// The API's routes begin with this.
const BASE: &str = "/api/v1/rm";

/// A client of one server, with one key.
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    identity: Uuid,
    memory: Memory,
}

impl Client {
    /// A client that remembers positions only as long as it lives.
    pub(crate) fn new(url: &str, key: &str) -> anyhow::Result<Self> {
        Self::with_memory(url, key, Memory::default())
    }

    /// A client that remembers positions for the commands after this one.
    pub(crate) fn remembering(url: &str, key: &str) -> anyhow::Result<Self> {
        Self::with_memory(url, key, Memory::of_server(url))
    }

    fn with_memory(url: &str, key: &str, memory: Memory) -> anyhow::Result<Self> {
        let url = url.trim_end_matches('/').to_owned();
        if !url.starts_with("http://") {
            bail!(
                "the server's address {url:?} does not begin with http://; this program speaks plain HTTP only, so reach a \
                   remote server through a tunnel"
            );
        }
        let mut bearer = HeaderValue::from_str(&format!("Bearer {key}")).context("the API key holds odd characters")?;
        bearer.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
        let http = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_MAX)
            // A proxy of the environment is meant for the internet, and the server is mostly on this machine.
            .no_proxy()
            .build()
            .context("the HTTP client cannot be made")?;
        let identity = derive("client", &[url.as_bytes(), key.as_bytes()]);
        Ok(Self { http, url, identity, memory })
    }

    /// The server's address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Names server and key, without telling either.
    pub(crate) fn identity(&self) -> String {
        self.identity.to_string()
    }

    /// Names the event log of the server, which it is asked about; none if nothing was written to it by this user yet. A server
    /// that has another log than last time refuses the position remembered, which is then forgotten.
    pub(crate) async fn log(&self) -> anyhow::Result<Option<String>> {
        self.get("/traces?limit=1").await?;
        Ok(self.log_remembered())
    }

    /// Names the event log of the last command.
    pub(crate) fn log_remembered(&self) -> Option<String> {
        Some(self.memory.get()?.split('-').next()?.to_owned())
    }

    /// Reads.
    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.answer(Method::GET, path, None).await
    }

    /// Commands.
    pub(crate) async fn post(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Value> {
        self.answer(Method::POST, path, Some(serde_json::to_value(body)?)).await
    }

    /// Changes.
    pub(crate) async fn patch(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Value> {
        self.answer(Method::PATCH, path, Some(serde_json::to_value(body)?)).await
    }

    /// Deletes.
    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.answer(Method::DELETE, path, None).await.map(|_| ())
    }

    /// Sends until there is an answer that is neither "later" nor "pending".
    async fn answer(&self, method: Method, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let command = Uuid::now_v7().to_string();
        let begin = Instant::now();
        loop {
            let mut request = self.request(method.clone(), path);
            if method != Method::GET {
                request = request.header(IDEMPOTENCY_KEY, &command);
            }
            if let Some(body) = &body {
                request = request.json(body);
            }
            let response = self.send(request).await?;
            let pause = pause_of(&response);
            let again = match take(response).await {
                Ok(value) if is_pending(&value) => ApiError::pending(),
                Ok(value) => return Ok(value),
                Err(error) if error.is_of_another_log() && self.memory.forget() => continue,
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error.into()),
            };
            if begin.elapsed() + pause > TRY_MAX {
                return Err(again.into());
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// A request to one of the API's routes.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{BASE}{path}", self.url));
        match self.memory.get() {
            Some(position) => request.header(MIN_POSITION, position),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        if let Some(position) = response.headers().get(POSITION).and_then(|value| value.to_str().ok()) {
            self.memory.set(position);
        }
        Ok(response)
    }

    fn unreachable(&self, broken: reqwest::Error) -> anyhow::Error {
        if broken.is_connect() {
            return error::Unreachable { url: self.url.clone() }.into();
        }
        anyhow::Error::new(broken).context(format!("the request to {} failed", self.url))
    }
}

/// The answer's body, or the problem that it tells of.
async fn take(response: Response) -> Result<Value, ApiError> {
    let status = response.status();
    let body = response.bytes().await.map_err(|error| ApiError::broken(status, &error))?;
    if !status.is_success() {
        return Err(ApiError::of(status, &body));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body).map_err(|error| ApiError::broken(status, &error))
}

/// Whether a command's verdict is still to come. A scoring run that was begun is answered with 202 too.
fn is_pending(value: &Value) -> bool {
    value.get("command_id").is_some() && value.get("state").and_then(Value::as_str) == Some("pending")
}

fn pause_of(response: &Response) -> Duration {
    if response.status() == StatusCode::ACCEPTED {
        return PAUSE;
    }
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    seconds.map_or(PAUSE, Duration::from_secs).min(PAUSE_MAX)
}
