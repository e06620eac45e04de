//! The composition root: everything that a role of Stash works with, made from the settings, in this order.
//!
//! ```text
//! database ─▶ migrations ─▶ read-model tables ─▶ event log ─▶ keys ─▶ artifacts ─▶ submitter, identity
//! ```
//!
//! Nothing here decides anything: it only says who gets what.

mod artifacts;
pub(crate) mod changes;
pub(crate) mod data_folder;
mod http;
mod log;
pub(crate) mod settings;
mod worker;

pub(crate) use worker::{bases, default_trainer};

use anyhow::Context as _;
use sqlx::PgPool;
use stash_infra::artifacts::ArtifactStore;
use stash_infra::clock::{Clock, SystemClock};
use stash_infra::config::Settings;
use stash_infra::event_log::EventLog;
use stash_infra::identity::Identity;
use stash_infra::lease::ProjectionLeases;
use stash_infra::postgres::{Database, Pools, Purpose};
use stash_infra::subject_keys::{CacheSize, MasterKeyFile, SubjectKeys};
use stash_infra::submit::{Submitter, VerdictHub};
use stash_infra::watermark::Watermarks;
use stash_projections::{Collector, Deps, Projector};
use std::sync::Arc;

/// Connections of the event log's reads; its writer and listener have their own.
const LOG_CONNECTIONS: u32 = 4;

/// Connections of a projector: the one it writes with, and one while a new one takes over from it.
const PROJECTOR_CONNECTIONS: u32 = 2;

/// What all roles share.
pub(crate) struct Foundation {
    /// The settings it was made from.
    pub(crate) settings: Settings,
    /// Connections.
    pub(crate) pools: Pools,
    /// The event log.
    pub(crate) log: Arc<dyn EventLog>,
    /// The log's connections, if it is in Postgres.
    log_pool: Option<PgPool>,
    /// Keys of subjects.
    pub(crate) keys: Arc<SubjectKeys>,
    /// Blobs and checkpoints.
    pub(crate) store: Arc<dyn ArtifactStore>,
    /// Accounts and API keys.
    pub(crate) identity: Arc<Identity>,
    /// The clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// Requests of this process that wait for a verdict.
    pub(crate) hub: Arc<VerdictHub>,
    /// How far the read models are.
    pub(crate) marks: Arc<Watermarks>,
    /// The door to the log.
    pub(crate) submitter: Arc<Submitter>,
}

impl Foundation {
    /// Brings the database up to date and makes everything on top of it.
    pub(crate) async fn open(settings: Settings, database: &Database) -> anyhow::Result<Self> {
        data_folder::prepare(&settings)?;
        let pools = stash_infra::postgres::open(database.options(), settings.postgres.sizes).await?;
        ensure_read_models(&pools.system).await.context("the tables of the read models cannot be made")?;
        let log::Opened { log, pool: log_pool } = log::open(&settings, &pools).await?;
        let file = MasterKeyFile::at(settings.keys.master_key_file(&settings.data.folder));
        let keys = SubjectKeys::open(pools.system.clone(), file, CacheSize::default()).await?;
        let keys = Arc::new(keys);
        let store = artifacts::open(&settings, &keys).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let identity = Arc::new(Identity::new(pools.system.clone(), Arc::clone(&clock)));
        let hub = Arc::new(VerdictHub::default());
        let marks = Arc::new(Watermarks::new(log.partitions()));
        let submitter = Arc::new(Submitter::new(
            Arc::clone(&log),
            Arc::clone(&hub),
            Arc::clone(&marks),
            pools.system.clone(),
            settings.limits.wait_budget,
        ));
        Ok(Self { settings, pools, log, log_pool, keys, store, identity, clock, hub, marks, submitter })
    }

    /// Whether other processes may work on the same database: with the embedded one, only short commands do.
    pub(crate) fn is_shared(&self) -> bool {
        self.settings.postgres.url.is_some()
    }

    /// What the folds of the read models need.
    pub(crate) fn deps(&self) -> Deps {
        Deps { keys: Arc::clone(&self.keys), store: Arc::clone(&self.store) }
    }

    /// Connections that write the read models.
    pub(crate) fn projector_pool(&self) -> PgPool {
        let schema = stash_projections::schema::GENERATION_FIRST;
        Purpose::Projector { schema }.pool(self.pools.options(), PROJECTOR_CONNECTIONS)
    }

    /// The projector of this process.
    pub(crate) fn projector(&self) -> Projector {
        Projector {
            log: Arc::clone(&self.log),
            pool: self.projector_pool(),
            deps: self.deps(),
            hub: Arc::clone(&self.hub),
            marks: Arc::clone(&self.marks),
        }
    }

    /// What collects blobs that nothing needs.
    pub(crate) fn collector(&self) -> Collector {
        Collector {
            log: Arc::clone(&self.log),
            pool: self.pools.system.clone(),
            deps: self.deps(),
            marks: Arc::clone(&self.marks),
            clock: Arc::clone(&self.clock),
        }
    }

    /// The leases of projectors.
    pub(crate) fn projection_leases(&self) -> ProjectionLeases {
        ProjectionLeases::new(self.pools.system.clone())
    }

    /// Closes the connections that are shared.
    pub(crate) async fn close(&self) {
        self.pools.close().await;
        if let Some(pool) = &self.log_pool {
            pool.close().await;
        }
    }
}

/// Makes the read models' tables at first start. Several processes may do so at once.
async fn ensure_read_models(pool: &PgPool) -> Result<(), sqlx::Error> {
    let mut connection = pool.acquire().await?;
    stash_projections::schema::ensure(&mut connection).await?;
    Ok(())
}
