//! What the server shows besides the API: the API's description, pages about error codes, and a first page.

mod errors;
mod home;
pub(crate) mod openapi;

use axum::Router;
use axum::routing::get;

/// The routes; all are open, since none says anything about anyone's data.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(home::show))
        .route("/docs/errors/{code}", get(errors::show))
        .route("/api/v1/openapi.json", get(openapi::show))
}
