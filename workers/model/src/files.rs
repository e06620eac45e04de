//! Whole small files: bounded reading, and writing that a reader sees complete or not at all.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::ModelError;

/// Largest JSON file read from a model folder. The biggest tokenizer in use (Qwen3's) has 11 MB.
pub const JSON_BYTES_MAX: u64 = 64 << 20;

/// Reads a file of at most [`JSON_BYTES_MAX`] bytes.
///
/// # Errors
/// When the file cannot be read or is larger.
pub fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    let file = File::open(path).map_err(ModelError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(JSON_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(ModelError::io("read", path))?;
    if bytes.len() as u64 > JSON_BYTES_MAX {
        return Err(ModelError::Io {
            action: "read",
            path: path.to_path_buf(),
            source: std::io::Error::other(format!("larger than {JSON_BYTES_MAX} bytes")),
        });
    }
    Ok(bytes)
}

/// Reads and parses a JSON file.
///
/// # Errors
/// As [`read`], and when the content is not the JSON expected.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = read(path)?;
    serde_json::from_slice(&bytes).map_err(|source| ModelError::Json { path: path.to_path_buf(), source })
}

/// Reads and parses a JSON file that may be absent.
///
/// # Errors
/// As [`read_json`], absence apart.
pub fn read_json_if_present<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    if path.exists() { read_json(path).map(Some) } else { Ok(None) }
}

/// Writes a file beside its place, syncs it and renames it, so that no reader ever sees half of it.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    let part = part_path(path);
    let mut file = File::create(&part).map_err(ModelError::io("write", &part))?;
    file.write_all(bytes).map_err(ModelError::io("write", &part))?;
    file.sync_all().map_err(ModelError::io("write", &part))?;
    fs::rename(&part, path).map_err(ModelError::io("rename", &part))
}

/// Serialises `value` with two-space indents and writes it as [`write`] does.
///
/// # Errors
/// As [`write`].
pub fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<(), ModelError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|source| ModelError::Json { path: path.to_path_buf(), source })?;
    bytes.push(b'\n');
    write(path, &bytes)
}

/// Where a file is written before it is renamed to `path`.
pub(crate) fn part_path(path: &Path) -> std::path::PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    path.with_file_name(name)
}
