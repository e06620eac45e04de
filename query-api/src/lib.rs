//! The routes that read. They run as a role that row-level security binds to one owner's rows, in one snapshot each, and name
//! the owner in every statement as well.
//!
//! [`router`] is put under `/api/v1/rm`, inside the layer that finds the caller
//! ([`stash_infra::http::caller::require`]); [`artifacts_router`] stands at the server's root, open, since a signed link is its own
//! permission. What is absent on purpose: nothing here writes, except that a read may wait until a write has arrived.

mod body;
mod content;
mod cursor;
mod errors;
mod ids;
pub mod load;
mod openapi;
mod params;
mod routes;
mod state;
pub mod types;

pub use openapi::openapi;
pub use state::{ArtifactLinks, QueryParts, QueryState};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use routes::{annotations, artifacts, commands, exports, formats, llm, otel, reward_models, scoring_runs, traces};
use stash_infra::http::{caller, position};
use std::sync::Arc;

/// The read routes, relative to `/api/v1/rm`.
pub fn router(state: QueryState) -> Router {
    let gate = state.parts().gate.clone();
    Router::new()
        .route("/formats", get(formats::list::list))
        .route("/traces", get(traces::list::list))
        .route("/traces/{trace_id}", get(traces::get::get))
        .route("/otel/pending", get(otel::pending::pending))
        .route("/annotations/{annotation_id}", get(annotations::get::get))
        .route("/export/traces", get(exports::traces::traces))
        .route("/export/annotations", get(exports::annotations::annotations))
        .route("/export/pairs", get(exports::pairs::pairs))
        .route("/reward-models", get(reward_models::list::list))
        .route("/reward-models/{reward_model_id}", get(reward_models::get::get))
        .route("/reward-models/{reward_model_id}/weights", get(reward_models::weights::weights))
        .route("/scoring-runs/{run_id}", get(scoring_runs::get::get))
        .route("/llm-processing", get(llm::processing::processing))
        .route("/commands/{command_id}", get(commands::get::get))
        .route_layer(from_fn_with_state(gate, position::wait))
        .route_layer(from_fn(caller::require_reward_models))
        .with_state(state)
}

/// The route that serves signed links, relative to the server's root. For a store whose links lead to itself only.
pub fn artifacts_router(links: ArtifactLinks) -> Router {
    Router::new().route("/artifacts/{kind}/{owner}/{name}", get(artifacts::get::get)).with_state(Arc::new(links))
}
