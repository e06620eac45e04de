//! The data folder.

use super::environment::{Environment, SettingError};
use super::kinds::{Place, Setting};
use std::path::{Path, PathBuf};

const DATA: Place = Place {
    name: "STASH_DATA",
    default: "`$XDG_DATA_HOME/stash`, else `~/.local/share/stash`; as root `/var/lib/stash`",
    what: "folder",
    doc: "What the embedded default keeps: its Postgres, artifacts, the master keys. Made at first start. One process works on \
          a folder at a time.",
};

const ARTIFACT_DIR: Place = Place {
    name: "RM_ARTIFACT_DIR",
    default: "`artifacts` in the data folder",
    what: "folder",
    doc: "Where large payloads and model checkpoints are kept. All roles of a deployment need the same one.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&DATA, &ARTIFACT_DIR];

/// The data folder, and what may lie elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSettings {
    /// The data folder.
    pub folder: PathBuf,
    artifacts: Option<PathBuf>,
}

impl DataSettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`] when no folder is named and no home folder is known to put one in.
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        let default = || {
            // As root there is mostly no home that the Postgres user could reach.
            if nix::unistd::geteuid().is_root() {
                return Some(PathBuf::from("/var/lib/stash"));
            }
            let home = |name: &str| environment.raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
            home("XDG_DATA_HOME")
                .or_else(|| Some(home("HOME")?.join(".local/share")))
                .map(|folder| folder.join("stash"))
        };
        let folder = DATA.read(environment).or_else(default).ok_or_else(|| SettingError {
            name: DATA.name,
            value: "no value, without HOME,".into(),
            allowed: DATA.row().allowed,
        })?;
        Ok(Self { folder, artifacts: ARTIFACT_DIR.read(environment) })
    }

    /// Where artifacts are kept.
    pub fn artifacts(&self) -> PathBuf {
        self.artifacts.clone().unwrap_or_else(|| self.folder.join("artifacts"))
    }

    /// The same settings with another data folder, as `--data` names it.
    #[must_use]
    pub fn with_folder(self, folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), ..self }
    }
}
