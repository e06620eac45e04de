//! A client that remembers the position of its last command.

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use std::sync::Mutex;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: StatusCode,
    /// Its body; null if it has none or it is no JSON.
    pub(crate) body: Value,
    /// Its body as text.
    pub(crate) text: String,
}

impl Answer {
    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.text);
        self.body
    }
}

/// A client.
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
    position: Mutex<Option<String>>,
}

impl Client {
    /// A client of this server; without a key, it sends none.
    pub(crate) fn new(url: &str, key: Option<&str>) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { http, url: url.to_owned(), key: key.map(str::to_owned), position: Mutex::new(None) }
    }

    /// A request; a path that begins with `/api`, or any other, is taken as it is, anything else below the API's base.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/rm/{path}") };
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(position) = &*self.position.lock().unwrap() {
            request = request.header("X-Stash-Min-Position", position);
        }
        request
    }

    /// Sends it.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let status = response.status();
        if let Some(position) = response.headers().get("X-Stash-Position") {
            *self.position.lock().unwrap() = Some(position.to_str().unwrap().to_owned());
        }
        let text = response.text().await.unwrap();
        Answer { status, body: serde_json::from_str(&text).unwrap_or_default(), text }
    }

    /// Reads.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// Commands.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// Deletes.
    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Imports lines of the Stash Trace Format; returns the traces' ids.
    pub(crate) async fn import(&self, lines: &str) -> Vec<String> {
        let body = serde_json::json!({ "format": "stash", "data": lines });
        let answer = self.post("traces/import", &body).await.ok();
        answer["trace_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }
}
