//! An answer, read whole.

use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

/// See above.
#[derive(Clone, Debug)]
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

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header that must be there.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }

    /// The answer, once its status is known to be this one.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// The answer of a command: this status, and a position.
    #[track_caller]
    pub(crate) fn done(&self, status: u16) -> &Self {
        self.ok(status).header("x-stash-position");
        self
    }

    /// Checks that it is a problem with this code, and gives its body.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let body = self.json();
        assert_eq!(body["type"], format!("/docs/errors/{code}"), "{body}");
        assert_eq!(body["status"], status);
        assert!(body["title"].is_string());
        assert_eq!(body["request_id"], self.header("x-request-id"));
        body
    }

    /// Checks that it is a problem with this code, and gives its detail.
    #[track_caller]
    pub(crate) fn detail(&self, status: u16, code: &str) -> String {
        self.problem(status, code)["detail"].as_str().unwrap().to_owned()
    }
}
