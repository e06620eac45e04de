//! Why the embedded server could not be had. Every text says what to do about it.

use std::path::{Path, PathBuf};

/// The embedded server could not be started, or stopped working.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// No server programs were found.
    #[error(
        "no Postgres {wanted} found; looked in: {searched}. Install it (Debian: apt-get install postgresql), name its folder in \
         STASH_POSTGRES_BIN, or set DATABASE_URL to use a server that runs already"
    )]
    NoServer {
        /// Which versions would do.
        wanted: String,
        /// The folders that were looked at, and what was wrong with each.
        searched: String,
    },
    /// Another process works on the folder.
    #[error("the data folder {} is in use by {holder}; stop it, or use another folder (--data)", folder.display())]
    InUse {
        /// The data folder.
        folder: PathBuf,
        /// What is known of the holder.
        holder: String,
    },
    /// The folder holds a cluster that was not made here.
    #[error("{} holds a Postgres cluster that Stash did not make, and is left alone; use another data folder", .0.display())]
    NotOurs(PathBuf),
    /// The unprivileged user that runs the server cannot get at the folder.
    #[error(
        "started as root, so Postgres runs as user {user}, who is not let through; either run: chmod o+x {folders}; or use \
         {instead}"
    )]
    NotReachable {
        /// The user.
        user: String,
        /// The folders on the way that refuse.
        folders: String,
        /// What to change.
        instead: &'static str,
    },
    /// Started as root, and there is no user to run the server as.
    #[error(
        "started as root, and Postgres refuses to run as root: neither user postgres nor nobody exists on this machine"
    )]
    NoUser,
    /// A program of the server failed.
    #[error("{program} failed: {output}")]
    Program {
        /// Its name.
        program: &'static str,
        /// The end of what it said.
        output: String,
    },
    /// The server came up and does not answer, or never came up.
    #[error("the embedded Postgres is not ready: {reason}; its log ends with: {log}")]
    NotReady {
        /// What was seen.
        reason: String,
        /// The last lines of its log.
        log: String,
    },
    /// An earlier server of this cluster would not end.
    #[error("an earlier Postgres of this data folder (process {pid}) does not end; stop it by hand")]
    Lingering {
        /// Its process id.
        pid: i32,
    },
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The path of the data folder cannot be written into Postgres's configuration.
    #[error("the path {} cannot be used as a data folder: it holds a line break or is not valid UTF-8", .0.display())]
    OddPath(PathBuf),
}

impl EmbeddedError {
    /// Wraps an I/O error with what was tried, for `map_err`.
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { action, path, source }
    }
}
