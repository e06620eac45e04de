//! Options and set-up of commands that work on the database of a data folder.

use crate::client::load_local;
use crate::wiring::Foundation;
use crate::wiring::settings::Overrides;
use stash_infra::postgres::Database;
use stash_infra::telemetry;
use std::path::PathBuf;

/// Lines that such a command writes about itself: only what went wrong.
const FILTER: &str = "warn";

/// Where to work.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Local {
    /// The data folder of the Stash to work on [default: STASH_DATA, else that of `make run`, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

impl Local {
    /// Does the work on an opened foundation, and closes it again.
    pub(crate) async fn with<T>(&self, work: impl AsyncFnOnce(&Foundation) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let settings = load_local(Overrides { data: self.data.as_deref(), listen: None })?;
        if std::env::var_os("RUST_LOG").is_some() {
            telemetry::init(&settings.telemetry.filter, settings.telemetry.format)?;
        } else {
            telemetry::init(FILTER, settings.telemetry.format)?;
        }
        let database = Database::reach(&settings.postgres, &settings.data.folder).await?;
        let result = match Foundation::open(settings, &database).await {
            Ok(foundation) => {
                let result = work(&foundation).await;
                foundation.close().await;
                result
            }
            Err(error) => Err(error),
        };
        database.stop().await;
        result
    }
}
