//! `stash up`: everything in one process.
//!
//! 1. Bind the port, start the embedded Postgres (or use `DATABASE_URL`), bring it up to date.
//! 2. Rebuild the read models if another version made them.
//! 3. At the very first start, make the operator's account and key.
//! 4. Answer, project and work, side by side.
//! 5. Asked to stop: first the server, so that what was begun is finished, then projector and worker, then Postgres.

use super::{Server, Stop, ended, follow, projector, worker};
use crate::first_start::{self, Connection};
use crate::wiring::Foundation;
use stash_infra::config::{Compute, Settings};
use stash_infra::postgres::Database;
use stash_infra::postgres::embedded::ServerState;
use stash_infra::telemetry::Metrics;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Runs until asked to stop.
pub(crate) async fn run(mut settings: Settings, sample: bool) -> anyhow::Result<()> {
    let metrics = super::begin(&settings)?;
    let stop = Stop::on_signals()?;
    // One machine is all there is, so trainings run here unless the operator says otherwise.
    settings.compute.compute.get_or_insert(Compute::Local);
    // Jobs for workers elsewhere are not for the one in this process.
    settings.compute.worker_compute.get_or_insert(Compute::Local);
    let server = Server::bind(&settings).await?;
    let database = tokio::select! {
        database = Database::start(&settings.postgres, &settings.data.folder) => database?,
        () = stop.asked() => return Ok(()),
    };
    let result = with_database(settings, &database, server, metrics, stop, sample).await;
    database.stop().await;
    result
}

async fn with_database(
    settings: Settings,
    database: &Database,
    server: Server,
    metrics: Metrics,
    stop: Stop,
    sample: bool,
) -> anyhow::Result<()> {
    let foundation = Arc::new(Foundation::open(settings, database).await?);
    let result = parts(&foundation, database, server, metrics, stop, sample).await;
    foundation.close().await;
    result
}

async fn parts(
    foundation: &Arc<Foundation>,
    database: &Database,
    server: Server,
    metrics: Metrics,
    stop: Stop,
    sample: bool,
) -> anyhow::Result<()> {
    projector::renew(foundation, &stop).await?;
    foundation.settle_changes().await?;
    let started = first_start::prepare(foundation, &server.url()).await?;
    if foundation.is_shared() {
        follow(foundation);
    }
    // Each part has a stop of its own, since they stop one after the other; any that ends ends all.
    let (serving, background) = (Stop::default(), Stop::default());
    let address = server.url();
    let web = foundation.web(metrics);
    let mut http = tokio::spawn(server.run(web.router, serving.clone()));
    let mut projecting =
        spawn(foundation, &background, |foundation, stop| async move { projector::project(&foundation, &stop).await });
    let mut working = spawn(foundation, &background, |foundation, stop| async move {
        worker::work(&foundation, &stop).await;
        Ok(())
    });
    first_start::announce(&address, &started)?;
    let sample = sample.then_some(started).and_then(Connection::if_new).map(|connection| {
        let (foundation, stop) = (Arc::clone(foundation), background.clone());
        tokio::spawn(async move { first_start::sample::run(&foundation, &connection, &stop).await })
    });

    let ended_by_itself = tokio::select! {
        () = stop.asked() => None,
        ended = &mut http => Some(("HTTP server", ended)),
        ended = &mut projecting => Some(("projector", ended)),
        ended = &mut working => Some(("worker", ended)),
        reason = database_failed(database) => {
            background.ask();
            anyhow::bail!("the embedded Postgres has failed: {reason}");
        }
    };
    serving.ask();
    let first = match ended_by_itself {
        None => ended("HTTP server", http).await,
        Some((name, result)) => Err(match result {
            Ok(Ok(())) => anyhow::anyhow!("the {name} ended by itself"),
            Ok(Err(error)) => error.context(format!("the {name} stopped")),
            Err(error) => anyhow::Error::new(error).context(format!("the {name} broke down")),
        }),
    };
    if let Some(sample) = sample {
        sample.abort();
    }
    background.ask();
    // A part that has ended already is not asked again: its handle must not be polled twice.
    if first.is_ok() {
        ended("worker", working).await?;
        ended("projector", projecting).await?;
    }
    first
}

fn spawn<F>(
    foundation: &Arc<Foundation>,
    stop: &Stop,
    part: impl FnOnce(Arc<Foundation>, Stop) -> F,
) -> JoinHandle<anyhow::Result<()>>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    tokio::spawn(part(Arc::clone(foundation), stop.clone()))
}

/// Resolves with the reason when the embedded server is given up; never for another database.
async fn database_failed(database: &Database) -> String {
    let Some(server) = database.embedded() else { return std::future::pending().await };
    let mut state = server.state();
    loop {
        if let ServerState::Failed(reason) = &*state.borrow_and_update() {
            return reason.clone();
        }
        if state.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}
