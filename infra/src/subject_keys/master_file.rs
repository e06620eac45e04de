//! The file that holds the master keys, by default in the data folder.
//!
//! ```text
//! # comments
//! <id> <64 hexadecimal digits>      the current key
//! <id> <64 hexadecimal digits>      older keys, until their rows are rewrapped
//! ```
//!
//! - Only its owner may read or write it: a file open to others is refused.
//! - It is replaced whole (temporary file, flush, rename, flush of the folder), so a crash leaves the old one or the new one.
//! - Changes are made under a lock, so that two commands never lose each other's key.

use super::key::KEY_BYTES;
use super::master::{MASTER_KEYS_MAX, MasterKey, MasterKeyId, MasterKeys};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Names another place for the file than the data folder.
pub const MASTER_KEY_FILE_ENV: &str = "STASH_MASTER_KEY_FILE";

/// The file's name in the data folder.
pub const MASTER_KEY_FILE_NAME: &str = "master.keys";

/// Bytes of the file: 16 keys of 102 bytes, the head, and room for comments.
const FILE_BYTES_MAX: u64 = 16 * 1024;

const HEAD: &str = "\
# Master keys of Stash. The first one wraps new keys of subjects; the others are older ones, still in use.
# Without this file all imported content is lost; with it and the database, all of it can be read.
# Back it up, apart from the database. `stash keys rotate-master` changes it.
";

/// Why the file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum MasterFileError {
    /// It cannot be read or written.
    #[error("master key file {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others may read it.
    #[error("master key file {} can be read by others; run: chmod 600 {}", path.display(), path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// It does not have the form of a master key file.
    #[error("master key file {}, line {line}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// The file.
#[derive(Clone, Debug)]
pub struct MasterKeyFile {
    path: PathBuf,
}

impl MasterKeyFile {
    /// The file at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file of a data folder.
    pub fn in_folder(data: &Path) -> Self {
        Self::at(data.join(MASTER_KEY_FILE_NAME))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`MasterFileError`].
    pub fn load(&self) -> Result<MasterKeys, MasterFileError> {
        let mut file = File::open(&self.path).map_err(|source| self.io(source))?;
        let metadata = file.metadata().map_err(|source| self.io(source))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(MasterFileError::Open { path: self.path.clone() });
        }
        let mut text = Zeroizing::new(String::new());
        (&mut file).take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(|source| self.io(source))?;
        self.parse(&text)
    }

    /// Reads it, or makes it with a new key. Of two processes that make it at once, both get the key of the first.
    ///
    /// # Errors
    /// [`MasterFileError`].
    pub fn load_or_create(&self) -> Result<MasterKeys, MasterFileError> {
        match self.load() {
            Err(MasterFileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
        if let Some(folder) = self.folder() {
            std::fs::create_dir_all(folder).map_err(|source| self.io(source))?;
        }
        let _lock = self.lock()?;
        if !self.path.try_exists().map_err(|source| self.io(source))? {
            let key = MasterKey::generate().map_err(|source| self.io(source))?;
            self.replace(&MasterKeys::new(key, Vec::new()))?;
        }
        self.load()
    }

    /// Adds a new key, which becomes the current one.
    ///
    /// # Errors
    /// [`MasterFileError`]; the file is unchanged then.
    pub fn add(&self) -> Result<MasterKeys, MasterFileError> {
        let _lock = self.lock()?;
        let before = self.load()?;
        if before.older().len() + 2 > MASTER_KEYS_MAX {
            return Err(MasterFileError::Malformed {
                path: self.path.clone(),
                line: MASTER_KEYS_MAX,
                reason: "there is no room for another key; finish the earlier rotations first",
            });
        }
        let key = MasterKey::generate().map_err(|source| self.io(source))?;
        let after = MasterKeys::new(key, before.iter().cloned().collect());
        self.replace(&after)?;
        Ok(after)
    }

    /// Removes these keys, but never the current one.
    ///
    /// # Errors
    /// [`MasterFileError`]; the file is unchanged then.
    pub fn remove(&self, ids: &[MasterKeyId]) -> Result<MasterKeys, MasterFileError> {
        let _lock = self.lock()?;
        let before = self.load()?;
        let kept = before.older().iter().filter(|key| !ids.contains(&key.id())).cloned().collect();
        let after = MasterKeys::new(before.current().clone(), kept);
        self.replace(&after)?;
        Ok(after)
    }

    fn folder(&self) -> Option<&Path> {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    /// A path beside the file, with this ending.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// Waits for other processes that change the file. Ends with the value, or with the process.
    fn lock(&self) -> Result<File, MasterFileError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.beside(".lock")).map_err(|source| self.io(source))?;
        file.lock().map_err(|source| self.io(source))?;
        Ok(file)
    }

    /// Replaces the file. The caller holds the lock, so the temporary file is nobody else's.
    fn replace(&self, keys: &MasterKeys) -> Result<(), MasterFileError> {
        let temporary = self.beside(".new");
        let write = || -> std::io::Result<()> {
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&temporary)?;
            file.write_all(format(keys).as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, &self.path)?;
            File::open(self.folder().unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|source| self.io(source))
    }

    fn parse(&self, text: &str) -> Result<MasterKeys, MasterFileError> {
        let malformed = |line: usize, reason| MasterFileError::Malformed { path: self.path.clone(), line, reason };
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (id, digits) =
                line.split_once(' ').ok_or_else(|| malformed(number, "expected an id, a space and a key"))?;
            let mut bytes = Zeroizing::new([0; KEY_BYTES]);
            hex::decode_to_slice(digits.trim(), bytes.as_mut_slice())
                .map_err(|_| malformed(number, "the key must have 64 hexadecimal digits"))?;
            let key = MasterKey::from_bytes(bytes);
            if id != key.id().to_string() {
                return Err(malformed(number, "the id does not belong to the key: one of them was changed"));
            }
            keys.push(key);
            if keys.len() > MASTER_KEYS_MAX {
                return Err(malformed(number, "there are more than 16 keys"));
            }
        }
        let mut keys = keys.into_iter();
        let current = keys.next().ok_or_else(|| malformed(1, "the file holds no key"))?;
        Ok(MasterKeys::new(current, keys.collect()))
    }

    fn io(&self, source: std::io::Error) -> MasterFileError {
        MasterFileError::Io { path: self.path.clone(), source }
    }
}

fn format(keys: &MasterKeys) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(HEAD.len() + MASTER_KEYS_MAX * 128));
    text.push_str(HEAD);
    for key in keys.iter() {
        let digits = Zeroizing::new(hex::encode(key.bytes()));
        text.push_str(&key.id().to_string());
        text.push(' ');
        text.push_str(&digits);
        text.push('\n');
    }
    text
}
