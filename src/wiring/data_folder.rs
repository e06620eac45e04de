//! What Stash keeps in its data folder besides Postgres and the artifacts.
//!
//! ```text
//! DATA/connection.json   address and operator key of `stash up`, for commands on this machine (mode 0600)
//! DATA/projector.lock    held by the one projector of this folder; its text names the folder's projector for good
//! DATA/bases             base models by name
//! DATA/jobs              what the worker is at
//! DATA/tmp               bodies of imports on their way; each file has no name, so nothing is left behind
//! ```

use anyhow::Context as _;
use nix::fcntl::{Flock, FlockArg};
use stash_infra::config::Settings;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use uuid::Uuid;

/// How often a projector that stands by looks whether the one of the same folder has ended.
const LOCK_LOOK: Duration = Duration::from_millis(200);

/// Base models by name.
pub(crate) fn bases(data: &Path) -> PathBuf {
    data.join("bases")
}

/// Job directories.
pub(crate) fn jobs(data: &Path) -> PathBuf {
    data.join("jobs")
}

/// Bodies of imports.
pub(crate) fn spool(data: &Path) -> PathBuf {
    data.join("tmp")
}

/// Makes the folder and what belongs in it.
pub(crate) fn prepare(settings: &Settings) -> anyhow::Result<()> {
    let data = &settings.data.folder;
    make(data)?;
    for folder in [spool(data), jobs(data), bases(data)] {
        make(&folder)?;
    }
    Ok(())
}

fn make(folder: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// The right to be this folder's projector. Given back when dropped, or when the process ends in whatever way.
pub(crate) struct ProjectorLock {
    _file: Flock<File>,
    /// Names the projector in its lease: the same after each restart, so that it never waits for itself.
    pub(crate) holder: String,
}

impl ProjectorLock {
    /// Waits until no other process is this folder's projector.
    pub(crate) async fn acquire(data: &Path) -> anyhow::Result<Self> {
        let path = data.join("projector.lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("{} cannot be opened", path.display()))?;
        let mut told = false;
        let mut locked = loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(locked) => break locked,
                Err((back, nix::errno::Errno::EWOULDBLOCK)) => file = back,
                Err((_, error)) => return Err(error).with_context(|| format!("{} cannot be locked", path.display())),
            }
            if !told {
                tracing::info!("another projector works on this data folder; standing by");
                told = true;
            }
            tokio::time::sleep(LOCK_LOOK).await;
        };
        let holder = holder(&mut locked).with_context(|| format!("{} cannot be used", path.display()))?;
        Ok(Self { _file: locked, holder })
    }
}

/// The name in the file; written if there is none.
fn holder(file: &mut File) -> std::io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if let Ok(id) = Uuid::parse_str(text.trim()) {
        return Ok(id.to_string());
    }
    let id = Uuid::now_v7().to_string();
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    Ok(id)
}
