//! What the server refused, in its own words.

use reqwest::StatusCode;
use serde_json::Value;

/// An error answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: u16,
    /// The code: last part of the problem's `type`; empty if the answer is no problem of ours.
    pub(crate) code: String,
    detail: String,
    request_id: String,
}

impl ApiError {
    /// Reads a problem; whatever else the body is, the status is told.
    pub(super) fn of(status: StatusCode, body: &[u8]) -> Self {
        let problem: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let detail = text("detail");
        let code = text("type").rsplit('/').next().unwrap_or_default().to_owned();
        let detail = if detail.is_empty() { format!("the server answered {status}") } else { detail };
        Self { status: status.as_u16(), code, detail, request_id: text("request_id") }
    }

    /// The answer could not be read.
    pub(super) fn broken(status: StatusCode, error: &dyn std::fmt::Display) -> Self {
        let detail = format!("the server's answer cannot be read: {error}");
        Self { status: status.as_u16(), code: String::new(), detail, request_id: String::new() }
    }

    /// The command is on its way and nobody knows yet what became of it.
    pub(super) fn pending() -> Self {
        let detail = "the command is in the log, and its outcome is not known yet; look again in a while".to_owned();
        Self { status: 202, code: "pending".to_owned(), detail, request_id: String::new() }
    }

    /// Whether the same request may succeed in a while.
    pub(super) fn may_pass(&self) -> bool {
        self.status == 429 || (self.status == 503 && self.code == "unavailable")
    }

    /// Whether it is the request that is wrong, so that another may do better.
    pub(crate) fn is_about_the_request(&self) -> bool {
        matches!(self.status, 400 | 404 | 409 | 411 | 413 | 415 | 422)
    }

    /// Whether the key is refused.
    pub(crate) fn is_about_the_key(&self) -> bool {
        matches!(self.status, 401 | 403)
    }

    /// Whether the remembered position is of a log that is no more.
    pub(super) fn is_of_another_log(&self) -> bool {
        self.status == 400 && self.detail.starts_with("X-Stash-Min-Position")
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)?;
        if self.status >= 500 && !self.request_id.is_empty() {
            write!(f, " (request {})", self.request_id)?;
        }
        Ok(())
    }
}

impl std::error::Error for ApiError {}

/// No server answers at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreachable {
    pub(super) url: String,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no Stash answers at {}; start one with `stash up`, or set STASH_URL", self.url)
    }
}

impl std::error::Error for Unreachable {}

/// Whether no server answers.
pub(crate) fn is_unreachable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Unreachable>().is_some()
}

/// Whether a connection to a server broke.
pub(crate) fn is_broken_off(error: &anyhow::Error) -> bool {
    error.downcast_ref::<reqwest::Error>().is_some()
}
