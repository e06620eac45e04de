//! Finding the server's programs.
//!
//! Looked for in this order: `STASH_POSTGRES_BIN` (alone, when it is set), `PATH`, Debian's folders with the newest version
//! first, and what the dependency set-up fetched. A folder counts when `initdb` and `postgres` lie in it as programs (not as
//! scripts, which may change the user or the arguments) and the version is at least [`MAJOR_MIN`]. An existing cluster can
//! only be opened by the version that made it, so then only that version counts.

use super::error::EmbeddedError;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest version that does: 15 has `security_invoker` views, which row-level security of the read models rests on.
pub const MAJOR_MIN: u32 = 15;

/// A folder of server programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// The folder with `initdb` and `postgres`.
    pub folder: PathBuf,
    /// The server's major version.
    pub major: u32,
}

impl Binaries {
    /// The path of one program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The folder the user named: nothing else is looked at.
    pub explicit: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// Debian's parent of the version folders.
    pub system: Option<PathBuf>,
    /// Folders that may hold `postgres/bin` as the dependency set-up leaves it.
    pub deps: Vec<PathBuf>,
}

impl Search {
    /// Where this process would look.
    pub fn from_environment() -> Self {
        let beside_executable = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let here = std::env::current_dir().ok();
        let deps = match std::env::var_os("STASH_DEPS_DIR").filter(|value| !value.is_empty()) {
            Some(folder) => vec![PathBuf::from(folder)],
            // An executable in target/release of a clone has .deps two folders up; an installed one has it beside.
            None => [beside_executable.as_deref(), here.as_deref()]
                .into_iter()
                .flatten()
                .flat_map(|folder| folder.ancestors().take(3))
                .map(|folder| folder.join(".deps"))
                .collect(),
        };
        Self {
            explicit: std::env::var_os("STASH_POSTGRES_BIN").filter(|value| !value.is_empty()).map(PathBuf::from),
            path: std::env::var_os("PATH"),
            system: Some(PathBuf::from("/usr/lib/postgresql")),
            deps,
        }
    }

    /// The folders to look at, in order of preference, each once.
    fn candidates(&self) -> Vec<PathBuf> {
        if let Some(folder) = &self.explicit {
            return vec![folder.clone()];
        }
        let mut found: Vec<PathBuf> = Vec::new();
        // A link in /usr/local/bin points at the folder where the other programs are, so the link is followed first.
        for folder in self.path.iter().flat_map(std::env::split_paths) {
            let program = folder.join("postgres");
            let resolved = program.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf));
            found.extend(resolved);
            if program.exists() {
                found.push(folder);
            }
        }
        if let Some(system) = &self.system {
            let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(system)
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
                .collect();
            versions.sort();
            found.extend(versions.into_iter().rev().map(|(_, folder)| folder));
        }
        found.extend(self.deps.iter().map(|folder| folder.join("postgres").join("bin")));
        let mut seen = std::collections::HashSet::new();
        found.retain(|folder| seen.insert(folder.clone()));
        found
    }

    /// The first folder that does; `needed` is the version of an existing cluster.
    ///
    /// # Errors
    /// [`EmbeddedError::NoServer`], with what was wrong with each folder.
    pub fn find(&self, needed: Option<u32>) -> Result<Binaries, EmbeddedError> {
        let mut refused = Vec::new();
        for folder in self.candidates() {
            match usable(&folder) {
                Ok(major) if needed.is_none_or(|needed| needed == major) => return Ok(Binaries { folder, major }),
                Ok(major) => refused.push(format!("{} (version {major})", folder.display())),
                Err(reason) => refused.push(format!("{} ({reason})", folder.display())),
            }
        }
        let wanted = match needed {
            Some(major) => format!("{major} (the data folder was made by that version)"),
            None => format!("{MAJOR_MIN} or later"),
        };
        let searched = if refused.is_empty() { "PATH, /usr/lib/postgresql".to_owned() } else { refused.join(", ") };
        Err(EmbeddedError::NoServer { wanted, searched })
    }
}

/// The major version of the programs in a folder, or why they do not do.
fn usable(folder: &Path) -> Result<u32, String> {
    for name in ["initdb", "postgres"] {
        let mut head = [0_u8; 2];
        let mut file = std::fs::File::open(folder.join(name)).map_err(|_| format!("no {name} in it"))?;
        file.read_exact(&mut head).map_err(|_| format!("{name} is empty"))?;
        if &head == b"#!" {
            return Err(format!("{name} is a script"));
        }
    }
    let output = Command::new(folder.join("postgres"))
        .arg("--version")
        .output()
        .map_err(|error| format!("postgres does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match major_of(&text) {
        Some(major) if major >= MAJOR_MIN => Ok(major),
        Some(major) => Err(format!("version {major} is too old")),
        None => Err(format!("postgres does not tell its version: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// The major version in `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)` or `… 18beta1`.
fn major_of(text: &str) -> Option<u32> {
    let version = text.split_once("(PostgreSQL) ")?.1;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn versions_are_read_as_postgres_prints_them() {
        assert_eq!(major_of("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(major_of("postgres (PostgreSQL) 18.4\n"), Some(18));
        assert_eq!(major_of("postgres (PostgreSQL) 19beta1\n"), Some(19));
        assert_eq!(major_of("mysqld 8"), None);
    }

    #[test]
    fn a_folder_that_the_user_named_is_the_only_one_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let search = Search { explicit: Some(folder.path().to_path_buf()), ..Search::from_environment() };
        let error = search.find(None).unwrap_err().to_string();
        assert!(error.contains("no initdb in it") && error.contains("STASH_POSTGRES_BIN"), "{error}");
    }

    #[test]
    fn scripts_named_postgres_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["initdb", "postgres"] {
            let path = folder.path().join(name);
            std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let search = Search { path: Some(folder.path().into()), ..Search::default() };
        assert!(search.find(None).unwrap_err().to_string().contains("initdb is a script"));
    }

    #[test]
    fn a_link_on_the_path_leads_to_the_folder_it_points_into() {
        let real = Search::from_environment().find(None).unwrap();
        let links = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(real.program("postgres"), links.path().join("postgres")).unwrap();
        let found = Search { path: Some(links.path().into()), ..Search::default() }.find(None).unwrap();
        assert_eq!(found.folder, real.folder.canonicalize().unwrap());
    }

    #[test]
    fn an_existing_cluster_needs_its_own_version() {
        let error = Search::from_environment().find(Some(9)).unwrap_err().to_string();
        assert!(error.contains("9 (the data folder was made by that version)"), "{error}");
    }
}
