//! Encryption keys.

use super::environment::{Environment, SettingError};
use super::kinds::{Place, Setting};
use crate::subject_keys::{MASTER_KEY_FILE_ENV, MASTER_KEY_FILE_NAME};
use std::path::{Path, PathBuf};

const MASTER_KEY_FILE: Place = Place {
    name: MASTER_KEY_FILE_ENV,
    default: "`master.keys` in the data folder",
    what: "file that only its owner can read",
    doc: "The master keys. Made at first start. Whoever loses it loses all content; back it up, and not beside the database.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&MASTER_KEY_FILE];

/// Encryption keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySettings {
    master_key_file: Option<PathBuf>,
}

impl KeySettings {
    /// Reads them.
    ///
    /// # Errors
    /// None yet; the signature is that of the other concerns.
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self { master_key_file: MASTER_KEY_FILE.read(environment) })
    }

    /// The file with the master keys, given the data folder.
    pub fn master_key_file(&self, data: &Path) -> PathBuf {
        self.master_key_file.clone().unwrap_or_else(|| data.join(MASTER_KEY_FILE_NAME))
    }
}
