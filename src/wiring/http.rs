//! The HTTP server's routes, and the layers around them.
//!
//! ```text
//! common (request id, figures, panics)
//!   ├─ open:  /  /healthz  /readyz  /metrics  /docs/errors/…  /api/v1/openapi.json  /artifacts/… (signed links)
//!   └─ key ─▶ reward models on? ─▶ position reached? ─▶ /api/v1/rm/…
//! ```

use super::{Foundation, data_folder};
use crate::pages;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use stash_command_api::import::Importer;
use stash_command_api::import::titles::Required;
use stash_command_api::{CommandParts, CommandState, IMPORTS_AT_ONCE};
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::config::TitlePolicy;
use stash_infra::http::checks::{DatabaseCheck, LagCheck, LogCheck};
use stash_infra::http::{Health, ReadGate, caller, deadline, health, position, with_common_layers};
use stash_infra::telemetry::{Metrics, metrics_router};
use stash_query_api::types::LlmModels;
use stash_query_api::{ArtifactLinks, QueryParts, QueryState};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What the server answers with.
pub(crate) struct Web {
    /// All routes.
    pub(crate) router: Router,
    /// Its readiness.
    pub(crate) health: Arc<Health>,
}

impl Foundation {
    /// The server of a role that answers requests.
    pub(crate) fn web(&self, metrics: Metrics) -> Web {
        let gate = self.read_gate();
        // Commands wait too: what they decide on was perhaps imported a moment ago.
        let commands = stash_command_api::router(self.command_state())
            .route_layer(from_fn_with_state(gate.clone(), position::wait));
        let queries = stash_query_api::router(self.query_state(gate));
        let closed = Router::new()
            .nest("/api/v1/rm", queries.merge(commands))
            .route_layer(from_fn_with_state(Arc::clone(&self.identity), caller::require))
            .route_layer(from_fn_with_state(self.pools.system.clone(), deadline::bound))
            .layer(from_fn(stash_command_api::otlp::errors_in_kind));
        let open = self.small_routes(metrics);
        let router = closed.merge(open.router).merge(stash_query_api::artifacts_router(self.artifact_links()));
        Web { router: with_common_layers(router.merge(pages::router())), health: open.health }
    }

    /// The server of a role that answers no requests: health and figures only.
    pub(crate) fn bare_web(&self, metrics: Metrics) -> Web {
        let open = self.small_routes(metrics);
        Web { router: with_common_layers(open.router), health: open.health }
    }

    fn small_routes(&self, metrics: Metrics) -> Web {
        let health = Arc::new(Health::new(vec![
            Box::new(DatabaseCheck(self.pools.system.clone())),
            Box::new(LogCheck(Arc::clone(&self.log))),
            Box::new(LagCheck {
                log: Arc::clone(&self.log),
                marks: Arc::clone(&self.marks),
                records_max: self.settings.limits.ready_lag_max,
            }),
        ]));
        Web { router: health::router(Arc::clone(&health)).merge(metrics_router(metrics)), health }
    }

    fn read_gate(&self) -> ReadGate {
        ReadGate { log: self.log.id(), marks: Arc::clone(&self.marks), wait_budget: self.settings.limits.wait_budget }
    }

    fn command_state(&self) -> CommandState {
        let importer = Importer {
            keys: Arc::clone(&self.keys),
            store: Arc::clone(&self.store),
            pool: self.pools.system.clone(),
            redactor: self.settings.redaction.redactor.clone(),
            titles: self.required_titles(),
        };
        CommandState::new(CommandParts {
            submitter: Arc::clone(&self.submitter),
            pools: self.pools.clone(),
            keys: Arc::clone(&self.keys),
            importer,
            clock: Arc::clone(&self.clock),
            spool_folder: data_folder::spool(&self.settings.data.folder),
            import_json_bytes_max: self.settings.limits.import_json_bytes_max as u64,
            import_bytes_max: self.settings.limits.import_bytes_max,
            otlp_bytes_max: self.settings.limits.otlp_bytes_max,
            otlp_room: stash_command_api::otlp_room(),
            compute: self.settings.compute.compute.map(|class| class.name().to_owned()),
            imports: Arc::new(Semaphore::new(IMPORTS_AT_ONCE)),
            llm: self.llm_models(),
        })
    }

    fn query_state(&self, gate: ReadGate) -> QueryState {
        QueryState::new(QueryParts {
            pools: self.pools.clone(),
            gate,
            log: Arc::clone(&self.log),
            artifacts: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            llm: self.llm_models(),
        })
    }

    /// Who writes titles while an import waits, if imports are to wait for them.
    fn required_titles(&self) -> Option<Required> {
        (self.settings.llm.title_policy == TitlePolicy::Required).then(|| Required { llm: self.title_model() })
    }

    /// Language models that are set up here, by what for.
    fn llm_models(&self) -> LlmModels {
        let settings = &self.settings.llm;
        let ready = |model: &Option<String>| model.clone().filter(|model| settings.is_ready(model));
        LlmModels { titles: ready(&settings.title_model), learning: ready(&settings.learning_model) }
    }

    fn artifact_links(&self) -> ArtifactLinks {
        ArtifactLinks {
            store: Arc::clone(&self.store),
            signer: LinkSigner::new(&self.keys.masters()),
            clock: Arc::clone(&self.clock),
        }
    }
}
