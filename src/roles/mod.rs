//! What a process does: everything, or one role of a deployment.

mod api;
mod projector;
mod server;
mod stop;
pub(crate) mod up;
mod worker;

pub(crate) use server::Server;
pub(crate) use stop::Stop;

use crate::output;
use crate::wiring::Foundation;
use anyhow::{Context as _, bail};
use stash_infra::config::{Environment, Settings, unknown_settings};
use stash_infra::postgres::{Database, embedded};
use stash_infra::telemetry::{self, Metrics};
use stash_projections::schema;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long a part may take to end before the process ends without it.
const PART_END_MAX: Duration = Duration::from_secs(20);

/// Lines that are of no use to anybody: what the database says while tables are made ("does not exist, skipping"), and that a
/// connection which was to be given back has broken.
const QUIET: &str = "sqlx::postgres::notice=warn,sqlx_core::pool=error";

/// A role of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Answers requests.
    Api,
    /// Writes the read models.
    Projector,
    /// Trains and scores.
    Worker,
}

/// `stash serve --role`: one role, on a database and a log that exist.
pub(crate) async fn serve(role: Role, settings: Settings) -> anyhow::Result<()> {
    let metrics = begin(&settings)?;
    let stop = Stop::on_signals()?;
    let server = Server::bind(&settings).await?;
    let database = running(&settings).await?;
    let foundation = Foundation::open(settings, &database).await?;
    if role != Role::Projector {
        require_own_tables(&foundation).await?;
    }
    output::line(format_args!("Stash is at {}", server.url()))?;
    let result = match role {
        Role::Api => api::run(&foundation, server, metrics, stop).await,
        Role::Projector => projector::run(&foundation, server, metrics, stop).await,
        Role::Worker => worker::run(&foundation, server, metrics, stop).await,
    };
    foundation.close().await;
    database.stop().await;
    result
}

/// Refuses read models that another version made: this role would misread them, and only a projector may make them anew.
async fn require_own_tables(foundation: &Foundation) -> anyhow::Result<()> {
    let mut connection = foundation.pools.system.acquire().await?;
    let shown = schema::ensure(&mut connection).await?;
    if !schema::is_current(&mut connection, &shown).await? {
        bail!(
            "the read models were made by another version of Stash; start `stash serve --role projector` of this version, which rebuilds them, or run `stash projections rebuild`"
        );
    }
    Ok(())
}

/// The database of a role: one that runs, since no role may end with another's server.
async fn running(settings: &Settings) -> anyhow::Result<Database> {
    let folder = &settings.data.folder;
    if settings.postgres.url.is_none() && embedded::running(folder).is_none() {
        bail!("no Stash runs on the data folder {}; start one with `stash up`, or set DATABASE_URL", folder.display());
    }
    Ok(Database::reach(&settings.postgres, folder).await?)
}

/// What every role does first.
fn begin(settings: &Settings) -> anyhow::Result<Metrics> {
    let filter = format!("{QUIET},{}", settings.telemetry.filter);
    let metrics = telemetry::init(&filter, settings.telemetry.format)?;
    for warning in unknown_settings(&Environment::of_process()) {
        tracing::warn!("{warning}");
    }
    tokio::spawn(metrics.clone().upkeep());
    Ok(metrics)
}

/// Waits for a part of the process to end after it was asked to; a part that does not is left behind.
async fn ended<T>(name: &str, part: JoinHandle<anyhow::Result<T>>) -> anyhow::Result<()> {
    match tokio::time::timeout(PART_END_MAX, part).await {
        Ok(Ok(result)) => result.map(|_| ()),
        Ok(Err(error)) => Err(error).with_context(|| format!("the {name} broke down")),
        Err(_) => {
            tracing::warn!("the {name} did not end within {} s and is left behind", PART_END_MAX.as_secs());
            Ok(())
        }
    }
}

/// Follows the read models that another process writes, for as long as this one runs.
fn follow(foundation: &Foundation) {
    let (marks, pool) = (foundation.marks.clone(), foundation.pools.system.clone());
    tokio::spawn(async move { marks.follow(pool).await });
}
