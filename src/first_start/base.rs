//! The small base model that comes with Stash: made from a seed on first use, since it is cheaper to make than to ship.

use crate::wiring::data_folder;
use anyhow::Context as _;
use nix::fcntl::{Flock, FlockArg};
use stash_model::tiny_base;
use std::fs::{self, File};
use std::path::Path;

/// Its name in requests.
pub(crate) const BASE_NAME: &str = "stash/tiny";

/// The seed of its weights: the same base everywhere.
const SEED: u64 = 1;

/// Makes the base in the data folder if it is not there. It appears whole or not at all.
pub(crate) async fn ensure_base(data: &Path) -> anyhow::Result<()> {
    let data = data.to_path_buf();
    let made = tokio::task::spawn_blocking(move || make(&data));
    made.await.context("making the small base broke down")?
}

fn make(data: &Path) -> anyhow::Result<()> {
    let place = data_folder::bases(data).join(BASE_NAME);
    let is_there = || place.join("config.json").is_file();
    if is_there() {
        return Ok(());
    }
    let parent = place.parent().context("a base's name has two parts")?;
    fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
    // Several parts and processes may come here first; all but one wait and find it made.
    let lock = File::create(data_folder::spool(data).join("tiny.lock")).context("the small base cannot be locked")?;
    let _alone = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| error)?;
    if is_there() {
        return Ok(());
    }
    let making = data_folder::spool(data).join("tiny.new");
    // Left over from a start that was killed.
    let _ = fs::remove_dir_all(&making);
    tiny_base::make(&making, SEED)?;
    fs::rename(&making, &place).with_context(|| format!("{} cannot be put in its place", place.display()))
}
