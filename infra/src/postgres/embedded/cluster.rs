//! The cluster's folder: made once, configured anew at each start.
//!
//! - A cluster is made in a folder of its own and renamed into place, marker file included, so `DATA/pg` is either whole or
//!   absent, however the making ended.
//! - A folder without our marker is somebody else's cluster and is refused.
//! - The configuration is written by us at each start; a `local.conf` beside it is read last and is the user's.

use super::binaries::Binaries;
use super::error::EmbeddedError;
use super::user::ServerUser;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Name of the superuser, and of the database, of the embedded cluster.
pub(super) const NAME: &str = "stash";

/// The port is only a part of the socket's name: nothing listens on TCP.
pub(super) const PORT: u16 = 5432;

/// Bytes of a Unix socket's path, without the closing NUL (Linux, `sockaddr_un`).
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// The file that says that a cluster is ours.
const MARKER: &str = "stash.cluster";

/// The settings of every embedded cluster. Memory is used as it is touched, so an idle one needs little of what is allowed.
const CONFIGURATION: &str = include_str!("postgresql.conf");

/// Who may connect: whoever reaches the socket, which lies in a folder that only the server's user (and root) can enter.
const HOST_ACCESS: &str = "local all all trust\n";

/// Where everything of a cluster lies.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The cluster.
    pub(super) cluster: PathBuf,
    /// The server's log.
    pub(super) log: PathBuf,
    /// Where it is made.
    making: PathBuf,
    /// The data folder.
    data: PathBuf,
}

impl Layout {
    pub(super) fn of(data: &Path) -> Self {
        Self {
            cluster: data.join("pg"),
            log: data.join("pg.log"),
            making: data.join("pg.making"),
            data: data.to_path_buf(),
        }
    }

    /// The version of the existing cluster, or `None` when there is none yet.
    ///
    /// # Errors
    /// [`EmbeddedError::NotOurs`] without our marker.
    pub(super) fn existing_major(&self) -> Result<Option<u32>, EmbeddedError> {
        let version = self.cluster.join("PG_VERSION");
        let not_ours = || EmbeddedError::NotOurs(self.cluster.clone());
        match std::fs::read_to_string(&version) {
            Ok(_) if !self.cluster.join(MARKER).exists() => Err(not_ours()),
            Ok(text) => text.trim().parse().map(Some).map_err(|_| not_ours()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Something that is no cluster at all must not be replaced by one; an empty folder may.
                let holds_something =
                    std::fs::read_dir(&self.cluster).is_ok_and(|mut entries| entries.next().is_some());
                if holds_something { Err(not_ours()) } else { Ok(None) }
            }
            Err(error) => Err(EmbeddedError::file("read", &version)(error)),
        }
    }

    /// Makes the cluster. Blocks.
    pub(super) fn make(&self, binaries: &Binaries, user: Option<&ServerUser>) -> Result<(), EmbeddedError> {
        if self.making.exists() {
            // A run that was killed while it made one.
            std::fs::remove_dir_all(&self.making).map_err(EmbeddedError::file("remove", &self.making))?;
        }
        private_folder(&self.making)?;
        if let Some(user) = user {
            user.own(&self.making)?;
            user.check_reach(binaries, &self.making)?;
        }
        let mut command = server_command(binaries, "initdb", user);
        command.args(["--no-locale", "--encoding=UTF8", "--data-checksums", "--no-instructions"]);
        command.args(["--auth-local=trust", "--auth-host=reject", "--username", NAME, "--pgdata"]).arg(&self.making);
        command.current_dir(&self.making).stdin(Stdio::null());
        let output = command.output().map_err(EmbeddedError::file("run", &binaries.program("initdb")))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " | ");
            return Err(EmbeddedError::Program { program: "initdb", output: text });
        }
        self.write_file(
            &self.making.join(MARKER),
            "A Postgres cluster of Stash; everything in it can be rebuilt by Stash only.\n",
            user,
        )?;
        if self.cluster.exists() {
            // Empty, as `existing_major` saw.
            std::fs::remove_dir(&self.cluster).map_err(EmbeddedError::file("remove", &self.cluster))?;
        }
        std::fs::rename(&self.making, &self.cluster).map_err(EmbeddedError::file("put into place", &self.cluster))?;
        let folder = std::fs::File::open(&self.data).map_err(EmbeddedError::file("open", &self.data))?;
        folder.sync_all().map_err(EmbeddedError::file("sync", &self.data))
    }

    /// Writes the configuration for this start.
    pub(super) fn configure(&self, major: u32, socket: &Path, user: Option<&ServerUser>) -> Result<(), EmbeddedError> {
        let mut text = configuration(major, socket).ok_or_else(|| EmbeddedError::OddPath(socket.to_path_buf()))?;
        if self.cluster.join("local.conf").exists() {
            text.push_str("include 'local.conf'\n");
        }
        self.write_file(&self.cluster.join("postgresql.conf"), &text, user)?;
        self.write_file(&self.cluster.join("pg_hba.conf"), HOST_ACCESS, user)
    }

    /// Makes the folder of the socket: in the data folder, or, where its path would be too long for a socket, in /tmp under a
    /// name derived from the data folder.
    pub(super) fn socket_folder(&self, user: Option<&ServerUser>) -> Result<PathBuf, EmbeddedError> {
        let inside = self.data.join("pg.socket");
        let name_bytes = format!("/.s.PGSQL.{PORT}").len();
        let fits = inside.as_os_str().len() + name_bytes <= SOCKET_PATH_BYTES_MAX;
        let folder = if fits {
            inside
        } else {
            let digest = stash_domain::ids::Digest::of(self.data.as_os_str().as_bytes()).to_string();
            Path::new("/tmp").join(format!("stash-{}-{}", nix::unistd::geteuid(), &digest[..16]))
        };
        let made = private_folder(&folder)?;
        if made && let Some(user) = user {
            user.own(&folder)?;
        }
        // In /tmp somebody else may have made it first, and would then own the door to our database.
        let meta = std::fs::symlink_metadata(&folder).map_err(EmbeddedError::file("read", &folder))?;
        let ours = match user {
            Some(user) => user.owns(&meta),
            None => meta.uid() == nix::unistd::geteuid().as_raw(),
        };
        if !meta.is_dir() || !ours || meta.mode() & 0o077 != 0 {
            let why = std::io::Error::other("it exists and is not a private folder of the server's user; remove it");
            return Err(EmbeddedError::file("use", &folder)(why));
        }
        Ok(folder)
    }

    /// Writes a file whole or not at all. The folder belongs to the server's user and we may be root, so no link that stands
    /// there is followed.
    fn write_file(&self, path: &Path, text: &str, user: Option<&ServerUser>) -> Result<(), EmbeddedError> {
        let new = path.with_extension("new");
        let write = || -> std::io::Result<()> {
            match std::fs::remove_file(&new) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(text.as_bytes())?;
            if let Some(user) = user {
                user.own_file(&file)?;
            }
            std::fs::rename(&new, path)
        };
        write().map_err(EmbeddedError::file("write", path))
    }
}

/// Makes a folder that only its owner can enter; says whether it was made now.
fn private_folder(path: &Path) -> Result<bool, EmbeddedError> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(EmbeddedError::file("make", path)(error)),
    }
}

/// A command that runs one of the server's programs as its user: with no environment but what it needs (variables such as
/// PGDATA would change its meaning), and in a process group of its own, so that Ctrl-C in the terminal reaches Stash alone,
/// which then stops the server in order.
pub(super) fn server_command(binaries: &Binaries, program: &str, user: Option<&ServerUser>) -> Command {
    let mut command = Command::new(binaries.program(program));
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("PATH", "/usr/bin:/bin").process_group(0);
    if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    if let Some(user) = user {
        user.apply(&mut command);
    }
    command
}

/// The text of postgresql.conf; `None` if the socket's path cannot be written down.
fn configuration(major: u32, socket: &Path) -> Option<String> {
    let socket = socket.to_str().filter(|path| !path.contains(['\n', '\r']))?;
    // The value is a list, so each element is quoted for the list, and the whole for the file.
    let quoted = format!("\"{}\"", socket.replace('"', "\"\"")).replace('\\', "\\\\").replace('\'', "''");
    // Version 18 starts I/O worker processes of its own, which an idle small machine has no use for.
    let io = if major >= 18 { "io_method = sync\n" } else { "" };
    Some(format!("{CONFIGURATION}{io}port = {PORT}\nunix_socket_directories = '{quoted}'\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_quoted_or_refused() {
        let text = configuration(15, Path::new("/data/it's, \"mine\"")).unwrap();
        assert!(text.contains("unix_socket_directories = '\"/data/it''s, \"\"mine\"\"\"'\n"), "{text}");
        assert_eq!(configuration(15, Path::new("/a\nport = 1")), None);
    }

    #[test]
    fn a_folder_that_is_not_our_cluster_is_left_alone() {
        let data = tempfile::tempdir().unwrap();
        let layout = Layout::of(data.path());
        assert_eq!(layout.existing_major().unwrap(), None);
        std::fs::create_dir(&layout.cluster).unwrap();
        assert_eq!(layout.existing_major().unwrap(), None);
        std::fs::write(layout.cluster.join("thesis.txt"), "precious").unwrap();
        assert!(matches!(layout.existing_major(), Err(EmbeddedError::NotOurs(_))));
        std::fs::write(layout.cluster.join("PG_VERSION"), "15\n").unwrap();
        assert!(matches!(layout.existing_major(), Err(EmbeddedError::NotOurs(_))));
    }

    #[test]
    fn a_long_data_path_gets_a_short_socket_folder_that_nobody_else_made() {
        let data = tempfile::tempdir().unwrap();
        let deep = data.path().join("x".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let layout = Layout::of(&deep);
        let folder = layout.socket_folder(None).unwrap();
        assert!(folder.starts_with("/tmp"));
        assert_eq!(layout.socket_folder(None).unwrap(), folder, "the same folder each time");
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert!(layout.socket_folder(None).is_err(), "a folder that others can enter is refused");
        std::fs::remove_dir(&folder).unwrap();
    }
}
