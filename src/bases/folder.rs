//! A base from a folder in Hugging Face layout.

use super::is_wanted;
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Bytes copied at a time.
const COPY_BYTES: usize = 1 << 20;

/// The files that a base needs from this folder, with their lengths.
pub(crate) fn wanted(from: &Path) -> anyhow::Result<Vec<(PathBuf, u64)>> {
    let entries = fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let wanted = path.file_name().and_then(|name| name.to_str()).is_some_and(is_wanted);
        // The hub's own cache holds links to files.
        if wanted && path.is_file() {
            let length = fs::metadata(&path).with_context(|| format!("{} cannot be read", path.display()))?.len();
            files.push((path, length));
        }
    }
    if files.is_empty() {
        bail!("{} holds no model in Hugging Face layout (config.json, tokenizer.json, *.safetensors)", from.display());
    }
    files.sort();
    Ok(files)
}

/// Copies these files; the bar counts their bytes.
pub(crate) fn copy(files: &[(PathBuf, u64)], to: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    for (path, _) in files {
        let target = to.join(path.file_name().unwrap_or_default());
        let mut source = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut file = File::create(&target).with_context(|| format!("{} cannot be written", target.display()))?;
        loop {
            let read = source.read(&mut buffer).with_context(|| format!("{} cannot be read", path.display()))?;
            if read == 0 {
                break;
            }
            file.write_all(&buffer[..read]).with_context(|| format!("{} cannot be written", target.display()))?;
            bar.inc(read as u64);
        }
        file.sync_all().with_context(|| format!("{} cannot be written", target.display()))?;
    }
    Ok(())
}
