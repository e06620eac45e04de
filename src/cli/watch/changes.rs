//! What the system says about changes below a folder, where it says anything.

use crate::intake::is_taken;
use notify::event::{CreateKind, EventKind, ModifyKind, RemoveKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// Changes on their way; beyond, the folder is looked through instead.
const CHANGES_MAX: usize = 4096;

/// Changes below a folder.
pub(super) struct Changes {
    changed: mpsc::Receiver<PathBuf>,
    lost: Arc<AtomicBool>,
    /// Ends the watch when it is dropped.
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// Watches a folder and all below it.
    ///
    /// # Errors
    /// The system cannot: it has no such service for this file system, or no room for so many folders.
    pub(super) fn of(folder: &Path) -> notify::Result<Self> {
        let (sender, changed) = mpsc::channel(CHANGES_MAX);
        let lost = Arc::new(AtomicBool::new(false));
        let noted = lost.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if !pass_on(event, &sender) {
                noted.store(true, Ordering::Release);
                // Wakes the reader; if even that finds no room, the reader has enough to wake it.
                let _ = sender.try_send(PathBuf::new());
            }
        })?;
        watcher.watch(folder, RecursiveMode::Recursive)?;
        Ok(Self { changed, lost, _watcher: watcher })
    }

    /// The next file that changed; an empty path when only [`Changes::take_lost`] has news.
    pub(super) async fn next(&mut self) -> PathBuf {
        match self.changed.recv().await {
            Some(path) => path,
            // The watcher lives as long as this, and with it the sender.
            None => std::future::pending().await,
        }
    }

    /// Whether changes were missed since this was asked last, so that the folder is to be looked through.
    pub(super) fn take_lost(&self) -> bool {
        self.lost.swap(false, Ordering::AcqRel)
    }
}

/// Passes on which files changed; false if not all that may have changed is known.
fn pass_on(event: notify::Result<Event>, sender: &mpsc::Sender<PathBuf>) -> bool {
    let Ok(event) = event else { return false };
    match event.kind {
        EventKind::Access(_) | EventKind::Remove(RemoveKind::File) | EventKind::Modify(ModifyKind::Metadata(_)) => {
            !event.need_rescan()
        }
        // Files may have been made in a new folder before it was watched, or have come with one that was moved here.
        EventKind::Create(CreateKind::Folder) => false,
        EventKind::Modify(ModifyKind::Name(_)) if event.paths.iter().any(|path| path.is_dir()) => false,
        _ => {
            let files = event.paths.iter().filter(|path| is_taken(path));
            !event.need_rescan() && files.map(|path| sender.try_send(path.clone())).all(|sent| sent.is_ok())
        }
    }
}
