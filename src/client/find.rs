//! Which server, and with which key.
//!
//! `STASH_URL` and `STASH_API_KEY` win. What they leave open is read from `connection.json`, which `stash up` leaves in its data
//! folder: the folder of `--data` or `STASH_DATA`, else that of `make run`, else the default one.

use super::Client;
use crate::wiring::settings::{Overrides, load};
use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use stash_infra::config::Settings;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Names the server.
pub(crate) const URL_VARIABLE: &str = "STASH_URL";

/// Holds the key.
pub(crate) const KEY_VARIABLE: &str = "STASH_API_KEY";

/// Where a server is that nobody named.
const URL_DEFAULT: &str = "http://localhost:8080";

/// Name of the file in a data folder.
const FILE: &str = "connection.json";

/// Address and operator key of a server on this machine.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConnectionFile {
    /// Its address.
    pub(crate) url: String,
    /// The key.
    pub(crate) key: String,
}

impl ConnectionFile {
    /// The file's path.
    pub(crate) fn path(data: &Path) -> PathBuf {
        data.join(FILE)
    }

    /// Reads it; none if there is none. A file that others may read, or that is someone else's, is refused.
    pub(crate) fn load(data: &Path) -> anyhow::Result<Option<Self>> {
        let path = Self::path(data);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let facts = std::fs::metadata(&path).with_context(|| format!("{} cannot be looked at", path.display()))?;
        if facts.uid() != nix::unistd::geteuid().as_raw() || facts.mode() & 0o077 != 0 {
            bail!("{} belongs to someone else, or others may read it; nothing in it is used", path.display());
        }
        serde_json::from_str(&text).map(Some).with_context(|| format!("{} is damaged; delete it", path.display()))
    }

    /// Writes it, whole or not at all, for its owner's eyes only.
    pub(crate) fn save(&self, data: &Path) -> anyhow::Result<()> {
        let path = Self::path(data);
        let new = path.with_extension("json.new");
        let write = || -> std::io::Result<()> {
            let _ = std::fs::remove_file(&new);
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)
        };
        write().with_context(|| format!("{} cannot be written", path.display()))
    }
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

/// The client that a command uses.
pub(crate) fn find(data: Option<&Path>, url: Option<&str>) -> anyhow::Result<Client> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (mut url, mut key) = (url.map(str::to_owned).or_else(|| variable(URL_VARIABLE)), variable(KEY_VARIABLE));
    if (url.is_none() || key.is_none())
        && let Some(file) = connection_file(data)?
    {
        // The key of this machine's server is sent to that server only.
        match &url {
            None => {
                key = key.or(Some(file.key));
                url = Some(file.url);
            }
            Some(named) if named.trim_end_matches('/') == file.url => key = key.or(Some(file.key)),
            Some(_) => {}
        }
    }
    let Some(key) = key else {
        bail!(
            "no API key: set {KEY_VARIABLE} to one that `stash keys create` makes, or name the data folder of a Stash on this \
             machine with --data"
        );
    };
    Client::remembering(url.as_deref().unwrap_or(URL_DEFAULT), &key)
}

fn connection_file(data: Option<&Path>) -> anyhow::Result<Option<ConnectionFile>> {
    let settings = load_local(Overrides { data, listen: None })?;
    ConnectionFile::load(&settings.data.folder)
}
