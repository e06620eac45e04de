//! The routes that change something. A handler is thin: it reads what the decision depends on, lets `stash_domain::commands`
//! decide, seals what is personal, submits one record and answers with its verdict.
//!
//! Answers are the types that the read routes give, so that a command says what a read at its position would say; for that one
//! reason this crate knows `stash-query-api`.

pub mod dispatch;
pub mod import;
mod openapi;
pub mod otlp;
mod path;
mod raw_body;
pub mod routes;
mod state;

pub use openapi::openapi;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::{delete, patch, post};
use stash_domain::error::Code;
use stash_infra::clock::Clock;
use stash_infra::http::{Problem, caller};
use stash_infra::postgres::Pools;
use stash_infra::postgres::grouped::Grouped;
use stash_infra::subject_keys::SubjectKeys;
use stash_infra::submit::Submitter;
use stash_query_api::types::LlmModels;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Imports that run at once in one process; more wait, their bodies on disk. Each holds about 40 MB at most.
pub const IMPORTS_AT_ONCE: usize = 3;

/// What the composition root hands over.
pub struct CommandParts {
    /// The door to the log.
    pub submitter: Arc<Submitter>,
    /// Reads as the caller.
    pub pools: Pools,
    /// Makes and finds keys.
    pub keys: Arc<SubjectKeys>,
    /// Imports.
    pub importer: import::Importer,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where raw bodies are spooled.
    pub spool_folder: PathBuf,
    /// Bytes of an import's JSON envelope after inflation, which is held in memory; larger files go as a raw body.
    pub import_json_bytes_max: u64,
    /// Bytes of a raw body after inflation.
    pub import_bytes_max: u64,
    /// Bytes of a request of spans or log records, inflated.
    pub otlp_bytes_max: usize,
    /// Room for such requests, in permits of [`otlp::body::PERMIT_BYTES`].
    pub otlp_room: Arc<Semaphore>,
    /// `RM_COMPUTE`; none when the deployment does not set it.
    pub compute: Option<String>,
    /// Lets imports in one after another.
    pub imports: Arc<Semaphore>,
    /// Language models that this deployment uses.
    pub llm: LlmModels,
}

/// Room for requests of spans in one process; see [`otlp::body`].
pub fn otlp_room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(otlp::body::BODIES_BYTES_AT_ONCE / otlp::body::PERMIT_BYTES))
}

/// What commands are made with. Cheap to clone; derefs to its parts.
#[derive(Clone)]
pub struct CommandState(Arc<Inner>);

struct Inner {
    parts: CommandParts,
    targets: Grouped<state::annotation::Targets>,
}

impl Deref for CommandState {
    type Target = CommandParts;
    fn deref(&self) -> &CommandParts {
        &self.0.parts
    }
}

impl CommandState {
    /// State made of these parts.
    pub fn new(parts: CommandParts) -> Self {
        let targets = Grouped::new(parts.pools.api.clone());
        Self(Arc::new(Inner { parts, targets }))
    }

    /// Reads of what new annotations stand on.
    fn targets(&self) -> &Grouped<state::annotation::Targets> {
        &self.0.targets
    }

    /// The deployment's compute class.
    ///
    /// # Errors
    /// `not_configured`, naming the setting.
    fn compute(&self) -> Result<&str, Problem> {
        self.compute.as_deref().ok_or_else(|| {
            Problem::new(
                Code::NotConfigured,
                "the server's setting RM_COMPUTE is missing, so it cannot train or score; the operator sets it to `local` or `remote`",
            )
        })
    }
}

/// The routes, relative to `/api/v1/rm`; they go inside the layer that finds the caller.
pub fn router(state: CommandState) -> Router {
    use routes::{annotations, llm, otel, reward_models, traces};
    Router::new()
        .route("/traces/import", post(traces::import::handle))
        .route("/otel/v1/traces", post(otel::traces::handle))
        .route("/otel/v1/logs", post(otel::logs::handle))
        .route("/traces/{trace_id}", delete(traces::delete::handle).patch(traces::edit::handle))
        .route("/traces/{trace_id}/title", post(traces::title::handle))
        .route("/traces/{trace_id}/score", post(traces::score::handle))
        .route("/traces/{trace_id}/annotations", post(annotations::create::handle))
        .route("/annotations/{annotation_id}", patch(annotations::change::handle).delete(annotations::delete::handle))
        .route("/reward-models", post(reward_models::create::handle))
        .route(
            "/reward-models/{reward_model_id}",
            patch(reward_models::rename::handle).delete(reward_models::delete::handle),
        )
        .route("/reward-models/{reward_model_id}/cancel", post(reward_models::cancel::handle))
        .route("/llm-processing", patch(llm::switch::handle))
        .route_layer(from_fn(caller::require_reward_models))
        .with_state(state)
}
