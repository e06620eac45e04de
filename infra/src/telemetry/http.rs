//! One span and a few figures per request.

use super::metrics::{HTTP_IN_FLIGHT, HTTP_REQUESTS, HTTP_SECONDS};
use crate::http::request_id::RequestId;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use std::time::Instant;
use tracing::Instrument as _;
use tracing::field::Empty;

/// Puts the request into a span (request id, method, route, then status and latency) and counts it. The span's id and route are
/// on every line that is logged while it is answered.
pub async fn observe(request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let _in_flight = InFlight::begin();
    let method = method_label(request.method());
    // The pattern: a path may hold an external id, and would make a label of its own for each trace.
    let route: String = request.extensions().get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str).to_owned();
    let id = request.extensions().get::<RequestId>().map_or("", |id| &id.0);
    let span = tracing::info_span!("request", request_id = id, method, route, status = Empty, latency_ms = Empty);
    let response = next.run(request).instrument(span.clone()).await;

    let status = response.status();
    let latency = begin.elapsed();
    span.record("status", status.as_u16());
    span.record("latency_ms", latency.as_secs_f64() * 1000.0);
    span.in_scope(|| {
        if status.is_server_error() {
            tracing::warn!("answered");
        } else {
            // Not a line per request by default: thousands come per second, and the figures tell of them.
            tracing::debug!("answered");
        }
    });
    let code = status.as_u16().to_string();
    metrics::counter!(HTTP_REQUESTS.name, "method" => method, "route" => route.clone(), "status" => code).increment(1);
    metrics::histogram!(HTTP_SECONDS.name, "method" => method, "route" => route).record(latency);
    response
}

/// A caller may send any word as a method; labels are a closed set.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request while it is answered, also when the caller goes away in between.
struct InFlight;

impl InFlight {
    fn begin() -> Self {
        metrics::gauge!(HTTP_IN_FLIGHT.name).increment(1);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        metrics::gauge!(HTTP_IN_FLIGHT.name).decrement(1);
    }
}
