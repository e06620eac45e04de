//! A panic while a request is answered: a 500 in the usual shape, and the process goes on.

use crate::http::problem::Problem;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use std::panic::AssertUnwindSafe;

/// Answers with 500 instead of breaking the connection. What the panic said is not logged here, since its text may quote
/// content; the panic hook of [`crate::telemetry`] logs where it happened.
pub(super) async fn catch(request: Request, next: Next) -> Response {
    // Nothing that the request touched is used again: its state is dropped with it, and shared state is behind locks and
    // channels that are valid after a panic.
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => Problem::internal(&"a panic").into_response(),
    }
}
