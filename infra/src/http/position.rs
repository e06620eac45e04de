//! Reading one's own writes: every command answers with `X-Stash-Position`, and every read that is given it back as
//! `X-Stash-Min-Position` waits until the read models have come that far.

use crate::http::problem::Problem;
use crate::watermark::Watermarks;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, IntoResponseParts, Response, ResponseParts};
use stash_domain::error::Code;
use stash_domain::position::{LogId, PositionToken};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// In answers: the read models include the request's effect from here on.
pub static X_STASH_POSITION: HeaderName = HeaderName::from_static("x-stash-position");

/// In requests: do not answer from anything older.
pub static X_STASH_MIN_POSITION: HeaderName = HeaderName::from_static("x-stash-min-position");

/// Puts the position into an answer: `(At(token), body)`; no header for `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub Option<PositionToken>);

impl IntoResponseParts for At {
    type Error = Infallible;

    fn into_response_parts(self, mut parts: ResponseParts) -> Result<ResponseParts, Infallible> {
        if let Some(token) = self.0
            && let Ok(value) = HeaderValue::from_str(&token.to_string())
        {
            parts.headers_mut().insert(X_STASH_POSITION.clone(), value);
        }
        Ok(parts)
    }
}

impl IntoResponse for At {
    fn into_response(self) -> Response {
        (self, ()).into_response()
    }
}

/// The position that a request asks for, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinPosition(pub Option<PositionToken>);

impl MinPosition {
    /// Reads the header.
    ///
    /// # Errors
    /// `invalid_request` when it is given twice or is no token.
    pub fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut values = headers.get_all(&X_STASH_MIN_POSITION).iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        if values.next().is_some() {
            return Err(Problem::new(Code::InvalidRequest, "X-Stash-Min-Position: given more than once"));
        }
        let token = value.to_str().ok().map(str::parse::<PositionToken>);
        match token {
            Some(Ok(token)) => Ok(Self(Some(token))),
            Some(Err(error)) => Err(Problem::new(Code::InvalidRequest, format!("X-Stash-Min-Position: {error}"))),
            None => Err(Problem::new(Code::InvalidRequest, "X-Stash-Min-Position: holds characters outside ASCII")),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for MinPosition {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&parts.headers)
    }
}

/// What [`wait`] needs.
#[derive(Clone)]
pub struct ReadGate {
    /// The log whose positions count.
    pub log: LogId,
    /// How far the read models are.
    pub marks: Arc<Watermarks>,
    /// How long a read waits before it is answered with 503.
    pub wait_budget: Duration,
}

impl ReadGate {
    /// Waits until the read models include the position.
    ///
    /// # Errors
    /// `invalid_request` for a token of another log; `unavailable` when the budget is spent.
    pub async fn reach(&self, position: MinPosition) -> Result<(), Problem> {
        let Some(token) = position.0 else { return Ok(()) };
        if !token.is_of(self.log) {
            let detail = "X-Stash-Min-Position: the token belongs to another event log; drop it and read again";
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
        if self.marks.wait_for(token.position, self.wait_budget).await {
            return Ok(());
        }
        let detail = format!("the read models have not reached {token} yet; try again");
        Err(Problem::new(Code::Unavailable, detail))
    }
}

/// The layer for routes that read: answers only when the read models are as new as the request asks.
pub async fn wait(State(gate): State<ReadGate>, request: Request, next: Next) -> Response {
    let reached = match MinPosition::of(request.headers()) {
        Ok(position) => gate.reach(position).await,
        Err(problem) => Err(problem),
    };
    match reached {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}
