//! Requests, made step by step.

use super::World;
use super::answer::Answer;
use axum::body::{Body, to_bytes};
use axum::http::request::Builder;
use axum::http::{Method, Request};
use serde_json::Value;
use tower::ServiceExt as _;

/// A request in the making, with the key of the test's account.
pub(crate) struct Call<'a> {
    world: &'a World,
    key: Option<String>,
    request: Builder,
    body: Body,
}

impl World {
    /// A request of any method, below the base path.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call<'_> {
        let request = Request::builder().method(method).uri(format!("/api/v1/rm{path}"));
        Call { world: self, key: Some(self.key.clone()), request, body: Body::empty() }
    }

    pub(crate) fn get(&self, path: &str) -> Call<'_> {
        self.call(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &str) -> Call<'_> {
        self.call(Method::POST, path)
    }

    pub(crate) fn patch(&self, path: &str) -> Call<'_> {
        self.call(Method::PATCH, path)
    }

    pub(crate) fn delete(&self, path: &str) -> Call<'_> {
        self.call(Method::DELETE, path)
    }
}

impl Call<'_> {
    /// With another key.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Without a key.
    pub(crate) fn anonymous(mut self) -> Self {
        self.key = None;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Not before what this command did is there.
    pub(crate) fn after(self, command: &Answer) -> Self {
        let position = command.header("x-stash-position").to_owned();
        self.header("x-stash-min-position", &position)
    }

    pub(crate) fn idempotent(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, value: &Value) -> Self {
        self.header("content-type", "application/json").body(value.to_string())
    }

    pub(crate) fn jsonl(self, lines: &str) -> Self {
        self.header("content-type", "application/jsonl").body(lines.to_owned())
    }

    pub(crate) async fn send(self) -> Answer {
        let mut request = self.request;
        if let Some(key) = self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let response = self.world.app.clone().oneshot(request.body(self.body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }
}
