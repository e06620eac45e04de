//! The checksum of a base model: what a checkpoint says it was trained from.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::ModelError;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// SHA-256 over the names and contents of the files that decide what a model computes: `config.json`,
/// `tokenizer.json` and every `*.safetensors`, in order of name. Hexadecimal.
///
/// # Errors
/// When the folder or one of the files cannot be read.
pub fn of_model(dir: &Path) -> Result<String, ModelError> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(ModelError::io("read", dir))? {
        let entry = entry.map_err(ModelError::io("read", dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "config.json" || name == "tokenizer.json" || name.ends_with(".safetensors") {
            names.push(name);
        }
    }
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        let path = dir.join(&name);
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(of_file(&path)?);
    }
    Ok(hex::encode(hash.finalize()))
}

/// SHA-256 of one file, streamed.
///
/// # Errors
/// When the file cannot be read.
pub fn of_file(path: &Path) -> Result<[u8; 32], ModelError> {
    let mut file = File::open(path).map_err(ModelError::io("read", path))?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let n = file.read(&mut chunk).map_err(ModelError::io("read", path))?;
        if n == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(&chunk[..n]);
    }
}
