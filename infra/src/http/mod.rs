//! Parts that all HTTP routes share.
//!
//! Order of the layers, outermost first: request id, span and figures ([`crate::telemetry`]), panics, then the routers' own
//! (who calls, what position), then the body. Whatever refuses a request does so before the body is read.

pub mod body;
pub mod caller;
pub mod checks;
pub mod deadline;
pub mod health;
pub mod idempotency;
mod panic;
pub mod position;
pub mod precondition;
pub mod problem;
pub mod request_id;

pub use body::{BodyLimit, JsonBody, Patch};
pub use health::Health;
pub use idempotency::Idempotency;
pub use position::{At, MinPosition, ReadGate};
pub use precondition::{ETag, IfMatch};
pub use problem::{Problem, ProblemBody};

use axum::Router;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::{from_fn, map_response};
use axum::response::Response;
use stash_domain::error::Code;

/// Closes a finished router: unknown paths and methods get the usual error shape, and the layers that every request passes are
/// put around it.
pub fn with_common_layers(router: Router) -> Router {
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(map_response(forbid_sniffing))
        .layer(from_fn(panic::catch))
        .layer(from_fn(crate::telemetry::observe))
        .layer(from_fn(request_id::assign))
}

async fn not_found(uri: Uri) -> Problem {
    Problem::new(Code::NotFound, format!("there is no route {}", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("{} does not take {method}", uri.path()))
}

/// A browser must not take an answer for something else than its media type says.
async fn forbid_sniffing(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
