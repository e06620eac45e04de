//! The position of the last command, per server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Servers whose positions are remembered.
const SERVERS_MAX: usize = 100;

/// What is remembered. Losing it costs nothing but that a read may come before what was just written.
#[derive(Default)]
pub(super) struct Memory {
    position: Mutex<Option<String>>,
    place: Option<(PathBuf, String)>,
}

impl Memory {
    /// What is remembered of a server, in `$XDG_STATE_HOME/stash/positions.json`.
    pub(super) fn of_server(url: &str) -> Self {
        let Some(file) = file() else { return Self::default() };
        let url = url.trim_end_matches('/').to_owned();
        let position = load(&file).remove(&url);
        Self { position: Mutex::new(position), place: Some((file, url)) }
    }

    /// The position.
    pub(super) fn get(&self) -> Option<String> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers a position.
    pub(super) fn set(&self, position: &str) {
        self.put(Some(position.to_owned()));
    }

    /// Forgets it; false if nothing was remembered.
    pub(super) fn forget(&self) -> bool {
        let had = self.get().is_some();
        self.put(None);
        had
    }

    fn put(&self, position: Option<String>) {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner) = position.clone();
        let Some((file, url)) = &self.place else { return };
        let mut all = load(file);
        match position {
            Some(position) => {
                if all.len() >= SERVERS_MAX {
                    all.clear();
                }
                all.insert(url.clone(), position);
            }
            None => drop(all.remove(url)),
        }
        let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        // Of two commands at once one may be forgotten, which costs as little as a full disk does here.
        let _ = written.and_then(|()| std::fs::write(file, serde_json::to_vec(&all).unwrap_or_default()));
    }
}

fn load(file: &PathBuf) -> BTreeMap<String, String> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn file() -> Option<PathBuf> {
    Some(state_folder()?.join("positions.json"))
}

/// Where this program keeps what a user's commands remember: `$XDG_STATE_HOME/stash`; none when there is no home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("stash"))
}
