//! The settings of this process: the environment, and what the command line says instead.

use crate::client::ConnectionFile;
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

/// Where `make run` keeps its data: in the clone, or where root's is (`infra/deps/data-dir.sh`).
const DATA_OF_MAKE_RUN: [&str; 2] = ["data", "/var/lib/stash/data"];

/// Reads them, for a command on the Stash of this machine: where nothing names its data folder, that of `make run` comes before the
/// default one, if a server was started on it.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_local(overrides: Overrides<'_>) -> anyhow::Result<Settings> {
    let is_named = overrides.data.is_some() || std::env::var_os("STASH_DATA").is_some();
    let started = |folder: &&&str| ConnectionFile::path(Path::new(folder)).is_file();
    match DATA_OF_MAKE_RUN.iter().find(started) {
        Some(folder) if !is_named => load(Overrides { data: Some(Path::new(folder)), ..overrides }),
        _ => load(overrides),
    }
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
