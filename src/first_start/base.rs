//! The small base model that comes with Stash: made from a seed on first use, since it is cheaper to make than to ship.

use crate::wiring::data_folder;
use anyhow::Context as _;
use stash_model::tiny_base;
use std::path::Path;
use tokio::sync::Mutex;

/// Its name in requests.
pub(crate) const BASE_NAME: &str = "stash/tiny";

/// The seed of its weights: the same base everywhere.
const SEED: u64 = 1;

/// Makes the base in the data folder if it is not there. It appears whole or not at all.
pub(crate) async fn ensure_base(data: &Path) -> anyhow::Result<()> {
    // The worker and the sample may both come here first.
    static MAKING: Mutex<()> = Mutex::const_new(());
    let _alone = MAKING.lock().await;
    let (bases, making) = (data_folder::bases(data), data_folder::spool(data).join("tiny.new"));
    let made = tokio::task::spawn_blocking(move || make(&bases, &making));
    made.await.context("making the small base broke down")?
}

fn make(bases: &Path, making: &Path) -> anyhow::Result<()> {
    let place = bases.join(BASE_NAME);
    if place.is_dir() {
        return Ok(());
    }
    let parent = place.parent().context("a base's name has two parts")?;
    std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
    // Left over from a start that was killed.
    let _ = std::fs::remove_dir_all(making);
    tiny_base::make(making, SEED)?;
    std::fs::rename(making, &place).with_context(|| format!("{} cannot be put in its place", place.display()))
}
