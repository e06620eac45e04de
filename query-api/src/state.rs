//! What the read routes work with, made once by the composition root.

use crate::body::LongAnswers;
use crate::errors::Failure;
use crate::routes::annotations::get::Annotations;
use crate::types::LlmModels;
use stash_domain::ids::OwnerId;
use stash_infra::artifacts::ArtifactStore;
use stash_infra::artifacts::link::LinkSigner;
use stash_infra::clock::Clock;
use stash_infra::event_log::EventLog;
use stash_infra::http::ReadGate;
use stash_infra::postgres::grouped::Grouped;
use stash_infra::postgres::{OwnerTx, Pools};
use std::sync::Arc;

/// Of three connections for requests, one may serve an answer that is being streamed; the others stay free for short ones.
const CONNECTIONS_PER_LONG_ANSWER: u32 = 3;

/// What the composition root hands over.
pub struct QueryParts {
    /// Connections; only those for requests are used.
    pub pools: Pools,
    /// Waits for positions.
    pub gate: ReadGate,
    /// The log, asked for its end when the status of a command is.
    pub log: Arc<dyn EventLog>,
    /// Where checkpoints are.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Language models that this deployment uses.
    pub llm: LlmModels,
}

/// What serving signed links needs.
pub struct ArtifactLinks {
    /// Where the artifacts are.
    pub store: Arc<dyn ArtifactStore>,
    /// Checks the links.
    pub signer: LinkSigner,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// State of the router. Cheap to clone.
#[derive(Clone)]
pub struct QueryState(Arc<Inner>);

struct Inner {
    parts: QueryParts,
    long_answers: LongAnswers,
    annotations: Grouped<Annotations>,
}

impl QueryState {
    /// State made of these parts.
    pub fn new(parts: QueryParts) -> Self {
        let places = parts.pools.api.options().get_max_connections() / CONNECTIONS_PER_LONG_ANSWER;
        let long_answers = LongAnswers::new(usize::try_from(places.max(1)).unwrap_or(1));
        let annotations = Grouped::new(parts.pools.api.clone());
        Self(Arc::new(Inner { parts, long_answers, annotations }))
    }

    /// The parts it was made of.
    pub(crate) fn parts(&self) -> &QueryParts {
        &self.0.parts
    }

    /// The places for answers that are streamed.
    pub(crate) fn long_answers(&self) -> &LongAnswers {
        &self.0.long_answers
    }

    /// Reads of single annotations.
    pub(crate) fn annotations(&self) -> &Grouped<Annotations> {
        &self.0.annotations
    }

    /// Begins reading as an owner: one snapshot, only the owner's rows.
    pub(crate) async fn begin(&self, owner: OwnerId) -> Result<OwnerTx, Failure> {
        Ok(OwnerTx::begin(&self.0.parts.pools.api, owner).await?)
    }
}
