//! The database of a deployment: an existing server, or the embedded one.

use super::embedded::{EmbeddedError, EmbeddedPostgres, running};
use super::error::DatabaseError;
use super::pool::REACHABLE_MAX;
use crate::config::PostgresSettings;
use sqlx::postgres::PgConnectOptions;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pause between looks at a data folder whose holder is still starting its server.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Where the database is, and the server itself if it is ours.
#[derive(Debug)]
pub struct Database {
    options: PgConnectOptions,
    embedded: Option<EmbeddedPostgres>,
}

impl Database {
    /// The server that `DATABASE_URL` names; without it, starts the embedded one on the data folder and keeps it.
    ///
    /// # Errors
    /// [`DatabaseError::Embedded`], among others when another process holds the folder.
    pub async fn start(settings: &PostgresSettings, data: &Path) -> Result<Self, DatabaseError> {
        if let Some(options) = settings.connect_options() {
            return Ok(Self { options, embedded: None });
        }
        let embedded = EmbeddedPostgres::start(data).await?;
        Ok(Self { options: embedded.connect_options(), embedded: Some(embedded) })
    }

    /// For a command that works on the data folder whether or not Stash runs on it: the server that `DATABASE_URL` names, else
    /// the embedded one that another process runs, else one of its own until it is dropped.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub async fn reach(settings: &PostgresSettings, data: &Path) -> Result<Self, DatabaseError> {
        let begin = Instant::now();
        loop {
            if settings.url.is_none()
                && let Some(options) = running(data)
            {
                return Ok(Self { options, embedded: None });
            }
            match Self::start(settings, data).await {
                // Its holder has not come to starting the server yet, or is just stopping it.
                Err(DatabaseError::Embedded(EmbeddedError::InUse { .. })) if begin.elapsed() < REACHABLE_MAX => {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// How to connect.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The embedded server, if this process runs it.
    pub fn embedded(&self) -> Option<&EmbeddedPostgres> {
        self.embedded.as_ref()
    }

    /// Stops the embedded server in order, if this process runs it. Close the pools first.
    pub async fn stop(self) {
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
    }
}
