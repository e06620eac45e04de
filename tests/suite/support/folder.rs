//! Data folders.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder that is removed in the end. As root, Postgres runs as another user, who must be let through to it.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("stash-suite").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        Self(folder)
    }

    /// The data folder in it; not made yet.
    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// A place for other files.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}
