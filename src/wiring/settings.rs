//! The settings of this process: the environment, and what the command line says instead.

use anyhow::Context as _;
use stash_infra::config::{Environment, Settings};
use std::net::SocketAddr;
use std::path::Path;

/// What the command line may say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overrides<'a> {
    /// The data folder.
    pub(crate) data: Option<&'a Path>,
    /// Address of the HTTP server.
    pub(crate) listen: Option<SocketAddr>,
}

/// Reads them.
pub(crate) fn load(overrides: Overrides<'_>) -> anyhow::Result<Settings> {
    let mut settings = Settings::read(&Environment::of_process())?;
    if let Some(folder) = overrides.data {
        let folder = std::path::absolute(folder).with_context(|| format!("the data folder {}", folder.display()))?;
        settings.data = settings.data.with_folder(&folder);
    }
    if let Some(listen) = overrides.listen {
        settings.server.listen = listen;
    }
    Ok(settings)
}
