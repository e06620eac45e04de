//! Whom the server runs as.
//!
//! Postgres refuses to run as root. Started as root (in a container, say), the cluster belongs to, and the server runs as, the
//! user `postgres`, else `nobody`; a cluster or a data folder that belongs to another user keeps that user. Nothing outside the
//! data folder changes its owner or its mode, so every folder above it must let that user through: where one does not, we say
//! which.

use super::binaries::Binaries;
use super::error::EmbeddedError;
use nix::unistd::{Gid, Uid, User, chown};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// An unprivileged user that the server runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerUser {
    uid: Uid,
    gid: Gid,
    name: String,
}

impl ServerUser {
    /// The user to run as: `None` when this process is not root and simply stays itself.
    pub(super) fn choose(cluster: &Path, data: &Path) -> Result<Option<Self>, EmbeddedError> {
        if !nix::unistd::geteuid().is_root() {
            return Ok(None);
        }
        let owner_of = |path: &Path| std::fs::metadata(path).ok().map(|meta| meta.uid());
        let owner = owner_of(cluster).or_else(|| owner_of(data)).filter(|uid| *uid != 0);
        let user = match owner {
            Some(uid) => User::from_uid(Uid::from_raw(uid)).ok().flatten(),
            None => ["postgres", "nobody"].into_iter().find_map(|name| User::from_name(name).ok().flatten()),
        };
        let user = user.ok_or(EmbeddedError::NoUser)?;
        Ok(Some(Self { uid: user.uid, gid: user.gid, name: user.name }))
    }

    /// Makes a command run as this user, without the groups of root.
    pub(super) fn apply(&self, command: &mut Command) {
        command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
    }

    /// Gives an open file to this user.
    pub(super) fn own_file(&self, file: &std::fs::File) -> std::io::Result<()> {
        std::os::unix::fs::fchown(file, Some(self.uid.as_raw()), Some(self.gid.as_raw()))
    }

    /// Gives a folder to this user.
    pub(super) fn own(&self, path: &Path) -> Result<(), EmbeddedError> {
        chown(path, Some(self.uid), Some(self.gid)).map_err(|error| EmbeddedError::File {
            action: "change the owner of",
            path: path.to_path_buf(),
            source: error.into(),
        })
    }

    /// Whether a file belongs to this user.
    pub(super) fn owns(&self, meta: &std::fs::Metadata) -> bool {
        meta.uid() == self.uid.as_raw()
    }

    /// Lets this user's group search the data folder itself (not list it), if it cannot yet. The folder was given to us, and
    /// everything in it that is secret has a mode of its own.
    pub(super) fn let_into(&self, data: &Path) -> Result<(), EmbeddedError> {
        let meta = std::fs::metadata(data).map_err(EmbeddedError::file("read", data))?;
        if self.may_search(&meta) || meta.uid() != 0 {
            return Ok(());
        }
        chown(data, None, Some(self.gid)).map_err(|error| EmbeddedError::File {
            action: "change the group of",
            path: data.to_path_buf(),
            source: error.into(),
        })?;
        // The old group loses what it had: it is another group now.
        let mode = (meta.mode() & 0o707) | 0o010;
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(mode))
            .map_err(EmbeddedError::file("change the mode of", data))
    }

    /// Tries for real whether this user can run the server's programs and work in the cluster's folder.
    pub(super) fn check_reach(&self, binaries: &Binaries, folder: &Path) -> Result<(), EmbeddedError> {
        let mut command = Command::new(binaries.program("postgres"));
        command.arg("--version").current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.apply(&mut command);
        let source = match command.status() {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        let places = [
            (folder, "a data folder elsewhere (--data), such as one below /var/lib"),
            (
                binaries.folder.as_path(),
                "a Postgres elsewhere (STASH_POSTGRES_BIN), such as the one of the system's package",
            ),
        ];
        for (place, instead) in places {
            let refusing: Vec<String> = place
                .ancestors()
                .filter(|above| std::fs::metadata(above).is_ok_and(|meta| !self.may_search(&meta)))
                .map(|above| above.display().to_string())
                .collect();
            if !refusing.is_empty() {
                let folders = refusing.join(" ");
                return Err(EmbeddedError::NotReachable { user: self.name.clone(), folders, instead });
            }
        }
        Err(EmbeddedError::File { action: "run, as an unprivileged user,", path: binaries.program("postgres"), source })
    }

    /// Whether the mode of a folder lets this user search it.
    fn may_search(&self, meta: &std::fs::Metadata) -> bool {
        let bit = if meta.uid() == self.uid.as_raw() {
            0o100
        } else if meta.gid() == self.gid.as_raw() {
            0o010
        } else {
            0o001
        };
        meta.mode() & bit != 0
    }
}
